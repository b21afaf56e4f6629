// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "onnx/defs/parser.h"
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;

size_t Below(size_t count, Random& random) {
  return count == 0 ? 0 : static_cast<size_t>(random() % count);
}

template <class List>
auto* Any(List* list, Random& random) {
  return list->size() == 0 ? nullptr
                           : list->Mutable(static_cast<int>(Below(
                                 static_cast<size_t>(list->size()), random)));
}

int64_t Extreme(Random& random) {
  constexpr int64_t kWide = int64_t{1} << 40;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr std::array<int64_t, 10> kExtremes = {
      -1, 0, 1, 3, 127, int64_t{1} << 31, kWide, -kWide, kMost, -kMost - 1};
  return kExtremes[Below(kExtremes.size(), random)];
}

// --- of the bytes -----------------------------------------------------------

void MutateBytes(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  const size_t at = Below(bytes.size(), random);
  const size_t length =
      1 + Below(std::min<size_t>(64, bytes.size() - at), random);
  switch (random() % 5) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 3:
      bytes.erase(at, length);
      break;
    default:  // the longest varint: a size of 2^63
      bytes.replace(at, std::min(length, size_t{9}),
                    "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F");
  }
}

// --- of the structure -------------------------------------------------------

/// A graph of the model at random: the main one or one below it.
GraphProto* AnyGraph(ModelProto& model, Random& random) {
  GraphProto* graph = model.mutable_graph();
  for (int depth = 0; depth < 4 && random() % 3 == 0; ++depth) {
    NodeProto* const node = Any(graph->mutable_node(), random);
    if (node == nullptr) break;
    AttributeProto* const attribute = Any(node->mutable_attribute(), random);
    if (attribute == nullptr || !attribute->has_g()) break;
    graph = attribute->mutable_g();
  }
  return graph;
}

NodeProto* AnyNode(ModelProto& model, Random& random) {
  if (model.functions_size() > 0 && random() % 4 == 0) {
    return Any(Any(model.mutable_functions(), random)->mutable_node(), random);
  }
  return Any(AnyGraph(model, random)->mutable_node(), random);
}

std::string* AnyName(NodeProto& node, Random& random) {
  return random() % 2 == 0 ? Any(node.mutable_input(), random)
                           : Any(node.mutable_output(), random);
}

/// Two names of one graph change places: cycles, wrong types, double
/// definitions.
void SwapNames(ModelProto& model, Random& random) {
  GraphProto* const graph = AnyGraph(model, random);
  NodeProto* const a = Any(graph->mutable_node(), random);
  NodeProto* const b = Any(graph->mutable_node(), random);
  if (a == nullptr) return;
  std::string* const first = AnyName(*a, random);
  std::string* const second = AnyName(*b, random);
  if (first == nullptr || second == nullptr) return;
  if (random() % 2 == 0) {
    std::swap(*first, *second);
  } else {
    *first = *second;
  }
}

void ReadOwnOutput(ModelProto& model, Random& random) {
  NodeProto* const node = AnyNode(model, random);
  if (node == nullptr || node->output_size() == 0) return;
  if (node->input_size() == 0) node->add_input();
  *Any(node->mutable_input(), random) = node->output(0);
}

void ClaimSize(ModelProto& model, Random& random) {
  GraphProto* const graph = AnyGraph(model, random);
  onnx::TensorProto* tensor = Any(graph->mutable_initializer(), random);
  if (tensor == nullptr) {
    tensor = graph->add_initializer();
    tensor->set_name("claim");
    tensor->set_data_type(static_cast<int>(random() % 30));
  }
  if (tensor->dims_size() == 0) tensor->add_dims(1);
  tensor->set_dims(0, Extreme(random));
  if (random() % 2 == 0) tensor->add_dims(Extreme(random));
  if (random() % 2 == 0) {
    tensor->clear_raw_data();
    tensor->clear_float_data();
    tensor->clear_int64_data();
  }
}

/// Sizes and axes that operators read as values.
void ChangeNumbers(ModelProto& model, Random& random) {
  auto* const tensor =
      Any(AnyGraph(model, random)->mutable_initializer(), random);
  if (tensor != nullptr && tensor->data_type() == onnx::TensorProto::INT64 &&
      random() % 2 == 0) {
    const int count = tensor->int64_data_size() +
                      static_cast<int>(tensor->raw_data().size() / 8);
    tensor->clear_raw_data();
    tensor->clear_int64_data();
    for (int i = 0; i < count; ++i) tensor->add_int64_data(Extreme(random));
    return;
  }
  NodeProto* const node = AnyNode(model, random);
  if (node == nullptr) return;
  AttributeProto* attribute = Any(node->mutable_attribute(), random);
  if (attribute == nullptr) return;
  if (attribute->has_i()) attribute->set_i(Extreme(random));
  for (int i = 0; i < attribute->ints_size(); ++i) {
    attribute->set_ints(i, Extreme(random));
  }
}

