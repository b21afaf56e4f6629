// SPDX-License-Identifier: Apache-2.0
//
// Every operator that a backend runs, in every element type that ONNX permits:
// the corpora's cases, retyped. A case that is declined or fails must stand in
// a list with its reason, and the list must hold nothing else.

#include "ctest/trial/types/retype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "framework/backend/registry.h"
#include "framework/graph/edit/submodel.h"
#include "framework/graph/model_text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::retype {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph GraphOf(const std::string& text) {
  return graph::ModelOfText(text)->graph();
}

DType TypeOf(const Graph& graph, std::string_view name) {
  return graph[graph.FindValue(name)].type.dtype;
}

TEST(ConvertTensor, RoundsClampsAndTruncates) {
  const Tensor x = Floats({1.75F, -300, 0});
  EXPECT_THAT(ConvertTensor(x, DType::kInt8).elements<int8_t>(),
              ElementsAre(1, -128, 0));
  EXPECT_THAT(ConvertTensor(x, DType::kUint64).elements<uint64_t>(),
              ElementsAre(1U, 0U, 0U));
  EXPECT_THAT(ConvertTensor(x, DType::kBool).elements<bool>(),
              ElementsAre(true, true, false));
  EXPECT_THAT(ConvertTensor(x, DType::kFloat16).elements<uint16_t>(),
              ElementsAre(0x3F00, 0xDCB0, 0));
  EXPECT_THAT(ConvertTensor(x, DType::kInt4).bytes(),
              ElementsAre(std::byte{0x81}, std::byte{0}));
  const Tensor text = ConvertTensor(x, DType::kString);
  EXPECT_THAT(text.strings(), ElementsAre("1.75", "-300", "0"));
  EXPECT_THAT(ConvertTensor(text, DType::kFloat32).elements<float>(),
              ElementsAre(1.75F, -300.0F, 0.0F));
}

TEST(Retype, ChangesAllValuesOfTheVariableAndNoOther) {
  const Graph graph = GraphOf(
      "g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }");
  const std::vector<Value> inputs = {
      Floats({1, 2}), Tensor::Allocate(DType::kInt64, {1}).value()};
  ASSERT_TRUE(IsRetypable(graph));
  EXPECT_EQ(BoundType(graph, 0)->dtype, DType::kFloat32);
  const auto made = Got(Retype(graph, inputs, 0, DType::kInt32));
  EXPECT_EQ(TypeOf(made.graph, "x"), DType::kInt32);
  EXPECT_EQ(TypeOf(made.graph, "y"), DType::kInt32);
  EXPECT_EQ(TypeOf(made.graph, "i"), DType::kInt64);
  EXPECT_THAT(made.inputs[0].tensor()->elements<int32_t>(), ElementsAre(1, 2));
  EXPECT_EQ(made.inputs[1].tensor()->dtype(), DType::kInt64);
}

TEST(Retype, SetsTheAttributeThatSaysTheTypeOfAnOutput) {
  const Graph graph =
      GraphOf("g (float[2] x) => (int8[2] y) { y = Cast<to = 3>(x) }");
  const auto made =
      Got(Retype(graph, std::vector<Value>{Floats({1, 2})}, 1, DType::kInt64));
  const Attribute* const to = made.graph.nodes[0].Find("to");
  ASSERT_NE(to, nullptr);
  EXPECT_EQ(std::get<int64_t>(to->held), 7);
  EXPECT_EQ(TypeOf(made.graph, "x"), DType::kFloat32);
}

TEST(Retype, DeclinesWhatNothingSays) {
  const Graph graph = GraphOf("g (float[2] x) => (bool[2] y) { y = IsNaN(x) }");
  const auto made =
      Retype(graph, std::vector<Value>{Floats({1, 2})}, 1, DType::kBool);
  EXPECT_THAT(made.status().message(), HasSubstr("IsNaN"));
}

TEST(IsRetypable, IsForOneNodeWithoutSubgraphs) {
  struct Row {
    const char* text;
    bool retypable;
  };
  const Row rows[] = {
      {"g (float[2] x) => (float[2] y) { y = Relu(x) }", true},
      {"g (float[2] x) => (float[2] y) { a = Relu(x) y = Abs(a) }", false},
      {"g (bool c) => (float y) { y = If(c) "
       "<then_branch = a () => (float t) { t = Constant<value_float = 1.0>() },"
       " else_branch = b () => (float e) { e = Constant<value_float = 2.0>() "
       "}> }",
       false}};
  for (const Row& row : rows) {
    EXPECT_EQ(IsRetypable(GraphOf(row.text)), row.retypable) << row.text;
  }
}

using ::testing::IsEmpty;

/// A case that can be retyped.
struct Base {
  std::string test_id;
  Graph graph;
  std::vector<Value> inputs;
};

void AddBase(const cases::TestCase& c, const Result<cases::CaseData>& data,
             std::vector<Base>* bases) {
  if (!data.ok() || data->sets.empty()) return;
  auto graph = InferTypes(*data->model);
  if (!graph.ok()) return;
  auto current = ToCurrentOpset(*std::move(graph));
  if (!current.ok() || !IsRetypable(*current)) return;
  bases->push_back({c.test_id, *std::move(current), data->sets[0].inputs});
}

