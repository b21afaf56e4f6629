// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/callgrind.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/core/text.h"

namespace assay::overhead {
namespace {

/// A part of callgrind's file as valgrind 3.19 writes it.
std::string Part(const std::string& trigger, const std::string& total) {
  return StrCat(
      "part: 1\n\n\ndesc: I1 cache: \ndesc: Timerange: Basic block 0 "
      "- 5\ndesc: Trigger: ",
      trigger, "\n\npositions: line\nevents: Ir\nsummary: ", total,
      "\n\n\nob=(1) program\nfl=(1) a.cc\nfn=(1) f\n5 1\ntotals: ", total,
      "\n\n");
}

std::string FileOf(const std::vector<int64_t>& totals) {
  std::string text = "# callgrind format\nversion: 1\ncreator: callgrind\n";
  for (const int64_t total : totals) {
    text += Part("--dump-after=assay_counted_calls", StrCat(total));
  }
  return text + Part("Program termination", "7");
}

// Kills: counts of other parts, of another pair or side, of a lesser number of
// calls, and of the frame around the calls.
TEST(ReadInstructions, AreThoseOfACall) {
  const auto read = ReadInstructions(
      FileOf({450, 850, 1030, 2030, 25, 45, 25, 46}), /*pairs=*/2);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].native, 100);
  EXPECT_EQ((*read)[0].framework, 250);
  EXPECT_EQ((*read)[1].native, 5);
  EXPECT_EQ((*read)[1].framework, 5);  // 5.25
}

// Kills: a file of other pairs, or one that is no measurement.
TEST(ReadInstructions, RefuseWhatIsNotOfThePairs) {
  const struct {
    std::string text;
    std::string want;
  } kRows[] = {
      {FileOf({450, 850, 1030}),
       "found 3 counts of callgrind, wanted 4, 4 of each of 1 pairs"},
      {"", "found 0 counts of callgrind, wanted 4, 4 of each of 1 pairs"},
      {FileOf({450, 850, 1030, 1030}),
       "found 1030 instructions of 8 calls and 1030 of 4, wanted more of more "
       "calls"},
      {FileOf({0, 850, 1030, 2030}),
       "found the total '0', wanted a number above 0"},
  };
  for (const auto& row : kRows) {
    const Status status = ReadInstructions(row.text, /*pairs=*/1).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status.message(), row.want);
  }
}

// Kills: calls in another order or number than they are read in, and a first
// call that is counted.
TEST(MakeCountedCalls, MakesBothNumbersOfEachSide) {
  std::vector<std::pair<std::string, int64_t>> made;
  const auto notes = [&made](const char* side) {
    return [&made, side](int64_t calls) {
      made.emplace_back(side, calls);
      return OkStatus();
    };
  };
  Pair pair = {.test_id = "overhead/Relu/4",
               .backend = "some",
               .settings = "",
               .native = notes("native"),
               .framework = notes("framework")};
  ASSERT_TRUE(MakeCountedCalls({&pair, 1}).ok());
  const std::vector<std::pair<std::string, int64_t>> want = {
      {"native", 8},    {"native", 4},    {"native", 8},
      {"framework", 8}, {"framework", 4}, {"framework", 8}};
  EXPECT_EQ(made, want);
  pair.framework = [](int64_t calls) {
    return calls == 4 ? Internal("no") : OkStatus();
  };
  EXPECT_EQ(MakeCountedCalls({&pair, 1}).message(),
            "overhead/Relu/4 on some failed where it is counted");
}

}  // namespace
}  // namespace assay::overhead