void ChangeType(ModelProto& model, Random& random) {
  GraphProto* const graph = AnyGraph(model, random);
  const int type = static_cast<int>(random() % 40);
  auto* const info = random() % 2 == 0 ? Any(graph->mutable_input(), random)
                                       : Any(graph->mutable_output(), random);
  auto* const tensor = Any(graph->mutable_initializer(), random);
  NodeProto* const node = AnyNode(model, random);
  auto* const attribute =
      node == nullptr ? nullptr : Any(node->mutable_attribute(), random);
  switch (random() % 5) {
    case 0:
      if (tensor != nullptr) tensor->set_data_type(type);
      break;
    case 1:
      if (attribute != nullptr) {
        attribute->set_type(
            static_cast<AttributeProto::AttributeType>(random() % 15));
      }
      break;
    case 2:
      if (info != nullptr) info->clear_type();
      break;
    case 3:
      if (info != nullptr) info->mutable_type()->mutable_opaque_type();
      break;
    default:
      if (info == nullptr) return;
      info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
      if (random() % 2 == 0) {
        info->mutable_type()->mutable_tensor_type()->clear_shape();
      }
  }
}

/// Types in types, or branches in branches; at most one below 100 is parsed.
void NestDeep(ModelProto& model, Random& random) {
  const size_t depth = 1 + Below(120, random);
  if (random() % 2 == 0) {
    auto* const info = Any(model.mutable_graph()->mutable_input(), random);
    if (info == nullptr) return;
    onnx::TypeProto type = info->type();
    for (size_t i = 0; i < depth; ++i) {
      onnx::TypeProto outer;
      *(i % 2 == 0 ? outer.mutable_sequence_type()->mutable_elem_type()
                   : outer.mutable_optional_type()->mutable_elem_type()) = type;
      type = outer;
    }
    *info->mutable_type() = type;
    return;
  }
  for (size_t i = 0; i < depth; ++i) {
    GraphProto outer = model.graph();
    NodeProto* const node = outer.add_node();
    node->set_op_type("If");
    node->add_input(outer.input_size() > 0 ? outer.input(0).name() : "");
    node->add_output("nested" + std::to_string(i));
    AttributeProto* const branch = node->add_attribute();
    branch->set_name("then_branch");
    branch->set_type(AttributeProto::GRAPH);
    GraphProto inner = model.graph();
    inner.clear_input();
    inner.clear_initializer();
    // Only one copy grows, else each level doubles.
    outer.mutable_node()->DeleteSubrange(0, outer.node_size() - 1);
    *outer.mutable_node(0)->mutable_attribute(0)->mutable_g() = inner;
    *model.mutable_graph() = outer;
  }
}

template <class List>
void Repeat(List* list, Random& random) {
  if (list->size() == 0) return;
  const auto copy = *Any(list, random);
  *list->Add() = copy;
}

void Duplicate(ModelProto& model, Random& random) {
  GraphProto* const graph = AnyGraph(model, random);
  NodeProto* const node = AnyNode(model, random);
  switch (random() % 7) {
    case 0:
      return Repeat(graph->mutable_node(), random);
    case 1:
      return Repeat(graph->mutable_initializer(), random);
    case 2:
      return Repeat(graph->mutable_input(), random);
    case 3:
      return Repeat(model.mutable_opset_import(), random);
    case 4:
      return Repeat(model.mutable_functions(), random);
    case 5:
      if (node != nullptr) Repeat(node->mutable_input(), random);
      return;
    default:
      if (node != nullptr) Repeat(node->mutable_attribute(), random);
  }
}

void Remove(ModelProto& model, Random& random) {
  NodeProto* const node = AnyNode(model, random);
  if (node == nullptr) return;
  if (random() % 3 == 0 && node->attribute_size() > 0) {
    node->mutable_attribute()->RemoveLast();
  } else if (random() % 2 == 0 && node->input_size() > 0) {
    node->mutable_input()->RemoveLast();
  } else if (std::string* const name = AnyName(*node, random)) {
    name->clear();
  }
}

void ChangeOperator(ModelProto& model, Random& random) {
  static const auto kSchemas = onnx::OpSchemaRegistry::get_all_schemas();
  NodeProto* const node = AnyNode(model, random);
  if (node == nullptr) return;
  const auto& schema = kSchemas[Below(kSchemas.size(), random)];
  node->set_op_type(schema.Name());
  node->set_domain(schema.domain());
}

void ChangeOpset(ModelProto& model, Random& random) {
  auto* const import = Any(model.mutable_opset_import(), random);
  if (import == nullptr) return;
  import->set_version(random() % 4 == 0 ? Extreme(random)
                                        : static_cast<int64_t>(random() % 30));
  if (random() % 4 == 0) model.set_ir_version(Extreme(random));
}

