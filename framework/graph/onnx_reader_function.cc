// SPDX-License-Identifier: Apache-2.0

#include <tuple>
#include <variant>

#include "framework/graph/onnx_reader.h"

namespace assay::reader {
namespace {

/// Domain, name and overload: what identifies a function.
using Key = std::tuple<std::string, std::string, std::string>;

enum class Visit : uint8_t { kNew, kOpen, kDone };

/// Walks the calls between functions, and refuses recursion: ONNX forbids it,
/// and an expansion would not end.
class CallGraph {
 public:
  explicit CallGraph(const std::vector<Function>& functions) {
    for (const Function& function : functions) {
      states_[{function.domain, function.name, function.overload}] = {&function,
                                                                      kNew};
    }
  }

  Status Check() {
    for (auto& [key, state] : states_) ASSAY_RETURN_IF_ERROR(Enter(state));
    return OkStatus();
  }

 private:
  using enum Visit;
  // Deeper chains of calls are refused, so that recursion here is bounded.
  static constexpr int kMaxDepth = 1000;

  struct State {
    const Function* function = nullptr;
    Visit visit = kNew;
  };

  Status Enter(State& state) {
    if (state.visit == kDone) return OkStatus();
    if (state.visit == kOpen) {
      return InvalidArgument("function '", state.function->name,
                             "' calls itself");
    }
    if (++depth_ > kMaxDepth) {
      return ResourceExhausted("functions call each other more than ",
                               kMaxDepth, " deep");
    }
    state.visit = kOpen;
    ASSAY_RETURN_IF_ERROR(Walk(*state.function->body));
    state.visit = kDone;
    --depth_;
    return OkStatus();
  }

  Status Walk(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      const auto called =
          states_.find({node.domain, node.op_type, node.overload});
      if (called != states_.end()) {
        ASSAY_RETURN_IF_ERROR(Enter(called->second));
      }
      for (const Attribute& attribute : node.attributes) {
        const auto* body =
            std::get_if<std::shared_ptr<const Graph>>(&attribute.held);
        if (body != nullptr) ASSAY_RETURN_IF_ERROR(Walk(**body));
      }
    }
    return OkStatus();
  }

  std::map<Key, State> states_;
  int depth_ = 0;
};

}  // namespace

Result<std::vector<Function>> ReadFunctions(const onnx::ModelProto& proto,
                                            const fs::path& directory) {
  std::vector<Function> functions;
  functions.reserve(static_cast<size_t>(proto.functions_size()));
  for (const onnx::FunctionProto& function : proto.functions()) {
    Result<Function> read = ReadFunction(function, directory);
    if (!read.ok()) {
      return read.status().WithContext(
          StrCat("function '", function.name(), "'"));
    }
    functions.push_back(*std::move(read));
  }
  if (!functions.empty()) {
    ASSAY_RETURN_IF_ERROR(CallGraph(functions).Check());
  }
  return functions;
}

}  // namespace assay::reader
