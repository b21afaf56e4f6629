// SPDX-License-Identifier: Apache-2.0
//
// Linear models and support vector machines of ai.onnx.ml. Their pages give
// attributes and no formula but LinearRegressor's; the transforms of scores
// have names only. Where a row does not name a page it is ONNX's reference
// implementation, aionnxml. Numbers are such that every order and width of the
// sums gives the same.

#include <cmath>

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

constexpr double kFewRoundings = 0x1p-19;
constexpr std::string_view kFewRoundingsReason =
    "a logarithm, an exponential or roots, in float32";

// sqrt(2) times Winitzki's inverse of the error function, a = 0.147, at 2 p
// - 1.
double Probit(double p) {
  const double log_gap = std::log(4 * p * (1 - p));
  const double term = 2 / (std::acos(-1.0) * 0.147) + log_gap / 2;
  const double size =
      std::sqrt(2 * (std::sqrt(term * term - log_gap / 0.147) - term));
  return static_cast<float>(p < 0.5 ? -size : size);
}

// Scores (x, y) of a row (x, y), and of (x, y, z).
#define ASSAY_TWO "coefficients = [1.0, 0.0, 0.0, 1.0], intercepts = [0.0, 0.0]"
#define ASSAY_REGRESS(transform)                             \
  "g (float[2,2] x) => (float[2,2] y) "                      \
  "{ y = ai.onnx.ml.LinearRegressor<targets = 2, " ASSAY_TWO \
  ", post_transform = \"" transform "\">(x) }"

// Support vectors (1, 2) and (0, -1) with coefficients 3 and -2, rho 0.5.
#define ASSAY_SVM(attributes)                                        \
  "g (float[2,2] x) => (float[2,1] y) { y = ai.onnx.ml.SVMRegressor" \
  "<n_supports = 2, support_vectors = [1.0, 2.0, 0.0, -1.0], "       \
  "coefficients = [3.0, -2.0], rho = [0.5], " attributes ">(x) }"

