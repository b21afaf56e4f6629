// SPDX-License-Identifier: Apache-2.0
//
// SchemeCase: a scheme of distributed training, the way of its tensors, and an
// optimizer.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/testing/case/test_case.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::distributed {

inline constexpr int64_t kTrainedSteps = 5;

/// The word before a number of steps in a name: "#n4.steps3".
inline constexpr std::string_view kStepsWord = "steps";
/// The part of a name about steps; empty for as many as the plan has.
std::string StepsText(int64_t steps, int64_t planned);

/// A scheme's promise about the parameters that ranks end with.
enum class Promise {
  kLargeBatch,  // all ranks have the bits of one rank with all batches
  kAgreement,   // all ranks have the same bits, and not those of the start
};

struct SchemeCase {
  std::string scheme;     // "all_reduce"
  std::string way;        // the algorithm by which tensors travel, or "own"
  std::string optimizer;  // name
  int ranks = 1;
  /// Settings of the optimizer; the rate is a power of two where bits are
  /// compared.
  std::string settings = "rate=0.125";
  int64_t steps = kTrainedSteps;

  /// "distributed/train_all_reduce/ring.adam#n4".
  std::string test_id() const;
  /// Scale for more ranks than 8.
  cases::Tier tier() const;
};

/// The cases of the plan, by scheme, way, optimizer and ranks.
std::vector<SchemeCase> AllSchemeCases();

/// True where the scheme keeps its promise with `ranks` ranks: a mean of
/// parameters is the step of a mean gradient where nothing is rounded, which
/// holds for powers of two.
bool HasMean(std::string_view scheme, int64_t ranks);

Promise PromiseOf(const SchemeCase& test_case);

/// True where tensors travel by the library's own collectives.
bool IsOwn(const SchemeCase& test_case);

/// The batches of a rank in a step.
int64_t BatchesOf(const SchemeCase& test_case);

/// True where each rank has the new parameters after each step. A server sends
/// them with the next step, and between two averages ranks differ.
bool HasEachStep(const SchemeCase& test_case);

Result<std::unique_ptr<train::Optimizer>> OptimizerOf(
    const SchemeCase& test_case);
/// A rank's scheme. The endpoint must outlive it.
std::unique_ptr<ranks::Scheme> SchemeOf(const SchemeCase& test_case,
                                        Endpoint& endpoint);

/// The traffic that all ranks should send; messages where a formula gives them.
struct SchemeCost {
  int64_t bytes = 0;
  std::optional<int64_t> messages;
};
/// The cost of `steps` steps, with parameters of float32 of these sizes.
/// Nothing where the library's own collectives carry them, or where the bytes
/// depend on the numbers.
Result<std::optional<SchemeCost>> CostOf(const SchemeCase& test_case,
                                         std::span<const int64_t> sizes,
                                         int64_t steps);

}  // namespace assay::distributed
