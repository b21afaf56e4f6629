// SPDX-License-Identifier: Apache-2.0
//
// A backend that crashes at about one model in twenty, told by a hash of its
// bytes: all others keep their verdicts. What a crash costs is printed.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "ctest/trial/hostile/assay_run.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"

namespace assay::hostile {
namespace {

constexpr const char* kPicked = "by its hash";

struct Whole {
  CaseVerdicts verdicts;
  double seconds = 0;
};

Whole RunWhole(const std::string& setting) {
  const file::ScratchFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  AssayRun run(folder.path(), {"run", "--backend", ModuleOf("echo") + setting,
                               "--corpus", "onnx", "--jobs", "1", "--repeats",
                               "0", "--no-report", "--out", "run"});
  EXPECT_EQ(run.Wait(), 1) << run.Output();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(run.Leftovers().empty());
  return {VerdictsOf(folder.path() / "run"), took.count()};
}

TEST(CrashTest, AHundredCrashesAmongAllCasesChangeNoOtherVerdict) {
  // The same models, declined in one run and met with a crash in the other.
  const Whole declined = RunWhole("+decline_share=20");
  const Whole crashed = RunWhole("+crash_share=20");
  ASSERT_EQ(declined.verdicts.size(), 2036U);
  ASSERT_EQ(crashed.verdicts.size(), 2036U);
  int crashes = 0;
  for (const auto& [key, verdict] : declined.verdicts) {
    const CaseVerdict& other =
        crashed.verdicts.at({"echo+crash_share=20", key.second});
    if (verdict.message == kPicked) {
      ++crashes;
      EXPECT_EQ(other.outcome, "crash") << key.second << other.message;
    } else {
      EXPECT_EQ(other, verdict)
          << key.second << ": " << other.outcome << " " << other.message;
    }
  }
  EXPECT_GE(crashes, 80);
  EXPECT_LE(crashes, 130);
  std::printf("perf: %d crashes among %zu cases, %.1f s, %.1f ms for a crash\n",
              crashes, crashed.verdicts.size(), crashed.seconds,
              (crashed.seconds - declined.seconds) * 1e3 / crashes);
}

}  // namespace
}  // namespace assay::hostile
