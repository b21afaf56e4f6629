// SPDX-License-Identifier: Apache-2.0

#include "perf/times/roof_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/times/made_fixture.h"

namespace assay::times {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A machine with a level L1, of 100 in all; none of int64.
roofs::Roofs Hundreds() {
  return {{{1, 1 << 20, 1}},
          [](const roofs::RoofName& name, const roofs::Level* level) {
            roofs::Roof roof = {.name = name, .code = "loop"};
            if (level != nullptr) roof.bytes = level->probed;
            if (name.type == "int64") {
              roof.none = "none";
            } else {
              roof.rate = roofs::Rate{100, {90, 110}, 9};
            }
            return roof;
          }};
}

std::vector<RoofRow> RowsOf(roofs::Roofs* roofs) {
  record::Record record;
  AddRoofs(roofs, &record);
  return Got(record.Rows<RoofRow>());
}

// Kills: a rate in the other's column, a roof that is lost or written twice.
TEST(RoofRowsTest, EachRoofHasARow) {
  auto roofs = Hundreds();
  roofs.Of({roofs::kCompute, "float32", 2});
  roofs.Of({"L1", "", 1});
  roofs.Of({roofs::kCompute, "int64", 1});
  const auto rows = RowsOf(&roofs);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].gflop_s, 100);
  EXPECT_FALSE(rows[0].gb_s.has_value());
  EXPECT_EQ(rows[0].type, "float32");
  EXPECT_EQ(rows[0].threads, 2);
  EXPECT_EQ(rows[0].ci95_lo, 90);
  EXPECT_EQ(rows[0].ci95_hi, 110);
  EXPECT_EQ(rows[0].n_samples, 9);
  EXPECT_EQ(rows[0].code, "loop");
  EXPECT_EQ(rows[0].moment, "start");
  EXPECT_EQ(rows[1].gb_s, 100);
  EXPECT_FALSE(rows[1].gflop_s.has_value());
  EXPECT_EQ(rows[1].level, "L1");
  EXPECT_EQ(rows[1].bytes, 1 << 19);
  EXPECT_FALSE(rows[2].gflop_s.has_value());
  EXPECT_EQ(rows[2].none, "none");
  EXPECT_THAT(RowsOf(&roofs), IsEmpty());
}

// Kills: a run whose end or middle is not measured, or is so at each case.
TEST(RoofRowsTest, RoofsAreMeasuredInTheMiddleAndAtTheEnd) {
  const auto moments_of = [](int64_t count) {
    auto roofs = Hundreds();
    roofs.Of({"L1", "", 1});
    std::vector<std::string> moments;
    for (int64_t i = 0; i < count; ++i) {
      MeasureAt({.index = i, .count = count}, &roofs);
      for (const RoofRow& row : RowsOf(&roofs)) {
        moments.push_back(StrCat(i, " ", row.moment));
      }
    }
    return moments;
  };
  EXPECT_THAT(moments_of(1), ElementsAre("0 start"));
  EXPECT_THAT(moments_of(2), ElementsAre("0 start", "1 end"));
  EXPECT_THAT(moments_of(3), ElementsAre("0 start", "1 middle", "2 end"));
  EXPECT_THAT(moments_of(9), ElementsAre("0 start", "4 middle", "8 end"));
}

// Kills: rows without their roofs, those of other phases with some.
TEST(RoofRowsTest, CallsStandBesideTheirRoofs) {
  auto backend = MadeOf(Negate);
  auto roofs = Hundreds();
  times::Times times;
  times.verdict = JudgeSubject(NegativesOf(), backend, FactsOf(0.1), 1,
                               {&roofs, [](const Meanwhile&) { return false; }},
                               &times.record);
  ASSERT_EQ(times.verdict.outcome, record::Outcome::kPass);
  const TimeRow warm = times.Of("warm");
  EXPECT_EQ(warm.peak_gb_s, 100);
  EXPECT_EQ(warm.peak_gflop_s, 100);
  EXPECT_EQ(warm.bound, "L1");
  EXPECT_NEAR(warm.roof_frac.value_or(0) * 100 / *warm.gb_s, 1, kFiveDigits);
  const TimeRow cold = times.Of("cold");
  EXPECT_FALSE(cold.peak_gb_s == 100 && cold.bound == "L1")
      << "written over, and yet in the nearest cache";
  EXPECT_FALSE(times.Of("load").peak_gb_s.has_value());
}

}  // namespace
}  // namespace assay::times
