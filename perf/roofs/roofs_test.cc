// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/roofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::roofs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<machine::Cache> kTwoCaches = {{1, 1 << 15, 1},
                                                {2, 1 << 30, 1}};
const RoofName kFloats = {kCompute, "float32", 1};

/// Each roof measured is one higher than the one before.
struct Growing {
  double next = 100;
  Roofs roofs{kTwoCaches, [this](const RoofName& name, const Level* level) {
                Roof roof = {.name = name};
                roof.rate = Rate{next, {next - 1, next + 1}, 9};
                roof.bytes = level == nullptr ? 0 : level->probed;
                ++next;
                return roof;
              }};
};

std::vector<std::string> MomentsOf(Roofs& roofs) {
  std::vector<std::string> moments;
  for (const Roof& roof : roofs.TakeNew()) {
    moments.push_back(roof.name.level + " " + roof.moment);
  }
  return moments;
}

// Kills: a roof that is measured at each ask, or with another level's bytes.
TEST(RoofsTest, EachIsMeasuredAtTheFirstAsk) {
  Growing made;
  EXPECT_THAT(MomentsOf(made.roofs), IsEmpty());
  EXPECT_EQ(made.roofs.Of(kFloats).rate->median, 100);
  EXPECT_EQ(made.roofs.Of({"L1", "", 1}).bytes, 1 << 14);
  EXPECT_EQ(made.roofs.Of(kFloats).rate->median, 100);
  EXPECT_EQ(made.roofs.Of({kCompute, "float32", 2}).rate->median, 102);
  EXPECT_THAT(MomentsOf(made.roofs),
              ElementsAre("compute start", "L1 start", "compute start"));
  EXPECT_THAT(MomentsOf(made.roofs), IsEmpty());
}

// Kills: a second measure that lowers a roof, or is not kept where it is
// higher.
TEST(RoofsTest, OfTwoTheGreaterStays) {
  Growing made;
  made.roofs.Of(kFloats);
  made.next = 90;
  EXPECT_EQ(made.roofs.Again(kFloats).rate->median, 100);
  made.next = 110;
  EXPECT_EQ(made.roofs.Again(kFloats).rate->median, 110);
  EXPECT_EQ(made.roofs.Of(kFloats).rate->median, 110);
  EXPECT_THAT(MomentsOf(made.roofs),
              ElementsAre("compute start", "compute again", "compute again"));
}

// Kills: a later roof that nobody uses, one that nobody asked for.
TEST(RoofsTest, LaterTheLastIsInForce) {
  Growing made;
  made.roofs.MeasureAll("middle");
  EXPECT_THAT(MomentsOf(made.roofs), IsEmpty());
  made.roofs.Of(kFloats);
  made.roofs.Of({"L1", "", 1});
  made.roofs.TakeNew();
  made.next = 50;
  made.roofs.MeasureAll("end");
  EXPECT_THAT(MomentsOf(made.roofs), ElementsAre("L1 end", "compute end"));
  EXPECT_LT(made.roofs.Of(kFloats).rate->median, 60);
}

// Kills: a number for a level that is not measured.
TEST(RoofsTest, ALevelWithoutARoofSaysWhy) {
  Growing made;
  const Roof& memory = made.roofs.Of({"memory", "", 1});
  EXPECT_FALSE(memory.rate.has_value());
  EXPECT_THAT(memory.none, HasSubstr("four times the last cache"));
  const Roof& other = made.roofs.Of({"L9", "", 1});
  EXPECT_FALSE(other.rate.has_value());
  EXPECT_EQ(other.none, "this machine has no L9");
}

/// True where it was measured, but for a machine that others use.
bool IsMeasured(const Roof& roof) {
  if (!roof.rate.has_value()) return roof.none.ends_with("wanted six at least");
  EXPECT_GT(roof.rate->median, 0);
  EXPECT_LE(roof.rate->interval.low, roof.rate->interval.high);
  EXPECT_NE(roof.code, "");
  return roof.none.empty();
}

// Kills: a type or a level that has no loop here.
TEST(MeasureHereTest, MeasuresWhatThisMachineHas) {
  for (const char* const type : {"float32", "float64", "bfloat16"}) {
    const Roof roof = MeasureHere({kCompute, type, 1}, nullptr);
    EXPECT_TRUE(IsMeasured(roof)) << type << ": " << roof.none;
  }
  const Roof integers = MeasureHere({kCompute, "int64", 1}, nullptr);
  EXPECT_FALSE(integers.rate.has_value());
  EXPECT_EQ(integers.none, "no vector code here computes in int64");
  const auto levels = LevelsOf(kTwoCaches, 1);
  const Roof near = MeasureHere({"L1", "", 1}, &levels[0]);
  EXPECT_TRUE(IsMeasured(near)) << near.none;
  EXPECT_EQ(near.bytes, 1 << 14);
}

}  // namespace
}  // namespace assay::roofs
