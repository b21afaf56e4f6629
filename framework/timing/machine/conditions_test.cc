// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/machine/conditions.h"

#include <gtest/gtest.h>

#include "framework/file/scratch_folder.h"

namespace assay::machine {
namespace {

// Kills: another number of the line than the eighth, that of one processor, and
// an error where the kernel tells none.
TEST(StealTicks, AreThoseOfAllProcessors) {
  const struct {
    std::string_view text;
    std::optional<int64_t> want;
  } kRows[] = {
      {"cpu  58833 0 9658 23996 613 0 111 84 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
       84},
      {"cpu0 1 2 3 4 5 6 7 8 9 10\ncpu  1 0 2 3 4 0 5 6\n", 6},
      {"cpu  1 2 3 4 5 6 7\n", {}},
      {"cpu  1 2 3 4 5 6 7 many\n", {}},
      {"intr 1 2 3 4 5 6 7 8\n", {}},
      {"", {}},
  };
  for (const auto& row : kRows) EXPECT_EQ(StealTicks(row.text), row.want);
}

// Kills: the line "full", an average in place of the total, and an error where
// the kernel tells none.
TEST(StalledMicroseconds, AreTheTotalOfSome) {
  const struct {
    std::string_view text;
    std::optional<int64_t> want;
  } kRows[] = {
      {"some avg10=1.76 avg60=3.35 avg300=2.61 total=16377501\n"
       "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
       16377501},
      {"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", {}},
      {"some avg10=1.76 avg60=3.35\n", {}},
      {"some total=x\n", {}},
      {"", {}},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(StalledMicroseconds(row.text), row.want);
  }
}

// Kills: memory that is free alone, kilobytes for bytes.
TEST(AvailableBytes, AreThoseThatMayBeAskedFor) {
  EXPECT_EQ(AvailableBytes("MemTotal: 9 kB\nMemFree:  1 kB\n"
                           "MemAvailable:    4 kB\n"),
            4096);
  EXPECT_EQ(AvailableBytes("MemTotal: 9 kB\n"), std::nullopt);
  EXPECT_EQ(AvailableBytes("MemAvailable: many kB\n"), std::nullopt);
}

// Kills: a file that is not read, another number of it, the first zone in place
// of the hottest, and an error where a file is missing.
TEST(ConditionsOf, AreReadBelowTheRoot) {
  const file::ScratchFolder root;
  const Conditions nothing = ConditionsOf(root.path());
  EXPECT_FALSE(nothing.steal_ticks || nothing.stalled_us || nothing.load1 ||
               nothing.celsius);
  root.Write("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\n");
  root.Write("proc/pressure/cpu", "some avg10=0.00 total=12\n");
  root.Write("proc/loadavg", "2.13 1.47 0.67 3/107 8908\n");
  root.Write("sys/class/thermal/thermal_zone0/temp", "41000\n");
  root.Write("sys/class/thermal/thermal_zone1/temp", "55500\n");
  root.Write("sys/class/thermal/thermal_zone2/temp", "27800\n");
  root.Write("sys/class/thermal/cooling_device0/cur_state", "90000\n");
  const Conditions all = ConditionsOf(root.path());
  EXPECT_EQ(all.steal_ticks, 8);
  EXPECT_EQ(all.stalled_us, 12);
  EXPECT_EQ(all.load1, 2.13);
  EXPECT_EQ(all.celsius, 55.5);
}

// Kills: numbers since the machine started, in another unit, or of one end.
TEST(DisturbanceOf, IsTheGrowthInTheInterval) {
  const Conditions before = {.steal_ticks = 100, .stalled_us = 5'000'000};
  const Conditions after = {.steal_ticks = 130, .stalled_us = 5'200'000};
  const Disturbance d = DisturbanceOf(before, after, 2'000'000'000);
  EXPECT_EQ(d.elapsed_ns, 2'000'000'000);
  EXPECT_EQ(d.steal_ticks, 30);
  EXPECT_DOUBLE_EQ(d.psi_cpu_some_pct.value(), 10);
  for (const auto& half :
       {DisturbanceOf({}, after, 1), DisturbanceOf(before, {}, 1)}) {
    EXPECT_EQ(half.steal_ticks, std::nullopt);
    EXPECT_EQ(half.psi_cpu_some_pct, std::nullopt);
  }
}

// Kills: a loss that an interruption does not show in, one over another loop
// than the fastest, time between loops, and loops that are there to warm up.
TEST(SpinLoss, IsThatOfTheMeanOverTheFastest) {
  int64_t now = 0;
  int64_t reads = 0;
  // From the 200th loop on one takes 101,000, one 800, and the others 1,000.
  const double loss = SpinLoss([&] {
    const int64_t loop = reads / 2;
    if (reads++ % 2 == 1) {
      now += loop < 200    ? 700
             : loop == 300 ? 101'000
             : loop == 350 ? 800
                           : 1'000;
    } else {
      now += 500'000;  // between loops
    }
    return now;
  });
  EXPECT_EQ(reads, 800);
  EXPECT_DOUBLE_EQ(loss, 1'499.0 / 800 - 1);
  EXPECT_EQ(SpinLoss([] { return 5; }), 0);
  EXPECT_GE(SpinLoss(timing::SteadyNow), 0);
}

// Kills: a limit that is not asked, that itself is noise, or a number that is
// not known and makes noise.
TEST(NoiseOf, SaysWhatIsBeyondItsLimit) {
  constexpr int64_t kSecond = 1'000'000'000;
  const struct {
    Disturbance disturbance;
    double loss;
    std::string want;
  } kRows[] = {
      {{kSecond}, 0.05, ""},
      {{kSecond, 1, 5.0}, 0, ""},
      {{kSecond}, 0.06, "loops lose 6 %"},
      {{2 * kSecond, 7}, 0, "steal 3.5 %"},
      {{kSecond, 0, 5.5}, 0, "pressure 5.5 %"},
      {{kSecond, 2, 50.0}, 1, "loops lose 100 %, steal 2 %, pressure 50 %"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(NoiseOf(row.disturbance, row.loss, {}), row.want);
  }
  EXPECT_EQ(NoiseOf({kSecond, 2, 50.0}, 0.1,
                    {.spin_loss = 1, .steal_pct = 2, .psi_cpu_some_pct = 50}),
            "");
}

}  // namespace
}  // namespace assay::machine
