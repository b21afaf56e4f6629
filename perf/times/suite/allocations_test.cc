// SPDX-License-Identifier: Apache-2.0
//
// The allocations of warm calls of the reference backend.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/case/corpus.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/host/counts/counts.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/host/timed.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "perf/times/case.h"

namespace assay::times {
namespace {

bool HasStaticOutputs(const Network& network) {
  return std::ranges::all_of(network.outputs(), [](const ValueInfo& info) {
    return info.type.StaticShape().has_value();
  });
}

/// The allocations of four calls behind two; none where the case declines.
std::optional<int64_t> WarmAllocations(const cases::TestCase& test_case) {
  const auto data = Got(cases::ReadCaseData(test_case.directory, 1));
  const auto& inputs = data.sets[0].inputs;
  auto loaded = Reference().Load(data.model, {});
  if (!loaded.ok()) return std::nullopt;
  Network& network = **loaded;
  auto first = network.Bind(inputs, {});
  if (!first.ok()) return std::nullopt;
  EXPECT_TRUE(network.Forward(**first).ok()) << test_case.test_id;
  std::vector<Value> outputs;
  if (HasStaticOutputs(network)) {
    outputs = Got(host::CopiesOf(std::as_const(**first).outputs()));
  }
  const auto binding = Got(network.Bind(inputs, outputs));
  EXPECT_TRUE(host::TimeRuns(network, *binding, {.samples = 2}).ok());
  return Got(host::TimeRuns(network, *binding, {.calls = 4, .counted = true}))
      .counts.allocations;
}

/// The operators whose warm calls allocate, at their greatest node case: owed.
const std::set<std::string> kOwed = {
    "DeformConv",
    "GRU",
    "If",
    "ImageDecoder",
    "LSTM",
    "Loop",
    "OptionalHasElement",
    "Scan",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
    "StringNormalizer",
    "StringSplit",
    "Unique",
    "Upsample",
};

// Kills: an allocation in a call that had none; an operator that is owed and
// allocates no more.
TEST(AllocationsTest, WarmCallsOfTheReferenceHaveNoneButThoseOwed) {
  const auto corpus = Got(cases::ReadCorpus(ASSAY_CORPUS));
  std::set<std::string> owed, allocating;
  int counted = 0;
  for (const cases::TestCase& test_case : CompareCases({&corpus, 1})) {
    if (test_case.tier != cases::Tier::kCi) continue;
    const auto allocations = WarmAllocations(test_case);
    if (!allocations.has_value()) continue;
    ++counted;
    if (kOwed.contains(test_case.op)) owed.insert(test_case.op);
    if (*allocations > 0) allocating.insert(test_case.op);
  }
  EXPECT_GT(counted, 150);
  EXPECT_THAT(allocating, testing::ContainerEq(owed));
}

}  // namespace
}  // namespace assay::times
