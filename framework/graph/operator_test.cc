// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "framework/graph/generated/visitor.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::graph {
namespace {

using ::testing::ElementsAre;

Node NodeOf(std::string op_type, std::vector<ValueId> inputs,
            std::vector<ValueId> outputs,
            std::vector<Attribute> attributes = {}) {
  Node node;
  node.op_type = std::move(op_type);
  node.name = "n";
  node.opset = NewestOpset("");
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

Attribute Given(std::string name, Attribute::Held held) {
  return {std::move(name), std::move(held), ""};
}

TEST(Operators, AreFoundByDomainAndName) {
  const auto all = Operators();
  ASSERT_EQ(all.size(), static_cast<size_t>(kOperatorCount));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(FindOperator(all[i].domain, all[i].name),
              static_cast<OperatorId>(i))
        << all[i].name;
    EXPECT_TRUE(std::ranges::is_sorted(all[i].versions)) << all[i].name;
    EXPECT_LE(all[i].versions.back(), NewestOpset(all[i].domain));
  }
  EXPECT_EQ(FindOperator("", "conv"), std::nullopt);
  EXPECT_EQ(FindOperator("", "Scaler"), std::nullopt);
  EXPECT_EQ(FindOperator("custom", "Conv"), std::nullopt);
  const auto deprecated = std::ranges::count_if(all, &OperatorInfo::deprecated);
  EXPECT_EQ(kOperatorCount, 227);
  EXPECT_EQ(deprecated, 4);
}

TEST(Operators, EveryIdHasItsStruct) {
  for (int i = 0; i < kOperatorCount; ++i) {
    const auto id = static_cast<OperatorId>(i);
    const OperatorInfo& info = Operators()[static_cast<size_t>(i)];
    WithOperator(id, [&]<class Op>() {
      EXPECT_EQ(Op::kId, id);
      EXPECT_EQ(Op::kName, info.name);
      EXPECT_EQ(Op::kDomain, info.domain);
    });
  }
}

TEST(Operators, TheVersionInForceIsTheLastNotAbove) {
  const OperatorInfo& softmax =
      Operators()[static_cast<size_t>(OperatorId::kSoftmax)];
  const struct {
    int opset;
    int version;
  } rows[] = {{0, 0}, {1, 1}, {10, 1}, {11, 11}, {12, 11}, {99, 13}};
  for (const auto& row : rows) {
    EXPECT_EQ(VersionInForce(softmax, row.opset), row.version) << row.opset;
  }
}

TEST(TypedForm, FillsDefaultsAndPresence) {
  const Node node = NodeOf("Conv", {4, 7}, {9},
                           {Given("strides", std::vector<int64_t>{2, 3}),
                            Given("group", int64_t{4})});
  op::Conv conv;
  ASSERT_TRUE(conv.Read(node).ok());
  EXPECT_TRUE(conv.x.present && conv.w.present && conv.y.present);
  EXPECT_FALSE(conv.b.present);
  EXPECT_EQ(conv.b.position, 2);
  EXPECT_EQ(conv.auto_pad, "NOTSET");
  EXPECT_EQ(conv.group, 4);
  EXPECT_THAT(conv.strides, ElementsAre(2, 3));
  EXPECT_TRUE(conv.pads.empty());
  EXPECT_EQ(conv.node, &node);
}

TEST(TypedForm, KnowsOmittedInputsAndOptionalAttributes) {
  op::Clip clip;
  const Node node = NodeOf("Clip", {0, kNoValue, 1}, {2});
  ASSERT_TRUE(clip.Read(node).ok());
  EXPECT_TRUE(clip.input.present && clip.max.present);
  EXPECT_FALSE(clip.min.present);
  op::Gemm gemm;
  const Node product =
      NodeOf("Gemm", {0, 1}, {2}, {Given("transB", int64_t{1})});
  ASSERT_TRUE(gemm.Read(product).ok());
  EXPECT_EQ(gemm.alpha, 1.0F);
  EXPECT_EQ(gemm.trans_a, 0);
  EXPECT_EQ(gemm.trans_b, 1);
  op::Split split;
  const Node parts =
      NodeOf("Split", {0}, {1, 2}, {Given("num_outputs", int64_t{2})});
  ASSERT_TRUE(split.Read(parts).ok());
  EXPECT_EQ(split.num_outputs, 2);
  EXPECT_EQ(split.outputs.count, 2);
  op::Dropout dropout;
  const Node drop = NodeOf("Dropout", {0}, {1});
  ASSERT_TRUE(dropout.Read(drop).ok());
  EXPECT_EQ(dropout.seed, std::nullopt);
}

TEST(TypedForm, CountsVariadicParameters) {
  op::Loop loop;
  const Node node = NodeOf("Loop", {kNoValue, 3, 4, 5}, {6, 7, 8},
                           {Given("body", std::make_shared<const Graph>())});
  ASSERT_TRUE(loop.Read(node).ok());
  EXPECT_FALSE(loop.m.present);
  EXPECT_TRUE(loop.cond.present);
  EXPECT_EQ(loop.v_initial.first, 2);
  EXPECT_EQ(loop.v_initial.count, 2);
  EXPECT_EQ(loop.v_initial[1].position, 3);
  EXPECT_EQ(loop.v_final_and_scan_outputs.count, 3);
  ASSERT_NE(loop.body, nullptr);
}

/// Reads a node as whatever operator it names.
Status ReadAny(const Node& node) {
  return WithOperator(*FindOperator(node.domain, node.op_type),
                      [&]<class Op>() { return Op().Read(node); });
}

TEST(TypedForm, RefusesWhatDoesNotFit) {
  struct Row {
    Node node;
    std::string message;
  };
  Attribute reference = Given("axis", std::monostate());
  reference.ref = "outer_axis";
  const Row rows[] = {
      {NodeOf("Relu", {}, {1}), "Relu 'n' has 0 inputs, wanted 1"},
      {NodeOf("Relu", {0, 1}, {2}), "Relu 'n' has 2 inputs, wanted 1"},
      {NodeOf("Clip", {0, 1, 2, 3}, {4}), "has 4 inputs, wanted 1 to 3"},
      {NodeOf("Concat", {}, {1}, {Given("axis", int64_t{0})}),
       "has 0 inputs, wanted at least 1"},
      {NodeOf("Relu", {0}, {}), "has 0 outputs, wanted 1"},
      {NodeOf("Add", {0, kNoValue}, {2}), "omits input 1, which Add requires"},
      {NodeOf("Relu", {0}, {kNoValue}), "omits output 0"},
      {NodeOf("Concat", {0}, {1}), "lacks the attribute axis"},
      {NodeOf("Concat", {0}, {1}, {Given("axis", 1.0F)}),
       "attribute axis is a float, wanted an integer"},
      {NodeOf("Gemm", {0, 1}, {2}, {Given("alpha", int64_t{1})}),
       "attribute alpha is an integer, wanted a float"},
      {NodeOf("Relu", {0}, {1}, {Given("alpha", 1.0F)}),
       "has attribute alpha (a float), wanted none"},
      {NodeOf("Elu", {0}, {1}, {Given("beta", 1.0F)}), "wanted one of alpha"},
      {NodeOf("Elu", {0}, {1}, {Given("alpha", 1.0F), Given("alpha", 2.0F)}),
       "gives an attribute twice"},
      {NodeOf("Concat", {0}, {1}, {reference}),
       "stands for the function's attribute outer_axis"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(ReadAny(row.node), Says(row.message)) << row.message;
  }
}

TEST(TypedForm, RefusesAnOldVersionAsUnsupported) {
  Node node =
      NodeOf("Squeeze", {0}, {1}, {Given("axes", std::vector<int64_t>{0})});
  node.opset = 11;
  const Status status = ReadAny(node);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kOpset);
  EXPECT_THAT(status, Says("version 11 of opset 11"));
}

/// Knows Relu; remembers what it declined.
class ReluOnly : public Visitor<Result<std::string>, int> {
 public:
  Result<std::string> Visit(const op::Relu& op, int& calls) override {
    ++calls;
    return StrCat("relu of input ", op.x.position);
  }

