// SPDX-License-Identifier: Apache-2.0
//
// NetworkParts: the nodes of a trained network, each in a network of its own,
// on the values that they have in one step. They show the cost of a step
// without the work between nodes.
//
// A benchmark's tool: it throws std::runtime_error where a backend declines.

#pragma once

#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/train/network_objective.h"

namespace assay::perf {

inline void Must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <class T>
T Got(Result<T> result) {
  Must(result.status());
  return *std::move(result);
}

class NetworkParts {
 public:
  /// The backend outlives it. The batch is a tensor for each input of the model
  /// that is no parameter.
  NetworkParts(Backend& backend, const train::Trainee& trainee,
               std::span<const Tensor> batch);

  void Run() const;

 private:
  struct Part {
    std::unique_ptr<Network> network;
    std::unique_ptr<Binding> binding;
    std::unique_ptr<GradientBinding> gradients;  // null where none is needed
  };

  void FillIn(const train::Trainee& trainee, std::span<const Tensor> batch);
  void Forward();
  void Add(size_t place);

  Backend& backend_;
  std::shared_ptr<const Model> model_;
  std::vector<Value> values_;  // of the graph
  std::set<ValueId> learnt_;   // depend on a parameter
  std::vector<Part> parts_;
};

}  // namespace assay::perf
