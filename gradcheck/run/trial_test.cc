// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/run/trial.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "framework/graph/model_text.h"
#include "gradcheck/structure/network_fixture.h"

namespace assay::gradcheck {
namespace {

// Kills: a claim that is taken at its word where numbers are stored between the
// nodes of a function's body.
TEST(Trial, SumsInTheClaimedTypeWhereOneNodeRuns) {
  suite::Subject subject;
  subject.model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Mish(x) }");
  subject.inputs = {{*Tensor::Of<float>({2}, std::vector<float>{1, 2})}};
  subject.targets = {"x"};
  const struct {
    bool as_function;
    std::string_view claimed;
    DType sums;
  } rows[] = {{false, "float64", DType::kFloat64},
              {false, "", DType::kFloat32},
              {true, "float64", DType::kFloat32}};
  for (const auto& row : rows) {
    SquareBackend backend({.as_function = row.as_function});
    const auto trial = Trial::Load(backend, subject);
    ASSERT_TRUE(trial.ok()) << trial.status().ToString();
    GradientCase planned;
    planned.row.accumulator = row.claimed;
    EXPECT_EQ(trial->Accumulator(planned), row.sums)
        << row.claimed << " " << row.as_function;
  }
}

}  // namespace
}  // namespace assay::gradcheck
