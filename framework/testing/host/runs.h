// SPDX-License-Identifier: Apache-2.0
//
// BindAndRun, RunMany, RunEach, BackwardEach: what takes several calls of a
// network, in one call of its host where it has one.
//
//   ASSAY_ASSIGN_OR_RETURN(FirstRun first, BindAndRun(*network, inputs, {}));
//   ASSAY_RETURN_IF_ERROR(first.status);
//   ASSAY_ASSIGN_OR_RETURN(const auto spent,
//                          RunMany(*network, *first.binding, 20, [](auto y) {
//                            return y.size() == 1;  // false: that is enough
//                          }));

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::host {

/// A binding, and what became of its first run. Not run where it is null.
struct FirstRun {
  std::unique_ptr<Binding> binding;
  Status status;
};

/// Bind, then Forward and Synchronize, whose exceptions become the status of
/// the first run. The status returned is that of Bind.
Result<FirstRun> BindAndRun(Network& network, std::span<const Value> inputs,
                            std::span<const Value> outputs);

/// Looks at the outputs of a run; false when no more are wanted.
using SeesRun = std::function<bool(std::span<const Value> outputs)>;

/// Bytes for the memory of bound tensors before a run: one value for each, of
/// its type and shape.
struct Refill {
  std::span<const Value> memory;
  std::span<const std::vector<Value>> runs;
};

/// Copies bytes into the memory of bound tensors. Invalid argument for values
/// of another count, type or shape.
Status Fill(std::span<const Value> memory, std::span<const Value> values);

/// Copies of values, in memory that no network knows. Internal for a tensor
/// without memory.
Result<std::vector<Value>> CopiesOf(std::span<const Value> values);

/// A question to Backward. Its cotangents and targets must outlive the call.
struct BackwardAsk {
  std::span<const Value> cotangents;
  std::span<const std::string> targets;
};
/// The answer to a BackwardAsk, and how long it took.
struct Pulled {
  Result<std::vector<Value>> gradients = std::vector<Value>();
  std::chrono::nanoseconds took{0};
};

/// A network that does so in one call of its own.
class InOneCall {
 public:
  virtual ~InOneCall() = default;
  virtual Result<FirstRun> BindAndRun(std::span<const Value> inputs,
                                      std::span<const Value> outputs) = 0;
  virtual Result<std::chrono::nanoseconds> RunMany(Binding& binding,
                                                   int64_t count,
                                                   const SeesRun& sees) = 0;
  virtual Status RunEach(Binding& binding, const Refill& refill,
                         const SeesRun& sees) = 0;
  virtual std::vector<Pulled> BackwardEach(
      Binding& binding, std::span<const BackwardAsk> asks) = 0;
};

/// Forward and Synchronize, at most `count` times, with a look at the outputs
/// of each run. A host may have run on behind the last that was looked at, and
/// the binding says nothing of its outputs afterwards. Returns the processor
/// time of the thread that ran.
Result<std::chrono::nanoseconds> RunMany(Network& network, Binding& binding,
                                         int64_t count, const SeesRun& sees);

/// For each of the refill's runs fills the memory, then Forward and
/// Synchronize, with a look at the outputs. As for RunMany, a host may have run
/// on, and the binding says nothing of its outputs afterwards. Invalid
/// argument, before the run, for values that do not fit.
Status RunEach(Network& network, Binding& binding, const Refill& refill,
               const SeesRun& sees);

/// Backward for each, in order, up to the first that fails, which is the last
/// of what is returned. An exception becomes its status. Failed precondition
/// where the network is not differentiable.
std::vector<Pulled> BackwardEach(Network& network, Binding& binding,
                                 std::span<const BackwardAsk> asks);

}  // namespace assay::host
