// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::gradcheck {
namespace {

using testing::Each;
using testing::ElementsAreArray;

const std::vector<Shape> kShapes = {{2, 3}, {4}, {}};
const std::vector<int> kBits = {20, 0, 8};

std::vector<Value> Of(Cotangent kind, int64_t seed = 1,
                      const std::vector<int>& bits = kBits) {
  return Got(CotangentsOf(kind, bits, kShapes,
                          Draw("gradcheck/A/b", seed, ToString(kind))));
}

std::vector<double> Flat(const std::vector<Value>& values) {
  std::vector<double> all;
  for (const Value& value : values) {
    if (!value.present()) continue;
    const auto elements = value.tensor()->elements<double>();
    all.insert(all.end(), elements.begin(), elements.end());
  }
  return all;
}

// Kills: a cotangent for an output that carries none, or of another shape.
TEST(CotangentsOf, HaveTheShapesOfWhatCarriesThem) {
  for (const Cotangent kind : kCotangents) {
    const auto dy = Of(kind);
    ASSERT_EQ(dy.size(), 3U);
    EXPECT_FALSE(dy[1].present());
    for (const size_t i : {0U, 2U}) {
      EXPECT_EQ(dy[i].tensor()->dtype(), DType::kFloat64);
      EXPECT_EQ(dy[i].tensor()->shape(), kShapes[i]);
    }
    for (const Value& value : Of(kind, 1, {0, 0, 0})) {
      EXPECT_FALSE(value.present());
    }
  }
}

// Kills: two kinds that are one, and a zero that hides an element.
TEST(CotangentsOf, AreOfFourKinds) {
  const auto first = Flat(Of(Cotangent::kFirst));
  const auto second = Flat(Of(Cotangent::kSecond));
  EXPECT_NE(first, second);
  EXPECT_THAT(Flat(Of(Cotangent::kFirst)), ElementsAreArray(first));
  EXPECT_NE(Flat(Of(Cotangent::kFirst, 2)), first);
  for (const auto& drawn : {first, second}) {
    EXPECT_THAT(drawn, Each(testing::Not(testing::DoubleNear(0, 0.99))));
  }
  EXPECT_THAT(Flat(Of(Cotangent::kOnes)), Each(1));
  std::set<std::string_view> names;
  for (const Cotangent kind : kCotangents) names.insert(ToString(kind));
  EXPECT_EQ(names.size(), kCotangents.size());
}

// Kills: a one in each output, none at all, and an element that is never it.
TEST(CotangentsOf, OneHotIsOneElementOfAll) {
  std::set<std::ptrdiff_t> places;
  for (int64_t seed = 0; seed < 200; ++seed) {
    const auto hot = Flat(Of(Cotangent::kOneHot, seed));
    EXPECT_EQ(std::accumulate(hot.begin(), hot.end(), 0.0), 1);
    EXPECT_EQ(std::ranges::count(hot, 1), 1);
    places.insert(std::ranges::find(hot, 1) - hot.begin());
  }
  EXPECT_EQ(places.size(), 7U);
}

// Kills: a direction in which an element counts less than another.
TEST(TangentsOf, AreSignsOfEveryShape) {
  const auto tangents =
      Got(TangentsOf(kShapes, Draw("gradcheck/A/b", 1, "tangents")));
  ASSERT_EQ(tangents.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tangents[i].tensor()->shape(), kShapes[i]);
  }
  const auto signs = Flat(tangents);
  EXPECT_THAT(signs, Each(testing::AnyOf(1, -1)));
  EXPECT_THAT(signs,
              testing::AllOf(testing::Contains(1), testing::Contains(-1)));
}

// Kills: an answer that was lost, as on a full disk, taken for one that the
// oracle declined to give.
TEST(ReadGradientAnswersTest, SaysWhyThereAreNone) {
  const struct {
    std::optional<record::Outcome> outcome;
    StatusCode code;
    const char* says;
  } rows[] = {
      {std::nullopt, StatusCode::kNotFound, "the oracle was not asked"},
      {record::Outcome::kUnsupported, StatusCode::kUnsupported,
       "the oracle declined: words of the oracle"},
      {record::Outcome::kError, StatusCode::kDataLoss,
       "the oracle ended with error: words of the oracle"},
      {record::Outcome::kTimeout, StatusCode::kDataLoss,
       "the oracle ended with timeout: words of the oracle"},
  };
  for (const auto& row : rows) {
    GradientCase planned;
    planned.row.oracle_outcome = row.outcome;
    planned.row.oracle_message = "words of the oracle";
    const Status status = ReadGradientAnswers(planned).status();
    EXPECT_THAT(status, IsStatus(row.code, row.says)) << status.ToString();
  }
}

TEST(CoarseTest, RoundsUpByAHundredthAtMost) {
  std::vector<double> numbers = {0, -0.0, 1, 255, 256, 257, 3e38, 0x1p-126};
  numbers.push_back(kInf);
  Draw draw("Coarse", 0, "test");
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(draw.Uniform() * (i % 2 == 0 ? 1 : 1e-30));
  }
  const Tensor coarse = Coarse(Doubles(numbers)).value();
  ASSERT_EQ(coarse.dtype(), DType::kBFloat16);
  const std::vector<double> found = NumbersOf(coarse);
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_GE(found[i], numbers[i]) << i;
    EXPECT_LE(found[i], kCoarsest * numbers[i]) << i;
  }
}

TEST(CoarseTest, KeepsNumbersOfFewDigits) {
  const std::vector<double> numbers = {0, 1, 3, 127, 255, 0x1.FEp-9, kInf};
  EXPECT_EQ(NumbersOf(Coarse(Doubles(numbers)).value()), numbers);
}

// Where one number is out of range all stay: below the normal numbers of
// bfloat16, beyond its greatest, or none at all.
TEST(CoarseTest, KeepsWhatTheTypeHasNot) {
  for (const double x : std::vector<double>{0x1p-127, 5e-324, 3.4e38, 1e300,
                                            0x1.fffffffffffffp1023, kNan}) {
    const Tensor kept = Coarse(Doubles({1.001, x})).value();
    ASSERT_EQ(kept.dtype(), DType::kFloat64) << x;
    EXPECT_EQ(kept.elements<double>()[0], 1.001) << x;
  }
}

}  // namespace
}  // namespace assay::gradcheck
