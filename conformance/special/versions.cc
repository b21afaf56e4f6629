// SPDX-License-Identifier: Apache-2.0
//
// Older versions of operators, in models that import their opsets: what they
// mean still, and attributes that have become inputs. The corpus has few: its
// cases import the newest opset.

#include "conformance/special/versions.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kF = "float32";

constexpr PointsRow kPoints[] = {
    {"Abs", "magnitudes", kF, "Abs(x)", {-3, 0, 2, -1}, {3, 0, 2, 1}, "1 6"},
    {"Neg", "other signs", kF, "Neg(x)", {-3, 0, 2, -1}, {3, 0, -2, 1}, "1 6"},
    {"Relu",
     "none below zero",
     kF,
     "Relu(x)",
     {-3, 0, 2, -1},
     {0, 0, 2, 0},
     "1 6 13"},
    {"Ceil",
     "upwards",
     kF,
     "Ceil(x)",
     {2.5, -2.5, 0.5, 3},
     {3, -2, 1, 3},
     "1 6"},
    {"Floor",
     "downwards",
     kF,
     "Floor(x)",
     {2.5, -2.5, 0.5, 3},
     {2, -3, 0, 3},
     "1 6"},
    {"Exp",
     "1 at 0",
     kF,
     "Exp(x)",
     {0, kInf, -kInf, 0},
     {1, kInf, 0, 1},
     "1 6"},
    {"Log",
     "0 at 1",
     kF,
     "Log(x)",
     {1, 0, kInf, -1},
     {0, -kInf, kInf, kNan},
     "1 6"},
    {"Reciprocal",
     "powers of two",
     kF,
     "Reciprocal(x)",
     {4, -0.5, 0.125, kInf},
     {0.25, -2, 8, 0},
     "1 6"},
    {"Sqrt",
     "squares",
     kF,
     "Sqrt(x)",
     {4, 0.25, 144, -1},
     {2, 0.5, 12, kNan},
     "1 6"},
    {"Sigmoid",
     "a half at 0",
     kF,
     "Sigmoid(x)",
     {0, kInf, -kInf, 0},
     {0.5, 1, 0, 0.5},
     "1 6"},
    {"Tanh",
     "between -1 and 1",
     kF,
     "Tanh(x)",
     {0, kInf, -kInf, 0},
     {0, 1, -1, 0},
     "1 6"},
    {"Elu",
     "-alpha at -infinity",
     kF,
     "Elu<alpha = 2.0>(x)",
     {2, -kInf, 0, 5},
     {2, -2, 0, 5},
     "1 6"},
    {"Selu",
     "gamma x",
     kF,
     "Selu<alpha = 2.0, gamma = 3.0>(x)",
     {1, -kInf, 0, 5},
     {3, -6, 0, 15},
     "1 6"},
    {"LeakyRelu",
     "a quarter below zero",
     kF,
     "LeakyRelu<alpha = 0.25>(x)",
     {-4, 8, 0, -1},
     {-1, 8, 0, -0.25},
     "1 6"},
    {"HardSigmoid",
     "x / 4 + 1 / 2",
     kF,
     "HardSigmoid<alpha = 0.25, beta = 0.5>(x)",
     {1, -4, 4, 0},
     {0.75, 0, 1, 0.5},
     "1 6"},
    {"Softsign",
     "x / (1 + |x|)",
     kF,
     "Softsign(x)",
     {1, -3, 0, 7},
     {0.5, -0.75, 0, 0.875},
     "1"},
    {"Softplus",
     "log(1 + e^64) is 64",
     kF,
     "Softplus(x)",
     {64, 80, 100, 64},
     {64, 80, 100, 64},
     "1"},
    {"ThresholdedRelu",
     "nothing up to alpha",
     kF,
     "ThresholdedRelu<alpha = 2.0>(x)",
     {2, 3, -5, 1},
     {0, 3, 0, 0},
     "10"},
    {"Celu",
     "-alpha at -infinity",
     kF,
     "Celu<alpha = 2.0>(x)",
     {2, -kInf, 0, 5},
     {2, -2, 0, 5},
     "12"},
    {"HardSwish",
     "0 up to -3, x from 3 on",
     kF,
     "HardSwish(x)",
     {6, -6, 0, 5},
     {6, 0, 0, 5},
     "14"},
    {"Mish",
     "tanh(64) is 1",
     kF,
     "Mish(x)",
     {64, 0, 100, 80},
     {64, 0, 100, 80},
     "18"},
    {"Round",
     "ties to even",
     kF,
     "Round(x)",
     {2.5, -1.5, 0.5, 3},
     {2, -2, 0, 3},
     "11"},
    {"Sign", "-1, 0 or 1", kF, "Sign(x)", {-3, 0, 2, -1}, {-1, 0, 1, -1}, "9"},
    {"Erf",
     "between -1 and 1",
     kF,
     "Erf(x)",
     {0, kInf, -kInf, 0},
     {0, 1, -1, 0},
     "9"},
    {"Acos", "0 at 1", kF, "Acos(x)", {1, 2, -2, 1}, {0, kNan, kNan, 0}, "7"},
    {"Acosh",
     "0 at 1",
     kF,
     "Acosh(x)",
     {1, kInf, 0, 1},
     {0, kInf, kNan, 0},
     "9"},
    {"Asin", "0 at 0", kF, "Asin(x)", {0, 2, -2, 0}, {0, kNan, kNan, 0}, "7"},
    {"Asinh",
     "odd and unbounded",
     kF,
     "Asinh(x)",
     {0, kInf, -kInf, 0},
     {0, kInf, -kInf, 0},
     "9"},
    {"Atan",
     "0 at 0",
     kF,
     "Atan(x)",
     {0, kNan, 0, kNan},
     {0, kNan, 0, kNan},
     "7"},
    {"Atanh",
     "poles at -1 and 1",
     kF,
     "Atanh(x)",
     {0, 1, -1, 2},
     {0, kInf, -kInf, kNan},
     "9"},
    {"Cos",
     "1 at 0",
     kF,
     "Cos(x)",
     {0, kInf, -kInf, 0},
     {1, kNan, kNan, 1},
     "7"},
    {"Cosh",
     "even, 1 at 0",
     kF,
     "Cosh(x)",
     {0, kInf, -kInf, 0},
     {1, kInf, kInf, 1},
     "9"},
    {"Sin",
     "0 at 0",
     kF,
     "Sin(x)",
     {0, kInf, -kInf, 0},
     {0, kNan, kNan, 0},
     "7"},
    {"Sinh",
     "odd and unbounded",
     kF,
     "Sinh(x)",
     {0, kInf, -kInf, 0},
     {0, kInf, -kInf, 0},
     "9"},
    {"Tan",
     "0 at 0",
     kF,
     "Tan(x)",
     {0, kInf, -kInf, 0},
     {0, kNan, kNan, 0},
     "7"},
    {"Identity",
     "x itself",
     kF,
     "Identity(x)",
     {1, 2, 3, 4},
     {1, 2, 3, 4},
     "1 13 14 19 21 23 24"},
    {"Clip",
     "attributes min and max",
     kF,
     "Clip<min = 2.0, max = 3.0>(x)",
     {1, 2.5, 3, 4},
     {2, 2.5, 3, 3},
     "1 6"},
    {"Cast",
     "to names its number since version 6",
     "int32",
     "Cast<to = 6>(x)",
     {1, -2, 3, 4},
     {1, -2, 3, 4},
     "6 9 13 19 21 23 24 25"},
    {"Cast",
     "to was a name",
     "int16",
     "Cast<to = \"INT16\">(x)",
     {1, -2, 3, 4},
     {1, -2, 3, 4},
     "1"},
    {"Pad",
     "nothing around",
     kF,
     "Pad<paddings = [0, 0]>(x)",
     {1, 2, 3, 4},
     {1, 2, 3, 4},
     "1"},
    {"Dropout",
     "is_test: x itself",
     kF,
     "Dropout<is_test = 1>(x)",
     {1, 2, 3, 4},
     {1, 2, 3, 4},
     "1 6"},
    {"Dropout",
     "no training: x itself",
     kF,
     "Dropout(x)",
     {1, 2, 3, 4},
     {1, 2, 3, 4},
     "7 12 13"},
};

