// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/error_sums.h"

#include <vector>

#include "framework/testing/support/tensors_fixture.h"
#include "gtest/gtest.h"

namespace assay::metric {
namespace {

template <class Sum>
Errors ErrorsOf(const std::vector<double>& got,
                const std::vector<double>& want) {
  ErrorSums<Sum> sums;
  for (size_t i = 0; i < got.size(); ++i) {
    sums.Add(got[i], want[i], got[i] - want[i]);
  }
  return sums.Summarize();
}

TEST(ErrorSumsTest, NormsAreThoseOfTheFormulas) {
  using Numbers = std::vector<double>;
  struct Row {
    Numbers got, want;
    double min_diff, max_diff, max_abs;
    std::optional<double> max_rel;
    double rmse, rel_l2, cosine;
  };
  const std::vector<Row> rows = {
      {Numbers{3, 4}, Numbers{3, 4}, 0, 0, 0, 0, 0, 0, 1},
      {Numbers{0, 0}, Numbers{0, 0}, 0, 0, 0, 0, 0, 0, 1},
      // Signs: the larger difference is a negative one.
      {Numbers{-7, 4}, Numbers{-4, 3}, -3, 1, 3, 0.75, std::sqrt(5.0),
       std::sqrt(10.0) / 5, 40 / (std::sqrt(65.0) * 5)},
      {Numbers{1, 1}, Numbers{2, 2}, -1, -1, 1, 0.5, 1, 0.5, 1},
      {Numbers{-1, -1}, Numbers{2, 2}, -3, -3, 3, 1.5, 3, 1.5, -1},
      {Numbers{1, 0}, Numbers{0, 1}, -1, 1, 1, 1, 1, std::sqrt(2.0), 0},
      // Nothing is relative to zero.
      {Numbers{1, 2}, Numbers{0, 0}, 1, 2, 2, std::nullopt, std::sqrt(2.5),
       kInf, 0},
      {Numbers{1, 2.5}, Numbers{0, 2}, 0.5, 1, 1, 0.25, std::sqrt(0.625),
       std::sqrt(1.25) / 2, 5 / (std::sqrt(7.25) * 2)},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Errors errors = ErrorsOf<double>(row.got, row.want);
    EXPECT_EQ(errors.min_diff, row.min_diff) << i;
    EXPECT_EQ(errors.max_diff, row.max_diff) << i;
    EXPECT_EQ(errors.max_abs, row.max_abs) << i;
    EXPECT_EQ(errors.max_rel, row.max_rel) << i;
    EXPECT_DOUBLE_EQ(errors.rmse, row.rmse) << i;
    EXPECT_DOUBLE_EQ(errors.rel_l2, row.rel_l2) << i;
    EXPECT_DOUBLE_EQ(errors.cosine, row.cosine) << i;
  }
}

TEST(ErrorSumsTest, WideSumsHoldSquaresOfAnyDouble) {
  for (const double scale : {1e-200, 1.0, 1e200}) {
    const Errors errors = ErrorsOf<long double>({2 * scale, 0}, {scale, scale});
    EXPECT_DOUBLE_EQ(errors.rmse, scale) << scale;
    EXPECT_DOUBLE_EQ(errors.rel_l2, 1) << scale;
    EXPECT_DOUBLE_EQ(errors.cosine, std::sqrt(0.5)) << scale;
  }
}

}  // namespace
}  // namespace assay::metric