/// Cases of the folder ASSAY_CORPUS and of the corpus special beside it.
std::vector<Base> Bases() {
  std::vector<Base> bases;
  const std::filesystem::path onnx = ASSAY_CORPUS;
  for (const auto& path : {onnx, onnx.parent_path() / "special"}) {
    const auto corpus = cases::ReadCorpus(path);
    EXPECT_TRUE(corpus.ok()) << corpus.status().ToString();
    if (!corpus.ok()) return {};
    for (const cases::TestCase& c : corpus->cases) {
      if (c.kind != "node" && c.kind != "special") continue;
      AddBase(c, cases::ReadCaseInputs(c.directory, 1), &bases);
    }
  }
  return bases;
}

/// The graph as a model of the newest opsets.
Result<std::shared_ptr<const Model>> ModelOf(const Graph& graph) {
  Model::Parts parts;
  parts.ir_version = 13;
  for (const DomainInfo& domain : Domains()) {
    parts.opsets.emplace(domain.domain, domain.newest_opset);
  }
  const auto ports = [&](const std::vector<ValueId>& ids) {
    std::vector<edit::Port> made;
    for (const ValueId id : ids) {
      made.push_back({id, graph[id].type});
    }
    return made;
  };
  const edit::Submodel whole{
      {0}, ports(graph.inputs), ports(graph.outputs), {}};
  return edit::MakeSubmodel(Model(std::move(parts)), graph, whole);
}

Status TryOn(Backend& backend, const Graph& graph,
             const std::vector<Value>& inputs) {
  ASSAY_ASSIGN_OR_RETURN(auto model, ModelOf(graph));
  ASSAY_ASSIGN_OR_RETURN(auto network, backend.Load(model, {}));
  ASSAY_ASSIGN_OR_RETURN(auto binding, network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
  return network->Synchronize();
}

/// The result of one operator's variable at one type, over all cases.
struct Tried {
  int64_t passed = 0;
  bool declined = false;  // of one case, say under some attribute
  std::string failure;    // the last
};

using Key = std::string;  // "Gather Tind int32"

Key KeyOf(const Node& node, const types::TypeVariable& variable,
          std::string_view word) {
  const std::string domain = node.domain.empty() ? "" : node.domain + ".";
  return StrCat(domain, node.op_type, " ", variable.name, " ", word);
}

DType ElementOf(const ValueType& type) {
  return type.element != nullptr ? ElementOf(*type.element) : type.dtype;
}

/// `word` with its element type, the first name in it, replaced.
std::string WordWith(ValueType type, DType dtype) {
  std::string word = types::Word(type);
  const std::string from(ToString(ElementOf(type)));
  const size_t at = word.find(from);
  return word.replace(at, from.size(), ToString(dtype));
}

void TryAll(Backend& backend, const Base& base,
            std::map<Key, Tried>* everything) {
  const Node& node = base.graph.nodes[0];
  const types::OperatorSignature& signature =
      types::SignatureOf(*FindOperator(node.domain, node.op_type));
  for (size_t v = 0; v < signature.variables.size(); ++v) {
    const types::TypeVariable& variable = signature.variables[v];
    if (variable.fixed()) continue;
    const auto bound = BoundType(base.graph, static_cast<int>(v));
    if (!bound.has_value()) continue;
    for (int k = 1; k < kDTypeCount; ++k) {
      const auto type = static_cast<DType>(k);
      const std::string word = WordWith(*bound, type);
      if (!std::ranges::binary_search(variable.types, word)) continue;
      auto made = Retype(base.graph, base.inputs, static_cast<int>(v), type);
      if (!made.ok()) continue;
      Tried& tried = (*everything)[KeyOf(node, variable, word)];
      const Status status = TryOn(backend, made->graph, made->inputs);
      if (status.ok()) {
        ++tried.passed;
      } else {
        tried.declined |= status.code() == StatusCode::kUnsupported;
        tried.failure = StrCat(base.test_id, ": ", status.ToString());
      }
    }
  }
}

/// Lines "OPERATOR VARIABLE TYPE", those of one reason under it.
std::set<Key> ReadList(const char* path) {
  std::set<Key> keys;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') keys.insert(line);
  }
  return keys;
}

TEST(Types, WhatIsDeclinedStandsInTheListWithItsReason) {
  auto names = Got(LoadBackendModule(ASSAY_REFERENCE_MODULE));
  auto backend = Got(MakeBackend(names.at(0)));
  std::map<Key, Tried> everything;
  int64_t n_bases = 0;
  for (const Base& base : Bases()) {
    if (!TryOn(*backend, base.graph, base.inputs).ok()) continue;
    ++n_bases;
    TryAll(*backend, base, &everything);
  }
  std::set<Key> listed = ReadList(ASSAY_DECLINED);
  int64_t passed = 0;
  for (const auto& [key, tried] : everything) {
    const bool taken = tried.passed > 0 && !tried.declined;
    passed += taken ? 1 : 0;
    const bool is_listed = listed.erase(key) > 0;
    if (taken == is_listed) {
      ADD_FAILURE() << key << (taken ? " is taken" : ": ") << tried.failure;
    }
  }
  EXPECT_THAT(listed, IsEmpty()) << "nothing retyped has these";
  std::cout << n_bases << " cases, " << everything.size()
            << " types of operators tried, " << passed << " taken\n";
  EXPECT_GE(n_bases, 1000);
  EXPECT_GE(passed, 1000);
}

}  // namespace
}  // namespace assay::retype
