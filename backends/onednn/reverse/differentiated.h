// SPDX-License-Identifier: Apache-2.0
//
// Differentiated: a node's chain in a network with gradient targets, with the
// memory that its run leaves for backward (workspaces, statistics, values
// between primitives), and the chains that run it backward, one for each set of
// given cotangents and wanted gradients, made when it is first asked for.
//
//   Differentiated node(engine, threads, chain, std::move(tape));
//   ASSAY_RETURN_IF_ERROR(node.Try({0, 1}));   // else Bind declines
//   node.Run(run);
//   node.RunBackward(backward);
//
// It belongs to one binding, and so does the thread rule of that.

#pragma once

#include <map>
#include <memory>
#include <set>

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {

class Differentiated {
 public:
  Differentiated(const dnnl::engine& engine, int threads,
                 std::shared_ptr<Chain> chain, Tape tape)
      : engine_(engine),
        threads_(threads),
        chain_(std::move(chain)),
        tape_(std::move(tape)) {}

  /// Unsupported, reason gradient, where some gradient of these inputs is not
  /// to be had.
  Status Try(const std::set<int>& inputs) {
    return ChainFor(AllOutputs(inputs)).status();
  }

  Status Run(KernelContext& run) { return chain_->Run(run); }
  Status RunBackward(GradientContext& run);

 private:
  Asked AllOutputs(const std::set<int>& inputs) const;
  Result<Chain*> ChainFor(const Asked& asked);
  /// Whether this asks for what was asked for last.
  bool IsLast(GradientContext& run) const;

  dnnl::engine engine_;
  int threads_;
  std::shared_ptr<Chain> chain_;
  Tape tape_;
  std::map<Asked, std::shared_ptr<Chain>> backward_;
  Asked last_asked_;
  Chain* last_ = nullptr;  // one of backward_
};

/// Unsupported, reason gradient, where primitives are made for the numbers of
/// one of these inputs: a gradient of it is not to be had.
Status CheckNumbers(const Tape& tape, const std::set<int>& inputs);

}  // namespace assay::onednn
