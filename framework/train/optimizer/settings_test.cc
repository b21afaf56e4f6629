// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

enum class Where : uint8_t { kHere, kThere };
constexpr std::array<std::string_view, 2> kWords = {"here", "there"};

struct Some {
  double beta = 0.9;
  double limit = std::numeric_limits<double>::infinity();
  Where where = Where::kHere;

  Settings Named() {
    Settings settings;
    settings.Add("beta", &beta, {0, 1});
    settings.Add("limit", &limit);
    settings.Add("where", &where, kWords);
    return settings;
  }
};

TEST(SettingsTest, AreSetByName) {
  Some some;
  Settings settings = some.Named();
  ASSERT_TRUE(settings.SetAll(" beta=0.25  where=there limit=3e-5 ").ok());
  EXPECT_EQ(some.beta, 0.25);
  EXPECT_EQ(some.limit, 3e-5);
  EXPECT_EQ(some.where, Where::kThere);
}

// Kills: a number that is written with fewer digits than it has.
TEST(SettingsTest, ReadBackAsTheyAre) {
  Some some;
  some.beta = 0.1 + 0.2;
  Settings settings = some.Named();
  EXPECT_THAT(settings.Values(),
              ElementsAre(Pair("beta", "0.30000000000000004"),
                          Pair("limit", "inf"), Pair("where", "here")));
  for (const auto& [name, value] : settings.Values()) {
    EXPECT_TRUE(settings.Set(StrCat(name, "=", value)).ok()) << name;
  }
  EXPECT_EQ(some.beta, 0.1 + 0.2);
}

// Kills: a hyperparameter that is taken though it is wrong.
TEST(SettingsTest, SayWhatIsWrong) {
  struct Row {
    std::string_view assignment, message;
  };
  for (const Row& row : {
           Row{"bta=1", "found the setting 'bta', wanted beta, limit, where"},
           Row{"beta=1", "beta: found '1', wanted a number in [0, 1)"},
           Row{"beta=-0.1", "wanted a number in [0, 1)"},
           Row{"beta=nan", "found 'nan'"},
           Row{"beta=0.5x", "found '0.5x'"},
           Row{"beta", "found ''"},
           Row{"limit=-1", "wanted a number in [0, inf)"},
           Row{"where=away", "where: found 'away', wanted here or there"},
       }) {
    Some some;
    const Status status = some.Named().SetAll(row.assignment);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.assignment;
    EXPECT_THAT(status.message(), HasSubstr(row.message));
    EXPECT_EQ(some.beta, 0.9) << "is as it was";
  }
}

}  // namespace
}  // namespace assay::train
