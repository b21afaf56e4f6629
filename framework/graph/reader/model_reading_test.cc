// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/reader/proto_text.h"
#include "framework/testing/support/names_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reader {
namespace {

namespace fs = std::filesystem;
using onnx::ModelProto;
using ::testing::ElementsAre;

TEST(ModelReading, ResolvesNamesToValues) {
  const auto model = ModelOf(R"(
      g (float[2,N] x) => (float[2,N] y)
      <float[1] low = {-1}> { c = Clip(x, , low)  y = Relu(c) })");
  const Graph& graph = model->graph();
  EXPECT_EQ(graph.name, "g");
  EXPECT_THAT(NamesOf(graph, graph.inputs), ElementsAre("x"));
  EXPECT_THAT(NamesOf(graph, graph.outputs), ElementsAre("y"));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_THAT(NamesOf(graph, graph.nodes[0].inputs),
              ElementsAre("x", "", "low"));
  EXPECT_EQ(graph.nodes[1].inputs, graph.nodes[0].outputs);
  EXPECT_EQ(graph.nodes[0].opset, 28);
  EXPECT_THAT(FixedOf(graph, "low").elements<float>(), ElementsAre(-1.0F));
  EXPECT_EQ(graph.FindInitializer(graph.FindValue("x")), nullptr);
  EXPECT_EQ(graph.values[0].type.ToString(), "float32[1]");
  const ValueId y = graph.outputs[0];
  EXPECT_EQ(graph[y].type.ToString(), "float32[2,N]");
  EXPECT_EQ(model->opsets().at(""), 28);
  EXPECT_EQ(model->ir_version(), 10);
}

TEST(ModelReading, SeparatesInputsThatHaveADefault) {
  ModelProto proto = ProtoOf(R"(
      g (float[1] w, float[1] x) => (float[1] y) { y = Add(x, w) })");
  auto* initializer = proto.mutable_graph()->add_initializer();
  initializer->set_name("w");
  initializer->set_data_type(1);
  initializer->add_dims(1);
  initializer->add_float_data(3);
  const auto model = *ParseProto(proto);
  const Graph& graph = model->graph();
  EXPECT_THAT(NamesOf(graph, graph.inputs), ElementsAre("x"));
  EXPECT_THAT(NamesOf(graph, graph.overridable), ElementsAre("w"));
}

TEST(ModelReading, CapturesThroughSeveralLevels) {
  const auto model = ModelOf(R"(
      g (bool c, float[1] x) => (float[1] y) {
        a = Neg(x)
        y = If(c) <
          then_branch = outer () => (float[1] r) {
            r = If(c) <
              then_branch = inner () => (float[1] s) { s = Add(a, x) },
              else_branch = other () => (float[1] t) { t = Identity(a) } >
          },
          else_branch = last () => (float[1] u) { u = Identity(x) } >
      })");
  const Graph& graph = model->graph();
  const Graph& outer = BodyOf(graph.nodes[1], "then_branch");
  const Graph& inner = BodyOf(outer.nodes[0], "then_branch");
  ASSERT_EQ(inner.captures.size(), 2u);
  for (const Capture& capture : inner.captures) {
    const std::string name = inner[capture.inner].name;
    EXPECT_EQ(outer[capture.outer].name, name);
  }
  ASSERT_EQ(outer.captures.size(), 3u) << "c, a and x";
  for (const Capture& capture : outer.captures) {
    EXPECT_EQ(outer[capture.inner].name, graph[capture.outer].name);
  }
  EXPECT_TRUE(graph.captures.empty());
}

TEST(ModelReading, ASubgraphSeesTheNearestValueOfAName) {
  const auto model = ModelOf(R"(
      g (bool c, float[1] x) => (float[1] y) {
        y = If(c) <
          then_branch = t () => (float[1] r) { z = Neg(x) r = Relu(z) },
          else_branch = e () => (float[1] r) { z = Abs(x) r = Relu(z) } >
      })");
  const Graph& branch = BodyOf(model->graph().nodes[0], "else_branch");
  EXPECT_THAT(NamesOf(branch, branch.nodes[1].inputs), ElementsAre("z"));
  EXPECT_EQ(branch.nodes[1].inputs, branch.nodes[0].outputs);
  EXPECT_EQ(branch.captures.size(), 1u);
}

TEST(ModelReading, ReadsFunctions) {
  const auto model = ModelOf(R"(
      g (float[1] x) => (float[1] y) { y = test.f <slope = 2.0> (x) }
      <domain: "test", opset_import: ["" : 20]>
      f <slope> (a) => (b) { b = LeakyRelu <alpha: float = @slope> (a) })");
  ASSERT_EQ(model->functions().size(), 1u);
  const Function& function = model->functions()[0];
  EXPECT_EQ(function.name, "f");
  EXPECT_EQ(function.domain, "test");
  EXPECT_THAT(function.attributes, ElementsAre("slope"));
  const Node& node = function.body->nodes[0];
  EXPECT_EQ(node.opset, 20);
  EXPECT_EQ(node.Find("alpha")->ref, "slope");
}

TEST(ModelReading, TakesEveryKindOfAttribute) {
  const auto model = ModelOf(R"(
      g (float[1] x) => (float[1] y) {
        y = test.Any <f = 1.5, i = 2, s = "t", fs = [1.0, 2.0], is = [3, 4],
                      ss = ["a", "b"], t = float[1] {5},
                      b = body () => (float[1] z) { z = Neg(x) }> (x)
      })");
  const struct {
    std::string name;
    std::string kind;
  } rows[] = {{"f", "a float"},  {"i", "an integer"},
              {"s", "a string"}, {"fs", "a list of floats"},
              {"b", "a graph"},  {"is", "a list of integers"},
              {"t", "a tensor"}, {"ss", "a list of strings"}};
  const Node& node = model->graph().nodes[0];
  EXPECT_EQ(node.attributes.size(), std::size(rows));
  for (const auto& row : rows) {
    EXPECT_EQ(KindName(node.Find(row.name)->held), row.kind) << row.name;
  }
}

TEST(ModelReading, RefusesWrongGraphs) {
  const struct {
    std::string text;
    std::string message;
  } rows[] = {
      {"g (float[1] x) => (float[1] y) { y = Relu(z) }",
       "graph 'g': node 0 (Relu): value 'z' is not defined"},
      {"g (float[1] x) => (float[1] y) { y = Relu(z) z = Relu(x) }",
       "'z' is read before node 1 (Relu) computes it"},
      {"g (float[1] x) => (float[1] y) { a = Add(x, b) b = Neg(a) "
       "y = Neg(b) }",
       "form a cycle"},
      {"g (float[1] x) => (float[1] y) { y = Relu(y) }", "form a cycle"},
      {"g (float[1] x) => (float[1] y) { y = Relu(x) y = Neg(x) }",
       "node 1 (Neg): value 'y' is defined twice"},
      {"g (float[1] x) => (float[1] y) { x = Relu(x) y = Neg(x) }",
       "'x' is defined twice"},
      {"g (float[1] x, float[1] x) => (float[1] y) { y = Relu(x) }",
       "input 'x' is given twice"},
      {"g (float[1] x) => (float[1] y) { z = Relu(x) }",
       "output 'y' is not computed by any node"},
      {"g (float[1] x) => (float[1] y) { y = acme.Relu(x) }",
       "domain 'acme' is not imported"},
      {"g (float[1] x) => (float[1] y) { y = Elu <alpha = 1.0, alpha = 2.0> "
       "(x) }",
       "attribute 'alpha' is given twice"},
      {"g (float[1] x) => (float[1] y) { y = test.f(x) }"
       "<domain: \"test\", opset_import: [\"\" : 20, \"test\" : 1]>"
       "f (a) => (b) { b = test.h(a) }"
       "<domain: \"test\", opset_import: [\"\" : 20, \"test\" : 1]>"
       "h (a) => (b) { b = test.f(a) }",
       "calls itself"},
      {"g (bool c) => (float[1] y) { y = If(c) <"
       "then_branch = t () => (float[1] r) { r = Neg(q) },"
       "else_branch = e () => (float[1] r) { r = Neg(c) }> }",
       "attribute 'then_branch': graph 't': node 0 (Neg): value 'q' is not"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseProto(ProtoOf(row.text)), Says(row.message)) << row.text;
  }
}

auto* FirstNode(ModelProto& model) {
  return model.mutable_graph()->mutable_node(0);
}
auto* FirstInput(ModelProto& model) {
  return model.mutable_graph()->mutable_input(0);
}

TEST(ModelReading, RefusesWrongMessages) {
  struct Row {
    std::string message;
    StatusCode code;
    std::function<void(ModelProto&)> change;
  };
  constexpr auto kInvalid = StatusCode::kInvalidArgument;
  const std::vector<Row> rows = {
      {"it has no graph", kInvalid, [](auto& m) { m.clear_graph(); }},
      {"no IR version", kInvalid, [](auto& m) { m.clear_ir_version(); }},
      {"IR version 999 and fields that version", StatusCode::kUnsupported,
       [](auto& m) {
         m.set_ir_version(999);
         // Field 127, which no message has, as a varint.
         FirstNode(m)->mutable_unknown_fields()->append("\xF8\x07\x01");
       }},
      {"imports version 0", kInvalid,
       [](auto& m) { m.mutable_opset_import(0)->set_version(0); }},
      {"imports version 4294967297", kInvalid,
       [](auto& m) { m.mutable_opset_import(0)->set_version(4294967297); }},
      {"as version 28 and as 7", kInvalid,
       [](auto& m) {
         auto* twice = m.add_opset_import();
         twice->set_domain("ai.onnx");
         twice->set_version(7);
       }},
      {"has no operator type", kInvalid,
       [](auto& m) { FirstNode(m)->clear_op_type(); }},
      {"a value has no name", kInvalid,
       [](auto& m) { FirstInput(m)->clear_name(); }},
      {"has no type", kInvalid,
       [](auto& m) { FirstNode(m)->add_attribute()->set_name("a"); }},
      {"has no value of its type", kInvalid,
       [](auto& m) {
         auto* a = FirstNode(m)->add_attribute();
         a->set_name("a");
         a->set_type(onnx::AttributeProto::INT);
       }},
      {"element type 77", kInvalid,
       [](auto& m) {
         FirstInput(m)->mutable_type()->mutable_tensor_type()->set_elem_type(
             77);
       }},
      {"the opaque type 'o'", StatusCode::kUnsupported,
       [](auto& m) {
         FirstInput(m)->mutable_type()->mutable_opaque_type()->set_name("o");
       }},
  };
  const std::string text = "g (float[1] x) => (float[1] y) { y = Relu(x) }";
  for (const Row& row : rows) {
    ModelProto proto = ProtoOf(text);
    row.change(proto);
    EXPECT_THAT(ParseProto(proto), IsStatus(row.code, row.message))
        << row.message;
  }
}

TEST(ModelReading, ReadsNewerVersionsThatAddNothing) {
  ModelProto proto = ProtoOf("g (float[1] x) => (float[1] y) { y = Relu(x) }");
  proto.set_ir_version(999);
  const auto model = Got(ParseProto(proto));
  EXPECT_EQ(model->ir_version(), 999);
}

/// A fresh folder, removed at the end of the test.
class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "inside");
    Write("inside/weights", std::string("\0\0\0\0\0\0\x80\x3F", 8));
    Write("outside", "12345678");
  }
  ~FilesTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

