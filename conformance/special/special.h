// SPDX-License-Identifier: Apache-2.0
//
// SpecialCase: a model whose right answer is known by hand, to the last bit,
// and which a tolerance or a small example would let pass when it is wrong.
//
//     {"Relu/subnormal", "2^-149 is a number and greater than zero",
//      "g (float[2] x) => (float[2] y) { y = Relu(x) }",
//      [] { return Values{Of(kF32, {2}, {0x1p-149, -1})}; },
//      [] { return Values{Of(kF32, {2}, {0x1p-149, 0})}; }}
//
// A theme is a file; each gives its rows by a function below.

#ifndef ASSAY_SPECIAL_SPECIAL_H_
#define ASSAY_SPECIAL_SPECIAL_H_

#include <concepts>
#include <functional>
#include <span>
#include <string_view>

#include "conformance/special/values.h"
#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"

namespace assay::inline v1 {

/// What makes values: a function, or one with a state, which it does not own.
class Made {
 public:
  template <class F>
  requires std::convertible_to<F, Values (*)()>
  constexpr Made(F function) : plain_(function) {}  // NOLINT: a lambda
  explicit constexpr Made(const std::function<Values()>* function)
      : stateful_(function) {}

  Values operator()() const {
    return stateful_ == nullptr ? plain_() : (*stateful_)();
  }

 private:
  Values (*plain_)() = nullptr;
  const std::function<Values()>* stateful_ = nullptr;
};

struct SpecialCase {
  std::string_view name;   // OP/what, the test_id less the suite
  std::string_view shows;  // what holds, why it is exact, who says so
  std::string_view model;  // in ONNX's text form
  Made inputs;
  Made expected;
  /// Of |expected|; 0, equal values, needs no reason.
  double rtol = 0;
  std::string_view rtol_reason = "";
  int opset = 0;  // of ai.onnx; 0: the newest
};

struct SpecialTheme {
  std::string_view name;
  std::span<const SpecialCase> cases;
};

// clang-format off
#define ASSAY_SPECIAL_THEMES(X)                                             \
  X(Accumulation, "accumulation") X(Attributes, "attributes")               \
  X(Axes, "axes") X(Casts, "casts") X(Collections, "collections")           \
  X(Control, "control") X(Denormals, "denormals")                           \
  X(Dictionaries, "dictionaries") X(Features, "features")                   \
  X(Floats, "floats") X(Integers, "integers") X(Large, "large")             \
  X(Learned, "learned") X(Moved, "moved") X(NonFinite, "nonfinite")         \
  X(Numbers, "numbers") X(Options, "options") X(Powers, "powers")           \
  X(Recurrent, "recurrent") X(Signals, "signals") X(Sizes, "sizes")         \
  X(Text, "text") X(Ties, "ties") X(Training, "training")                   \
  X(Trees, "trees") X(Versions, "versions") X(Zeros, "zeros")
// clang-format on

#define ASSAY_SPECIAL_DECLARE(function, name) \
  std::span<const SpecialCase> function##Cases();
ASSAY_SPECIAL_THEMES(ASSAY_SPECIAL_DECLARE)
#undef ASSAY_SPECIAL_DECLARE

std::span<const SpecialTheme> SpecialThemes();

/// What a case of files would have been read as. Not found for an unknown id,
/// invalid argument for a row that is wrong in itself.
Result<CaseData> SpecialData(std::string_view test_id);

}  // namespace assay::inline v1

#endif  // ASSAY_SPECIAL_SPECIAL_H_