Values Pair(DType t) {
  return {Of(t, {4}, {6, 1, 4, 9}), Of(t, {4}, {3, 1, 5, 2})};
}

Values Truths(DType t) {
  return {Of(t, {4}, {1, 1, 0, 0}), Of(t, {4}, {1, 0, 1, 0})};
}

Values Six(DType t) { return {Of(t, {2, 3}, {3, 1, 2, 4, 6, 5})}; }

// clang-format off
#define ASSAY_PAIR(op, opsets, type, ...)                                     \
  {op "/pair", "element by element", type,                                    \
   "g ($T[4] a, $T[4] b) => ($T[4] y) { y = " op "(a, b) }", &Pair,           \
   [](DType t) { return Values{Of(t, {4}, {__VA_ARGS__})}; }, opsets},
#define ASSAY_COMPARE(op, opsets, type, ...)                                  \
  {op "/pair", "element by element", type,                                    \
   "g ($T[4] a, $T[4] b) => (bool[4] y) { y = " op "(a, b) }", &Pair,         \
   [](DType) { return Values{Of(kBool, {4}, {__VA_ARGS__})}; }, opsets},
#define ASSAY_TRUTHS(op, ...)                                                 \
  {op "/pair", "element by element", "bool",                                  \
   "g ($T[4] a, $T[4] b) => ($T[4] y) { y = " op "(a, b) }", &Truths,         \
   [](DType t) { return Values{Of(t, {4}, {__VA_ARGS__})}; }, "1"},
#define ASSAY_REDUCE(op, opsets, ...)                                         \
  {op "/axes", "rows; axes was an attribute", kF,                             \
   "g ($T[2,3] x) => ($T[2] y) "                                              \
   "{ y = " op "<axes = [1], keepdims = 0>(x) }", &Six,                       \
   [](DType t) { return Values{Of(t, {2}, {__VA_ARGS__})}; }, opsets},