 protected:
  Result<std::string> Decline(OperatorId id, int&) override {
    return Unsupported(Reason::kOperator,
                       Operators()[static_cast<size_t>(id)].name);
  }
};

TEST(Visitor, GetsTheOperatorOfItsNode) {
  ReluOnly visitor;
  int calls = 0;
  EXPECT_EQ(*Accept(NodeOf("Relu", {0}, {1}), visitor, calls),
            "relu of input 0");
  EXPECT_EQ(calls, 1);
  struct Row {
    Node node;
    StatusCode code;
    std::string message;
  };
  Node custom = NodeOf("Relu", {0}, {1});
  custom.domain = "acme";
  const Row rows[] = {
      {NodeOf("Tanh", {0}, {1}), StatusCode::kUnsupported, "Tanh"},
      {NodeOf("Relu", {}, {1}), StatusCode::kInvalidArgument, "0 inputs"},
      {NodeOf("Foo", {}, {}), StatusCode::kUnsupported, "domain ai.onnx"},
      {custom, StatusCode::kUnsupported, "domain acme"},
  };
  for (const Row& row : rows) {
    const Status status = Accept(row.node, visitor, calls).status();
    EXPECT_THAT(status, IsStatus(row.code, row.message)) << status.ToString();
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace assay::graph