/// y = x + w with w in external data.
ModelProto External(const std::map<std::string, std::string>& entries,
                    DType type = DType::kFloat32) {
  ModelProto proto =
      ProtoOf("g (float[1] x) => (float[1] y) { y = Add(x, w) }");
  auto* w = proto.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(static_cast<int>(type));
  w->add_dims(1);
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = w->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return proto;
}

using ExternalData = FilesTest;

TEST_F(ExternalData, IsReadBesideTheModel) {
  const auto proto =
      External({{"location", "weights"}, {"offset", "4"}, {"length", "4"}});
  const auto model = *ParseProto(proto, folder_ / "inside");
  EXPECT_THAT(FixedOf(model->graph(), "w").elements<float>(),
              ElementsAre(1.0F));
}

TEST_F(ExternalData, WhatIsLargerThanAskedForHasNoData) {
  Write(
      "inside/m.onnx",
      External({{"location", "weights"}, {"offset", "4"}}).SerializeAsString());
  for (const bool read : {false, true}) {
    const auto model =
        Got(Model::Read(folder_ / "inside/m.onnx", read ? 4 : 3));
    const Tensor* const w = model->graph().initializers[0].value.tensor();
    EXPECT_EQ(w->Signature(), "float32[1]");
    EXPECT_EQ(w->data() != nullptr, read);
  }
  fs::resize_file(folder_ / "inside/weights", 7);
  EXPECT_EQ(Model::Read(folder_ / "inside/m.onnx", 3).status().code(),
            StatusCode::kDataLoss);
}