constexpr TypedRow kRows[] = {
  ASSAY_PAIR("Add", "1 6 7 13", kF, 9, 2, 9, 11)
  ASSAY_PAIR("Sub", "1 6 7 13", kF, 3, 0, -1, 7)
  ASSAY_PAIR("Mul", "1 6 7 13", kF, 18, 1, 20, 18)
  
  ASSAY_PAIR("Pow", "1 7 12 13", kF, 216, 1, 1024, 81)
  ASSAY_PAIR("Max", "1 6 8 12", kF, 6, 1, 5, 9)
  ASSAY_PAIR("Min", "1 6 8 12", kF, 3, 1, 4, 2)
  ASSAY_PAIR("Sum", "1 6 8", kF, 9, 2, 9, 11)
  ASSAY_PAIR("Mean", "1 6 8", kF, 4.5, 1, 4.5, 5.5)
  ASSAY_PAIR("Mod", "10 13", "int32", 0, 0, 4, 1)
  ASSAY_COMPARE("Equal", "1 7 11 13", "int32", 0, 1, 0, 0)
  ASSAY_COMPARE("Less", "1 7 9", kF, 0, 0, 1, 0)
  ASSAY_COMPARE("LessOrEqual", "12", kF, 0, 1, 1, 0)
  ASSAY_COMPARE("Greater", "1 7 9", kF, 1, 0, 0, 1)
  ASSAY_COMPARE("GreaterOrEqual", "12", kF, 1, 1, 0, 1)
  ASSAY_TRUTHS("And", 1, 0, 0, 0)
  ASSAY_TRUTHS("Or", 1, 1, 1, 0)
  ASSAY_TRUTHS("Xor", 0, 1, 1, 0)
  ASSAY_REDUCE("ReduceSum", "1 11", 6, 15)
  ASSAY_REDUCE("ReduceProd", "1 11 13", 6, 120)
  ASSAY_REDUCE("ReduceL1", "1 11 13", 6, 15)
  ASSAY_REDUCE("ReduceSumSquare", "1 11 13", 14, 77)
  ASSAY_REDUCE("ReduceMean", "1 11 13", 2, 5)
  ASSAY_REDUCE("ReduceMax", "1 11 12 13", 3, 6)
  ASSAY_REDUCE("ReduceMin", "1 11 12 13", 1, 4)
  {"ReduceL2/axes", "norms 5 and 10", kF, "g ($T[2,2] x) => ($T[2] y) { y = ReduceL2<axes = [1], keepdims = 0>(x) }", [](DType t) { return Values{Of(t, {2, 2}, {3, 4, 6, 8})}; }, [](DType t) { return Values{Of(t, {2}, {5, 10})}; }, "1 11 13"},
  {"ReduceLogSum/axes", "log 1 and log 0", kF, "g ($T[2,2] x) => ($T[2] y) "
    "{ y = ReduceLogSum<axes = [1], keepdims = 0>(x) }", [](DType t) { return Values{Of(t, {2, 2}, {0.25, 0.75, 0, 0})}; }, [](DType t) { return Values{Of(t, {2}, {0, -kInf})}; }, "1 11 13"},
  {"ReduceLogSumExp/axes", "log e^5 and log e^2", kF, "g ($T[2,2] x) => ($T[2] y) "
    "{ y = ReduceLogSumExp<axes = [1], keepdims = 0>(x) }", [](DType t) { return Values{Of(t, {2, 2}, {5, -kInf, 2, -kInf})}; }, [](DType t) { return Values{Of(t, {2}, {5, 2})}; }, "1 11 13"},
  {"ArgMax/rows", "where 3 and 6 stand", kF, "g ($T[2,3] x) => (int64[2] y) { y = ArgMax<axis = 1, keepdims = 0>(x) }", &Six, [](DType) { return Values{Whole(kI64, {2}, {0, 1})}; }, "1 11 12"},
  {"ArgMin/rows", "where 1 and 4 stand", kF, "g ($T[2,3] x) => (int64[2] y) { y = ArgMin<axis = 1, keepdims = 0>(x) }", &Six, [](DType) { return Values{Whole(kI64, {2}, {1, 0})}; }, "1 11 12"},
};
// clang-format on

#undef ASSAY_PAIR
#undef ASSAY_COMPARE
#undef ASSAY_TRUTHS
#undef ASSAY_REDUCE

}  // namespace

std::span<const SpecialCase> VersionsCases() {
  static const auto& cases = *[] {
    auto* const made = new std::vector<SpecialCase>(
        CasesOf(std::span<const PointsRow>(kPoints)));
    for (const auto rows :
         {std::span<const TypedRow>(kRows), VersionsOfShapes(),
          VersionsOfIndexing(), VersionsOfLayers(), VersionsOfControl()}) {
      const auto more = CasesOf(rows);
      made->insert(made->end(), more.begin(), more.end());
    }
    return made;
  }();
  return cases;
}

}  // namespace assay::inline v1
