// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

// Labels 2, 0 and 1 of three samples, the last of which -100 may replace.
const Feed kLogProbs = F({3, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9});
const Feed kLabels = I({3}, {2, 0, 1});
const Feed kIgnoring = I({3}, {2, 0, -100});
const Feed kWeights = F({3}, {0.5, 2, 1});

Row Likelihood(const std::string& node, const std::vector<Feed>& feeds,
               const Feed& wanted) {
  return {"g (" + Declare("x t w", feeds) + ") => (" + Declare("y", {wanted}) +
              ") { y = NegativeLogLikelihoodLoss" + node + " }",
          feeds,
          {wanted}};
}

TEST(LossesTest, LikelihoodsAreWeightedIgnoredAndReduced) {
  struct Case {
    std::string reduction;
    Feed labels;
    bool weighted;
    Feed wanted;
  };
  for (const Case& c :
       std::vector<Case>{{"none", kLabels, false, F({3}, {3, 4, 8})},
                         {"sum", kLabels, false, F({}, {15})},
                         {"mean", kLabels, false, F({}, {5})},
                         {"none", kLabels, true, F({3}, {3, 2, 16})},
                         {"sum", kLabels, true, F({}, {21})},
                         {"mean", kLabels, true, F({}, {6})},
                         {"none", kIgnoring, false, F({3}, {3, 4, 0})},
                         {"mean", kIgnoring, false, F({}, {3.5})},
                         {"sum", kIgnoring, true, F({}, {5})},
                         {"mean", kIgnoring, true, F({}, {5 / 1.5})},
                         {"mean", I({3}, {-100, -100, -100}), false,
                          F({}, {std::nan("")})}}) {
    ExpectRows({Likelihood("<reduction = \"" + c.reduction +
                               "\", ignore_index = -100>" +
                               (c.weighted ? "(x, t, w)" : "(x, t)"),
                           {kLogProbs, c.labels, kWeights}, c.wanted)});
  }
}

TEST(LossesTest, ClassesAreTheSecondOfManyAxes) {
  ExpectRows({Likelihood("<reduction = \"none\">(x, t)",
                         {F({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                          I({2, 1, 2}, {0, 1, 1, 0}), kWeights},
                         F({2, 1, 2}, {-1, -4, -7, -6}))});
}

TEST(LossesTest, CrossEntropyIsTheLikelihoodOfTheLogSoftmax) {
  // Exponentials of 1 and 3 to 4, of 1 and 1 to 2.
  const double log3 = std::log(3.0), log4 = std::log(4.0), log2 = std::log(2.0);
  const Feed x = F({2, 2}, {0, log3, 90, 90});
  const Feed p = F({2, 2}, {-log4, log3 - log4, -log2, -log2});
  struct Case {
    std::string attributes;
    Feed labels;
    Feed wanted;
  };
  for (const Case& c : std::vector<Case>{
           {"<reduction = \"none\">", I({2}, {0, 1}), F({2}, {log4, log2})},
           {"", I({2}, {0, 1}), F({}, {(log4 + log2) / 2})},
           {"<ignore_index = 7>", I({2}, {0, 7}), F({}, {log4})}}) {
    ExpectRows(
        {{"g (" + Declare("x t", {x, c.labels}) + ") => (" +
              Declare("y p", {c.wanted, p}) +
              ") { y, p = SoftmaxCrossEntropyLoss" + c.attributes + "(x, t) }",
          {x, c.labels},
          {c.wanted, p}}});
  }
}

TEST(LossesTest, CrossEntropyIsRoundedOnce) {
  // 3 log(3) is 3.29584, between 3.294921875 and 3.296875; from a log(3) that
  // was rounded before, it would be the latter.
  const Feed x = {DType::kFloat16, {3, 3}, std::vector<double>(9, 0)};
  ExpectRows({Of("SoftmaxCrossEntropyLoss<reduction = \"sum\">(x, t)",
                 {x, kLabels}, {{DType::kFloat16, {}, {3.294921875}}})});
}

TEST(LossesTest, WhatDoesNotGoTogetherIsNamed) {
  struct Case {
    std::string node;
    Feed x;
    Feed labels;
    std::string message;
  };
  const std::string plain = "(x, t)";
  for (const Case& c : std::vector<Case>{
           {plain, kLogProbs, I({2}, {0, 1}),
            "input target of shape [2], wanted [3]"},
           {plain, kLogProbs, kIgnoring,
            "input target has the value -100, wanted one in [0, 3)"},
           {plain, kLogProbs, I({3}, {0, 1, 3}),
            "input target has the value 3, wanted one in [0, 3)"},
           {"(x, t, w)", F({1, 2}, {1, 2}), I({1}, {0}),
            "input weight of shape [3], wanted [2]"},
           {"<reduction = \"most\">(x, t)", kLogProbs, kLabels,
            "reduction is 'most', wanted none, sum or mean"}}) {
    const Row row = Likelihood(c.node, {c.x, c.labels, kWeights}, F({}, {0}));
    ExpectRefusals({{row.graph, row.feeds, StatusCode::kInvalidArgument,
                     "NegativeLogLikelihoodLoss: " + c.message}});
  }
}

}  // namespace
}  // namespace assay::reference
