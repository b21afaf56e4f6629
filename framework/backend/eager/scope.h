// SPDX-License-Identifier: Apache-2.0
//
// LoadScope: what is known of a graph's values while its kernels are made. A
// subgraph's scope takes over what its captured values are outside.
//
//   const LoadScope scope(graph, nullptr, parameters);
//   scope.types[id]->dtype;

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "framework/graph/model.h"

namespace assay::eager {

struct LoadScope {
  /// `outer` is the enclosing graph's scope, null for a main graph.
  /// `parameters`, by ValueId or empty, are the values that may be written.
  LoadScope(const Graph& graph, const LoadScope* outer,
            const std::vector<bool>& parameters);
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

  const Graph& graph;
  /// By ValueId. The type is of kind kNone where nothing is known.
  std::vector<const ValueType*> types;
  /// By ValueId: the tensor that the model fixes, null where it does not or
  /// where it may be written.
  std::vector<const Tensor*> constants;

  /// The tensors among `constants` that the graph does not hold as such: the
  /// numbers of Constant nodes. To be kept as long as the kernels.
  std::shared_ptr<std::deque<Tensor>> made =
      std::make_shared<std::deque<Tensor>>();

 private:
  std::deque<ValueType> derived_;  // of initializers that declare none
};

/// True when a type says enough to make a kernel by.
bool IsKnown(const ValueType& type);

}  // namespace assay::eager