/// A call of a function in a function: of itself, of another, of none.
void CallFunctions(ModelProto& model, Random& random) {
  if (model.functions_size() == 0) {
    auto* const function = model.add_functions();
    function->set_name("made");
    function->set_domain("test");
    function->add_input("u");
    function->add_output("v");
    *function->mutable_opset_import() = model.opset_import();
  }
  auto* const function = Any(model.mutable_functions(), random);
  const auto* const called = Any(model.mutable_functions(), random);
  NodeProto* const node = random() % 2 == 0 ? function->add_node()
                                            : model.mutable_graph()->add_node();
  node->set_op_type(called->name());
  node->set_domain(called->domain());
  if (function->input_size() > 0) node->add_input(function->input(0));
  node->add_output("called" + std::to_string(random() % 3));
  auto* const import = function->add_opset_import();
  import->set_domain(called->domain());
  import->set_version(1);
}

void MutateStructure(ModelProto& model, Random& random) {
  constexpr std::array kMutations = {
      SwapNames, ReadOwnOutput, ClaimSize,      ChangeNumbers, ChangeType,
      NestDeep,  Duplicate,     Remove,         ChangeOpset,   CallFunctions,
      SwapNames, ChangeNumbers, ChangeOperator, ChangeType};
  kMutations[Below(kMutations.size(), random)](model, random);
}

constexpr const char* kTexts[] = {
    R"(<ir_version: 10, opset_import: ["" : 28, "test" : 1]>
    g (bool c, float[2,N] x) => (float[2,N] y)
    <float[2] w = {1, 2}, int64[1] a = {0}> {
      s = Softmax <axis = 1> (x)
      t = Split <axis = 0, num_outputs = 1> (s)
      y = If(c) <
        then_branch = p () => (float[2,N] r) { q = Squeeze(t, a) r = Relu(q) },
        else_branch = e () => (float[2,N] r) { r = test.f <k = 2> (t) } >
    }
    <domain: "test", opset_import: ["" : 28]>
    f <k> (u) => (v) { v = Concat <axis: int = @k> (u, u) })",
    R"(<ir_version: 10, opset_import: ["" : 21, "test" : 1]>
    g (seq(float[2]) s, float[2] w) => (seq(float[2]) y, float[2] z) {
      y = SequenceMap(s) <body = b (float[2] e) => (float[2] o)
                          { o = test.twice(e, w) }>
      z = test.twice(w, w)
    }
    <domain: "test", opset_import: ["" : 21, "test" : 1]>
    twice (a, b) => (c) { t = test.once(a)  c = Add(t, b) }
    <domain: "test", opset_import: ["" : 18]>
    once (a) => (b) { b = HardSwish(a) })",
    R"(<ir_version: 3, opset_import: ["" : 6]>
    g (float[2,3,4] x, float[3] w) => (float[2,3,4] y) {
      a = Add <broadcast=1, axis=1> (x, w)
      b = Clip <min=0.0, max=6.0> (a)
      c, m = Dropout(b)
      d = Softmax(c)
      y = Pad <pads=[0,0,0,0,0,0], value=1.5> (d)
    })",
    R"(<ir_version: 3, opset_import: ["" : 8]>
    g (float[2,3] i, float[2,5,3] x) => (float[2,3] y, float[2,5,3] z) {
      y, z = Scan <num_scan_inputs=1, directions=[1], body =
        b (float[3] s, float[3] e) => (float[3] t, float[3] u)
        { t = Add(s, e) u = Identity(t) }> ( , i, x)
    })",
    R"(<ir_version: 8, opset_import: ["" : 18]>
    g (float16[1,4,2] x, float16[2] s) => (float16[1,4,2] y)
    <int64[2] shape = {4, 2}> {
      n = GroupNormalization <num_groups=2> (x, s, s)
      r = Reshape(n, shape)
      l = LayerNormalization(r, s)
      y = Reshape(l, shape)
    })",
};

std::string ReadWhole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string Mutate(const std::string& model, Random& random) {
  std::string bytes = model;
  const size_t count = 1 + random() % 3;
  for (size_t i = 0; i < count; ++i) {
    ModelProto proto;
    if (random() % 4 != 0 && proto.ParseFromString(bytes)) {
      MutateStructure(proto, random);
      bytes = proto.SerializeAsString();
    } else {
      MutateBytes(bytes, random);
    }
  }
  return bytes;
}

std::vector<std::string> SeedModels(const fs::path& corpus) {
  std::vector<std::string> seeds;
  for (const char* const text : kTexts) {
    onnx::ModelProto model;
    const auto status = onnx::OnnxParser::Parse(model, text);
    if (!status.IsOK()) throw std::invalid_argument(status.ErrorMessage());
    seeds.push_back(model.SerializeAsString());
  }
  if (corpus.empty() || !fs::exists(corpus)) return seeds;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    if (entry.path().filename() != "model.onnx") continue;
    if (entry.file_size() <= 8192) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  // A sample: neighbours are much alike.
  for (size_t i = 0; i < files.size(); i += 8) {
    seeds.push_back(ReadWhole(files[i]));
  }
  return seeds;
}

}  // namespace assay::fuzz
