// SPDX-License-Identifier: Apache-2.0
//
// BackwardInputs: the inputs of a backward run as those of a forward one, for what
// a kernel computes again.
//
//   const BackwardInputs inputs(run, 7);
//   const Tensor& mask = inputs.input(Input{3, true});

#pragma once

#include <vector>

#include "framework/backend/eager/kernel.h"

namespace assay::reference {

/// It runs no subgraph, and has no outputs unless a class derived from it does.
class BackwardInputs : public KernelContext {
 public:
  BackwardInputs(const GradientContext& run, int count) {
    for (int i = 0; i < count; ++i) inputs_.push_back(&run.value({i, true}));
  }

  Result<Tensor*> Output(assay::Output output, DType, const Shape&) override {
    return Internal("a backward run asked for output ", output.position);
  }
  Status SetOutput(assay::Output output, assay::Value) override {
    return Internal("a backward run set output ", output.position);
  }
  Result<std::vector<assay::Value>> Run(
      std::string_view attribute, std::span<const assay::Value>) override {
    return Internal("a backward run ran ", attribute);
  }
  Result<std::vector<assay::Value>> Differentiate(
      std::span<const assay::Value>) override {
    return Internal("a backward run differentiated");
  }
  void Save(assay::Value) override {}
  Result<Tensor*> Workspace(DType, const Shape&) override {
    return Internal("a backward kernel asked for a workspace");
  }
};

}  // namespace assay::reference
