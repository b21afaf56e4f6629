// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/efficiency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace assay::roofs {
namespace {

using testing::HasSubstr;

/// A machine of 100 GFLOP/s, 200 GB/s in L1, 50 GB/s in L2 and 10 GB/s of
/// memory, each known to a tenth, that counts how often each is measured.
struct MadeUpMachine {
  std::map<std::string, double> rates = {
      {kCompute, 100}, {"L1", 200}, {"L2", 50}, {"memory", 10}};
  std::map<std::string, int> measured = {};
  Roofs roofs{{{1, 1'000, 1}, {2, 10'000, 1}},
              [this](const RoofName& name, const Level*) {
                ++measured[name.level];
                Roof roof = {.name = name};
                if (name.level == kCompute && name.type != "float32") {
                  roof.none = "no roof of " + name.type;
                  return roof;
                }
                const double rate = rates[name.level];
                roof.rate = Rate{rate, {0.9 * rate, 1.1 * rate}, 9};
                return roof;
              }};
};

struct EfficiencyRow {
  const char* what;
  CallWork call;
  std::optional<double> peak_gflop_s, peak_gb_s, roof_frac;
  std::string bound;
};

// Kills: the farther roof for the nearer, a roof of another level, a number
// where there is no roof.
TEST(EfficiencyOfTest, TheNearerRoofIsTheBound) {
  const std::vector<EfficiencyRow> rows = {
      {"much arithmetic",
       {.ns = 10,
        .flops = 500,
        .bytes = 100,
        .working_set = 100,
        .type = "float32"},
       100,
       200,
       0.5,
       "compute"},
      {"many bytes",
       {.ns = 10,
        .flops = 100,
        .bytes = 1'000,
        .working_set = 1'000,
        .type = "float32"},
       100,
       200,
       0.5,
       "L1"},
      {"the same in the next cache",
       {.ns = 100,
        .flops = 100,
        .bytes = 2'000,
        .working_set = 2'000,
        .type = "float32"},
       100,
       50,
       0.4,
       "L2"},
      {"beyond four times the last cache",
       {.ns = 10'000,
        .flops = 1,
        .bytes = 50'000,
        .working_set = 50'000,
        .type = "float32"},
       100,
       10,
       0.5,
       "memory"},
      {"partly in the last cache: arithmetic alone",
       {.ns = 10'000,
        .flops = 100'000,
        .bytes = 20'000,
        .working_set = 20'000,
        .type = "float32"},
       100,
       {},
       0.1,
       "compute"},
      {"no arithmetic at all",
       {.ns = 10, .bytes = 100, .working_set = 100, .type = "int64"},
       {},
       200,
       0.05,
       "L1"},
      {"arithmetic without a roof",
       {.ns = 10,
        .flops = 500,
        .bytes = 100,
        .working_set = 100,
        .type = "int64"},
       {},
       200,
       0.05,
       "L1"},
      {"no roof at all",
       {.ns = 10,
        .flops = 500,
        .bytes = 20'000,
        .working_set = 20'000,
        .type = "int64"},
       {},
       {},
       {},
       "no roof of int64; 20000 bytes lie in the last cache in part"},
  };
  for (const EfficiencyRow& row : rows) {
    MadeUpMachine made;
    const Efficiency near = EfficiencyOf(row.call, &made.roofs);
    EXPECT_EQ(near.peak_gflop_s, row.peak_gflop_s) << row.what;
    EXPECT_EQ(near.peak_gb_s, row.peak_gb_s) << row.what;
    EXPECT_EQ(near.roof_frac, row.roof_frac) << row.what;
    EXPECT_EQ(near.bound, row.bound) << row.what;
  }
}

/// 1050 operations in so many ns, and next to no bytes.
CallWork Computing(double ns) {
  return {.ns = ns,
          .flops = 1'050,
          .bytes = 1,
          .working_set = 1,
          .type = "float32"};
}

// Kills: a rate within the interval that is above, a second measure that
// nobody makes, and one that is made for a rate below.
TEST(EfficiencyOfTest, WhatIsAboveIsMeasuredAgain) {
  MadeUpMachine made;
  // 105 GFLOP/s beside 90 to 110.
  EXPECT_DOUBLE_EQ(*EfficiencyOf(Computing(10), &made.roofs).roof_frac, 1.05);
  EXPECT_EQ(made.measured[kCompute], 1);
  // 131 GFLOP/s, where the machine does 130 now.
  made.rates[kCompute] = 130;
  const Efficiency again = EfficiencyOf(Computing(8), &made.roofs);
  EXPECT_EQ(made.measured[kCompute], 2);
  EXPECT_EQ(again.peak_gflop_s, 130);
  EXPECT_EQ(again.bound, "compute");
  EXPECT_NEAR(again.roof_frac.value_or(0), 131.25 / 130, 1e-9);
}

// Kills: an efficiency above one that is believed, a roof that is lost.
TEST(EfficiencyOfTest, WhatStaysAboveIsUndecidedWithBothNumbers) {
  MadeUpMachine made;
  const Efficiency near = EfficiencyOf(Computing(5), &made.roofs);
  EXPECT_EQ(made.measured[kCompute], 2);
  EXPECT_EQ(near.peak_gflop_s, 100);
  EXPECT_EQ(near.peak_gb_s, 200);
  EXPECT_FALSE(near.roof_frac.has_value());
  EXPECT_EQ(near.bound,
            "undecided: 210 GFLOP/s is above the roof compute of 100, "
            "measured twice");
  const Efficiency bytes =
      EfficiencyOf({.ns = 1, .bytes = 500, .working_set = 500}, &made.roofs);
  EXPECT_FALSE(bytes.roof_frac.has_value());
  EXPECT_THAT(bytes.bound, HasSubstr("500 GB/s is above the roof L1 of 200"));
}

TEST(EfficiencyOfTest, AMachineOfUnknownCachesHasNoRoofOfBytes) {
  Roofs roofs({}, [](const RoofName& name, const Level*) {
    return Roof{.name = name};
  });
  const CallWork call = {.ns = 1, .bytes = 5, .working_set = 5};
  EXPECT_EQ(EfficiencyOf(call, &roofs).bound,
            "no cache of this machine is known");
}

// Kills: the roof of a slower type, and one for a type without.
TEST(ComputeTypeOfTest, IsTheFastestOfThem) {
  struct Row {
    std::vector<DType> types;
    const char* name;
  };
  for (const auto& [types, name] :
       {Row{{DType::kFloat32, DType::kFloat32}, "float32"},
        Row{{DType::kInt64, DType::kFloat64}, "float64"},
        Row{{DType::kFloat64, DType::kFloat32, DType::kBool}, "float32"},
        Row{{DType::kFloat32, DType::kBFloat16}, "bfloat16"},
        Row{{DType::kFloat32, DType::kUint8}, "int8"},
        Row{{DType::kFloat32, DType::kFloat16}, "float16"},
        Row{{DType::kComplex64}, "complex64"},
        Row{{DType::kInt64, DType::kBool}, "int64"}, Row{{}, ""}}) {
    EXPECT_EQ(ComputeTypeOf(types), name);
  }
}

}  // namespace
}  // namespace assay::roofs
