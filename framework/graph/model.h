// SPDX-License-Identifier: Apache-2.0
//
// Model, Graph, Node, Attribute: an ONNX model, read once and then immutable.
//
//   ASSAY_ASSIGN_OR_RETURN(auto model, Model::Read("model.onnx"));
//   for (const Node& node : model->graph().nodes) {
//     Print(node.op_type, model->graph()[node.inputs[0]].name);
//   }
//
// Names are resolved when the model is read: a node refers to the values of
// its graph by index, and a subgraph lists the outer values that it captures.
// The serialized bytes are kept for backends that take a whole model.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::inline v1 {

class Graph;

/// Index of a value within its graph; kNoValue stands for an omitted input or
/// output.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

/// An attribute as written in the model. Lists are never empty variants: an
/// empty list of integers is an empty vector<int64_t>.
struct Attribute {
  using Held = std::variant<std::monostate, float, int64_t, std::string, Tensor,
                            std::shared_ptr<const Graph>, SparseTensor,
                            ValueType, std::vector<float>, std::vector<int64_t>,
                            std::vector<std::string>, std::vector<Tensor>,
                            std::vector<std::shared_ptr<const Graph>>,
                            std::vector<SparseTensor>, std::vector<ValueType>>;

  std::string name;
  Held held;
  /// Inside a function body: the attribute of the call that it stands for.
  std::string ref;
};

/// "a float", "a list of integers", ...: for messages.
std::string_view KindName(const Attribute::Held& held);

/// One operator application. `inputs` and `outputs` are in the operator's
/// order with kNoValue where one is omitted.
struct Node {
  const Attribute* Find(std::string_view attribute) const;

  /// The graphs that its attributes hold, alone or in lists.
  std::vector<const Graph*> Subgraphs() const;
  /// Their places, to put other graphs in.
  std::vector<std::shared_ptr<const Graph>*> MutableSubgraphs();

  /// "Conv 'layer1'", or "Conv" when it has no name; "Div in Softmax" inside a
  /// function body: for messages.
  std::string Label() const;

  std::string op_type;
  std::string domain;    // "" for ai.onnx
  std::string overload;  // of the model's function, where it has several
  std::string name;
  int opset = 0;  // version of `domain` that the model imports
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<Attribute> attributes;
  /// The label of the call that this node was expanded from (function.h);
  /// empty for a node of the model as written.
  std::string function;
};

/// A name, and what is known of its type.
struct ValueInfo {
  std::string name;
  ValueType type;
};

/// A value fixed by the model. `value` is a Tensor: reading makes sparse ones
/// dense.
struct Initializer {
  ValueId id = kNoValue;
  Value value;
};

/// A value of an enclosing graph that a subgraph reads.
struct Capture {
  ValueId outer = kNoValue;  // in the enclosing graph
  ValueId inner = kNoValue;  // in this graph
};

/// A list of nodes in an order in which each runs after what it reads. A
/// subgraph is always fed all its inputs, so none of them is overridable.
class Graph {
 public:
  ValueInfo& operator[](ValueId id) { return values[static_cast<size_t>(id)]; }
  const ValueInfo& operator[](ValueId id) const {
    return values[static_cast<size_t>(id)];
  }
  /// The initializer of a value; null when it is computed or fed.
  const Value* FindInitializer(ValueId id) const;
  /// The value of that name, kNoValue when there is none.
  ValueId FindValue(std::string_view name) const;

  std::string name;
  std::vector<ValueInfo> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;       // to be fed: those without an initializer
  std::vector<ValueId> overridable;  // inputs that have an initializer
  std::vector<ValueId> outputs;
  std::vector<Initializer> initializers;  // by ascending id
  std::vector<Capture> captures;          // empty for a main graph
};

/// Calls visit(graph) for a graph and the subgraphs of its nodes, at any depth.
template <class Visit>
void ForEachGraph(const Graph& graph, const Visit& visit) {
  visit(graph);
  for (const Node& node : graph.nodes) {
    for (const Graph* body : node.Subgraphs()) ForEachGraph(*body, visit);
  }
}

/// A model-local function, in the form in which ONNX states it. In its body an
/// attribute may stand for one of the call's (Attribute::ref).
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::shared_ptr<const Graph> body;
  std::vector<std::string> attributes;  // those that a call must give
  std::vector<Attribute> defaults;      // the others
  std::vector<std::byte> bytes;         // the FunctionProto
};

inline constexpr uint64_t kAllExternal = std::numeric_limits<uint64_t>::max();

/// An immutable ONNX model. Shared by reference count between networks.
class Model {
 public:
  /// Reads a file; tensors in external data are looked up beside it. Those of
  /// more than `most_external` bytes are left without data, for whoever wants
  /// the facts of a model of any size. Errors name the file and the place. What
  /// ONNX permits but this reader does not read yet is `unsupported` with
  /// reason reader.
  static Result<std::shared_ptr<const Model>> Read(
      const std::filesystem::path& file, uint64_t most_external = kAllExternal);

  /// The same from bytes; `directory` is where external data may be read.
  static Result<std::shared_ptr<const Model>> Parse(
      std::span<const std::byte> bytes,
      const std::filesystem::path& directory = {});

  struct Parts {
    int64_t ir_version = 0;
    /// Domain ("" for ai.onnx) to version.
    std::map<std::string, int, std::less<>> opsets;
    Graph graph;
    std::vector<Function> functions;
    std::vector<std::byte> bytes;
    /// Appends what is left of the bytes, when they are first asked for: great
    /// weights are not held twice for a backend that reads the graph.
    std::function<void(std::vector<std::byte>*)> more_bytes = nullptr;
    /// Where it is another model with initializers of these values: the bytes
    /// of that one. Great weights can be passed on beside them, not within.
    std::vector<std::byte> base;
    std::map<std::string, Tensor> fixed;
    std::filesystem::path directory;  // of external data; empty: nowhere
    bool checked = false;             // ONNX's checker has accepted it
    bool inferred = false;            // types are as far as inference goes
  };
  explicit Model(Parts parts) : parts_(std::move(parts)) {}

  int64_t ir_version() const { return parts_.ir_version; }
  const std::map<std::string, int, std::less<>>& opsets() const {
    return parts_.opsets;
  }
  const Graph& graph() const { return parts_.graph; }
  const std::vector<Function>& functions() const { return parts_.functions; }
  std::span<const std::byte> bytes() const;
  std::span<const std::byte> base() const { return parts_.base; }
  const std::map<std::string, Tensor>& fixed() const { return parts_.fixed; }
  const std::filesystem::path& directory() const { return parts_.directory; }
  bool checked() const { return parts_.checked; }
  bool inferred() const { return parts_.inferred; }

 private:
  mutable Parts parts_;  // changes within whole_ only
  mutable std::once_flag whole_;
};

/// Reads one serialized TensorProto, SequenceProto, OptionalProto, MapProto or
/// SparseTensorProto, as `type` says: the data files of ONNX's test layout.
Result<Value> ReadValue(const std::filesystem::path& file,
                        const ValueType& type);
Result<Value> ParseValue(std::span<const std::byte> bytes,
                         const ValueType& type);

/// The model's graph, whose untyped values have got the types that ONNX's shape
/// inference finds, with data propagation; values it cannot type stay of kind
/// kNone. A graph without untyped values is returned as it is; otherwise the
/// first call costs the start of ONNX's schema registry (8 to 17 ms).
Result<Graph> InferTypes(const Model& model);

}  // namespace assay::inline v1