TEST_F(ExternalData, StaysInsideTheDirectoryAndTheFile) {
  fs::create_symlink(folder_ / "outside", folder_ / "inside/link");
  struct Row {
    std::map<std::string, std::string> entries;
    std::string message;
  };
  const std::string absolute = (folder_ / "outside").string();
  const Row rows[] = {
      {{{"location", "../outside"}}, "lies outside the model's directory"},
      {{{"location", absolute}}, "lies outside"},
      {{{"location", "link"}}, "lies outside"},
      {{{"location", std::string("weights\0.txt", 12)}}, "a zero byte"},
      {{{"location", "missing"}}, "'missing': does not exist"},
      {{{"location", "."}}, "is not a regular file"},
      {{{"location", "weights"}, {"offset", "5"}},
       "has 8 bytes, float32[1] needs 4 at offset 5"},
      {{{"location", "weights"}, {"offset", "18446744073709551615"}},
       "needs 4 at offset"},
      {{{"location", "weights"}, {"offset", "-4"}}, "offset '-4'"},
      {{{"location", "weights"}, {"offset", "4x"}}, "offset '4x'"},
      {{{"location", "weights"}, {"length", "8"}}, "has length 8"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(ParseProto(External(row.entries), folder_ / "inside"),
                Says(row.message))
        << row.message;
  }
  EXPECT_THAT(ParseProto(External({{"location", "weights"}})),
              Says("found a model in memory"));
}

TEST_F(ExternalData, OfAHugeClaimTakesNoMemory) {
  ModelProto proto = External({{"location", "weights"}});
  proto.mutable_graph()->mutable_initializer(0)->set_dims(0, int64_t{1} << 40);
  EXPECT_THAT(ParseProto(proto, folder_ / "inside"),
              Says("needs 4398046511104 at offset 0"));
}

using Files = FilesTest;

TEST_F(Files, ErrorsNameTheFile) {
  const fs::path missing = folder_ / "none.onnx";
  const Status status = Model::Read(missing).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), missing.string() + ": does not exist");
  EXPECT_THAT(Model::Read(folder_), Says("is not a regular file"));
  Write("junk.onnx", "not a model");
  EXPECT_THAT(Model::Read(folder_ / "junk.onnx"), Says("junk.onnx: is "));
  Write("empty.onnx", "");
  EXPECT_THAT(Model::Read(folder_ / "empty.onnx"), Says("is no ONNX model"));
  const ValueType tensor = ValueType::OfTensor(DType::kFloat32, {});
  EXPECT_THAT(ReadValue(folder_ / "junk.onnx", tensor), Says("junk.onnx: "));
}

TEST_F(Files, AModelIsReadWithItsBytes) {
  const std::string bytes =
      ProtoOf("g (float[1] x) => (float[1] y) { y = Relu(x) }")
          .SerializeAsString();
  Write("m.onnx", bytes);
  const auto model = *Model::Read(folder_ / "m.onnx");
  const auto kept = model->bytes();
  EXPECT_TRUE(std::ranges::equal(kept, BytesOf(bytes)));
}

}  // namespace
}  // namespace assay::reader