constexpr SpecialCase kCases[] = {
    {"ml.LinearRegressor/one_target", "2 x - 3 y + 0.5; page of the operator",
     "g (float[2,2] x) => (float[2,1] y) { y = ai.onnx.ml.LinearRegressor"
     "<coefficients = [2.0, -3.0], intercepts = [0.5]>(x) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 4, -1})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {-3.5, 11.5})};
     }},
    {"ml.LinearRegressor/two_targets",
     "the coefficients of each target stand together; no intercepts",
     "g (double[1,3] x) => (float[1,2] y) { y = ai.onnx.ml.LinearRegressor"
     "<targets = 2, coefficients = [1.0, 10.0, 100.0, 2.0, 3.0, 4.0]>(x) }",
     [] {
       return Values{Of(kF64, {1, 3}, {1, 2, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 2}, {321, 20})};
     }},
    {"ml.LinearRegressor/int64", "of integers too",
     "g (int64[2,1] x) => (float[2,1] y) { y = ai.onnx.ml.LinearRegressor"
     "<coefficients = [0.25], intercepts = [1.0]>(x) }",
     [] {
       return Values{Of(kI64, {2, 1}, {2, -7})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {1.5, -0.75})};
     }},
    {"ml.LinearRegressor/int32", "the same of int32",
     "g (int32[2,1] x) => (float[2,1] y) { y = ai.onnx.ml.LinearRegressor"
     "<coefficients = [0.25], intercepts = [1.0]>(x) }",
     [] {
       return Values{Of(kI32, {2, 1}, {2, -7})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {1.5, -0.75})};
     }},
    {"ml.LinearRegressor/logistic", "1 / (1 + exp(-x)): 1/2, 1, 0 and 1/2",
     ASSAY_REGRESS("LOGISTIC"),
     [] {
       return Values{Of(kF32, {2, 2}, {0, 200, -200, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0.5, 1, 0, 0.5})};
     }},
    {"ml.LinearRegressor/softmax", "of equal scores 1/2; 200 apart 0 and 1",
     ASSAY_REGRESS("SOFTMAX"),
     [] {
       return Values{Of(kF32, {2, 2}, {3, 3, 0, 200})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0.5, 0.5, 0, 1})};
     }},
    {"ml.LinearRegressor/softmax_zero",
     "a zero stays beside 3, as its only one", ASSAY_REGRESS("SOFTMAX_ZERO"),
     [] {
       return Values{Of(kF32, {2, 2}, {0, 3, -2, -2})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0, 1, 0.5, 0.5})};
     }},
    {"ml.LinearRegressor/probit", "the quantiles of 1/4, 3/4, 1/8 and 0.9375",
     ASSAY_REGRESS("PROBIT"),
     [] {
       return Values{Of(kF32, {2, 2}, {0.25, 0.75, 0.125, 0.9375})};
     },
     [] {
       return Values{
           Of(kF32, {2, 2},
              {Probit(0.25), Probit(0.75), Probit(0.125), Probit(0.9375)})};
     },
     kFewRoundings, kFewRoundingsReason},
    {"ml.LinearClassifier/three_classes", "the greatest of x, y and x + y - 3",
     "g (float[3,2] x) => (int64[3] l, float[3,3] z) "
     "{ l, z = ai.onnx.ml.LinearClassifier<classlabels_ints = [7, 8, 9], "
     "coefficients = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0], "
     "intercepts = [0.0, 0.0, -3.0]>(x) }",
     [] {
       return Values{Of(kF32, {3, 2}, {2, 1, 5, 6, -1, 2})};
     },
     [] {
       return Values{Of(kI64, {3}, {7, 9, 8}),
                     Of(kF32, {3, 3}, {2, 1, 0, 5, 6, 8, -1, 2, -2})};
     }},
    {"ml.LinearClassifier/strings", "the first of equal scores",
     "g (double[2,2] x) => (string[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.LinearClassifier"
     "<classlabels_strings = [\"left\", \"right\"], " ASSAY_TWO ">(x) }",
     [] {
       return Values{Of(kF64, {2, 2}, {4, 4, 1, 2})};
     },
     [] {
       return Values{Texts({2}, {"left", "right"}),
                     Of(kF32, {2, 2}, {4, 4, 1, 2})};
     }},
    {"ml.LinearClassifier/two_classes_one_row",
     "s = x + y - 1: scores -s and s",
     "g (int64[2,2] x) => (int64[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.LinearClassifier<classlabels_ints = [0, 1], "
     "coefficients = [1.0, 1.0], intercepts = [-1.0]>(x) }",
     [] {
       return Values{Of(kI64, {2, 2}, {2, 3, -4, 1})};
     },
     [] {
       return Values{Of(kI64, {2}, {1, 0}), Of(kF32, {2, 2}, {-4, 4, 4, -4})};
     }},
    {"ml.LinearClassifier/logistic", "1/2, 1; 0, 1/2: of int32",
     "g (int32[2,2] x) => (int64[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.LinearClassifier<classlabels_ints = [5, "
     "3], " ASSAY_TWO ", post_transform = \"LOGISTIC\", multi_class = 1>(x) }",
     [] {
       return Values{Of(kI32, {2, 2}, {0, 200, 0, -200})};
     },
     [] {
       return Values{Of(kI64, {2}, {3, 5}), Of(kF32, {2, 2}, {0.5, 1, 0.5, 0})};
     }},
    {"ml.SVMRegressor/linear", "3 (x + 2 y) + 2 y + 0.5 at (1, 2) and (3, -1)",
     ASSAY_SVM("kernel_type = \"LINEAR\""),
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, -1})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {19.5, 1.5})};
     }},
    {"ml.SVMRegressor/poly",
     "3 (0.5 a + 1)^2 - 2 (0.5 b + 1)^2 + 0.5 with (a, b) = (4, -1), (2, 0)",
     ASSAY_SVM("kernel_type = \"POLY\", kernel_params = [0.5, 1.0, 2.0]"),
     [] {
       return Values{Of(kF32, {2, 2}, {2, 1, 2, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {27, 10.5})};
     }},
    {"ml.SVMRegressor/rbf",
     "exp(0) = 1 at a support vector, exp(-50 d) = 0 away from both",
     ASSAY_SVM("kernel_type = \"RBF\", kernel_params = [50.0, 0.0, 0.0]"),
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 0, -1})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {3.5, -1.5})};
     }},
    {"ml.SVMRegressor/sigmoid", "tanh of 101, -49; 101, 1: 1, -1; 1, 0.76",
     ASSAY_SVM("kernel_type = \"SIGMOID\", kernel_params = [50.0, 1.0, 0.0]"),
     [] {
       return Values{Of(kF32, {2, 2}, {0, 1, 2, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 1},
                        {5.5, static_cast<float>(3.5 - 2 * std::tanh(1.0))})};
     },
     kFewRoundings, kFewRoundingsReason},
    {"ml.SVMRegressor/one_class", "1 above 0, else -1, at 0 too",
     "g (double[3,1] x) => (float[3,1] y) { y = ai.onnx.ml.SVMRegressor"
     "<n_supports = 1, support_vectors = [2.0], coefficients = [1.0], "
     "rho = [-4.0], one_class = 1>(x) }",
     [] {
       return Values{Of(kF64, {3, 1}, {3, 2, 1})};
     },
     [] {
       return Values{Of(kF32, {3, 1}, {1, -1, -1})};
     }},
    {"ml.SVMRegressor/without_vectors", "x times the coefficients, plus rho",
     "g (int64[2,2] x) => (float[2,1] y) { y = ai.onnx.ml.SVMRegressor"
     "<coefficients = [2.0, -1.0], rho = [0.25]>(x) }",
     [] {
       return Values{Of(kI64, {2, 2}, {3, 4, -1, 1})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {2.25, -2.75})};
     }},
    {"ml.SVMRegressor/logistic", "1 / (1 + exp(-x)): 1/2, 1 and 0",
     "g (float[3,1] x) => (float[3,1] y) { y = ai.onnx.ml.SVMRegressor"
     "<coefficients = [1.0], rho = [0.0], post_transform = \"LOGISTIC\">(x) }",
     [] {
       return Values{Of(kF32, {3, 1}, {0, 200, -200})};
     },
     [] {
       return Values{Of(kF32, {3, 1}, {0.5, 1, 0})};
     }},
    {"ml.SVMClassifier/linear", "rho + x w of each class, the greatest wins",
     "g (float[3,2] x) => (string[3] l, float[3,3] z) "
     "{ l, z = ai.onnx.ml.SVMClassifier"
     "<classlabels_strings = [\"x\", \"y\", \"z\"], "
     "coefficients = [1.0, 0.0, 0.0, 1.0, -1.0, -1.0], "
     "rho = [0.5, 0.5, 0.5]>(x) }",
     [] {
       return Values{Of(kF32, {3, 2}, {2, 1, -1, -2, 0, 3})};
     },
     [] {
       return Values{
           Texts({3}, {"x", "z", "y"}),
           Of(kF32, {3, 3}, {2.5, 1.5, -2.5, -0.5, -1.5, 3.5, 0.5, 3.5, -2.5})};
     }},
    {"ml.SVMClassifier/votes",
     "with x: (1 + 30) x, (x + 100 x) - 50, (-10 - 100) x + 1 decide pairs",
     "g (float[2,1] x) => (int64[2] l, float[2,3] z) "
     "{ l, z = ai.onnx.ml.SVMClassifier"
     "<classlabels_ints = [10, 20, 30], vectors_per_class = [1, 1, 1], "
     "support_vectors = [1.0, 10.0, 100.0], "
     "coefficients = [1.0, 3.0, 1.0, 1.0, -1.0, -1.0], "
     "rho = [0.0, -50.0, 1.0]>(x) }",
     [] {
       return Values{Of(kF32, {2, 1}, {1, -1})};
     },
     // Votes of 1: 0, 0, 2; of -1: 1, 2, 1.
     [] {
       return Values{Of(kI64, {2}, {10, 20}),
                     Of(kF32, {2, 3}, {31, 51, -109, -31, -151, 111})};
     }},
    {"ml.SVMClassifier/two_classes",
     "one decision x - 2, a vote for the first above 0; Z is -s and s",
     "g (double[2,1] x) => (int64[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.SVMClassifier"
     "<classlabels_ints = [8, 9], vectors_per_class = [1, 1], "
     "support_vectors = [2.0, 1.0], coefficients = [1.0, -1.0], "
     "rho = [-2.0]>(x) }",
     [] {
       return Values{Of(kF64, {2, 1}, {5, 1})};
     },
     [] {
       return Values{Of(kI64, {2}, {8, 9}), Of(kF32, {2, 2}, {-3, 3, 1, -1})};
     }},
    {"ml.SVMClassifier/poly",
     "(x + 1)^2 - (2 x + 1)^2 + 1, a vote for the first above 0; -s and s",
     "g (float[2,1] x) => (int64[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.SVMClassifier<kernel_type = \"POLY\", "
     "kernel_params = [0.5, 1.0, 2.0], "
     "classlabels_ints = [8, 9], vectors_per_class = [1, 1], "
     "support_vectors = [2.0, 4.0], coefficients = [1.0, -1.0], "
     "rho = [1.0]>(x) }",
     [] {
       return Values{Of(kF32, {2, 1}, {2, -0.5})};
     },
     [] {
       return Values{Of(kI64, {2}, {9, 8}),
                     Of(kF32, {2, 2}, {15, -15, -1.25, 1.25})};
     }},
    {"ml.SVMClassifier/softmax",
     "of equal scores 1/2 and the first label; 200 apart 0 and 1",
     "g (float[2,2] x) => (int64[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.SVMClassifier<classlabels_ints = [8, 9], "
     "coefficients = [1.0, 0.0, 0.0, 1.0], rho = [0.0, 0.0], "
     "post_transform = \"SOFTMAX\">(x) }",
     [] {
       return Values{Of(kF32, {2, 2}, {3, 3, 0, 200})};
     },
     [] {
       return Values{Of(kI64, {2}, {8, 9}), Of(kF32, {2, 2}, {0.5, 0.5, 0, 1})};
     }},
    {"ml.SVMClassifier/probabilities",
     "the decision 3 gives 1 / (1 + exp(3 a)) = 3/4, and 0 gives 1/2",
     "g (int64[2,1] x) => (int64[2] l, float[2,2] z) "
     "{ l, z = ai.onnx.ml.SVMClassifier"
     "<classlabels_ints = [1, 2], vectors_per_class = [1, 1], "
     "support_vectors = [2.0, 1.0], coefficients = [1.0, -1.0], "
     "rho = [-2.0], prob_a = [-0.36620409622], prob_b = [0.0]>(x) }",
     [] {
       return Values{Of(kI64, {2, 1}, {5, 2})};
     },
     [] {
       return Values{Of(kI64, {2}, {1, 2}),
                     Of(kF32, {2, 2}, {0.75, 0.25, 0.5, 0.5})};
     },
     kFewRoundings, kFewRoundingsReason},
};

}  // namespace

std::span<const SpecialCase> LearnedCases() { return kCases; }

}  // namespace assay::inline v1
