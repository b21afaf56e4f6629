// SPDX-License-Identifier: Apache-2.0
//
// SchemeCase: how ranks train one model together, by which way, around which optimizer.
//
//   for (const SchemeCase& each : AllSchemeCases()) Use(each.test_id());

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

/// In front of a number of steps in a name: "#n4.steps3".
inline constexpr std::string_view kStepsWord = "steps";
/// What a name has of steps: nothing for as many as cases of the plan have.
std::string StepsText(int64_t steps, int64_t planned);

/// What a scheme promises of the parameters that ranks end with.
enum class Promise {
  kLargeBatch,  // every rank has the bits of one that has the batches of all
  kAgreement,  // all ranks have the same bits, which are others than at the start
};

struct SchemeCase {
  std::string scheme;     // "all_reduce"
  std::string way;        // the algorithm by which tensors travel, or "own"
  std::string optimizer;  // by name
  int ranks = 1;
  /// Of the optimizer; its rate is a power of two where bits are compared.
  std::string settings = "rate=0.125";
  int64_t steps = kTrainedSteps;

  /// "distributed/train_all_reduce/ring.adam#n4".
  std::string test_id() const;
  /// Scale for more ranks than 8.
  cases::Tier tier() const;
};

/// By scheme, way, optimizer and ranks.
std::vector<SchemeCase> AllSchemeCases();

/// True where the scheme promises something of so many ranks: a mean of parameters is that
/// of gradients where nothing is rounded, which is so for powers of two.
bool HasMean(std::string_view scheme, int64_t ranks);

Promise PromiseOf(const SchemeCase& test_case);

/// True where tensors travel by the library's own collectives.
bool IsOwn(const SchemeCase& test_case);

/// The batches that a rank takes for a step.
int64_t BatchesOf(const SchemeCase& test_case);

/// True where each rank has the parameters of a step behind it. A server sends them with
/// the next one, and between two averages ranks differ.
bool HasEachStep(const SchemeCase& test_case);

Result<std::unique_ptr<train::Optimizer>> OptimizerOf(
    const SchemeCase& test_case);
/// A rank's part of it. The endpoint lives as long.
std::unique_ptr<ranks::Scheme> SchemeOf(const SchemeCase& test_case,
                                        Endpoint& endpoint);

/// What all ranks should send: bytes, and messages where a formula tells them.
struct SchemeCost {
  int64_t bytes = 0;
  std::optional<int64_t> messages;
};
/// In so many steps of parameters of float32 of these sizes. Nothing where the library's own
/// collectives send them, or where the bytes depend on the numbers that are sent.
Result<std::optional<SchemeCost>> CostOf(const SchemeCase& test_case,
                                         std::span<const int64_t> sizes,
                                         int64_t steps);

}  // namespace assay::distributed
