// SPDX-License-Identifier: Apache-2.0
//
// Lengths beside the powers of two, where vector loops have a tail: every
// length by itself, so that a failure names it. Whole numbers throughout.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

double Index(int64_t i) { return static_cast<double>(i); }

// clang-format off
#define ASSAY_LENGTHS(X)                                                    \
  X(1) X(3) X(5) X(7) X(9) X(15) X(17) X(31) X(33) X(63) X(65) X(127)       \
  X(129) X(1023) X(1025) X(4097) X(65537)
#define ASSAY_ADD(n)                                                        \
  {"Add/length_" #n, "i + 3 i = 4 i up to the last element",                \
   "g (float[" #n "] a, float[" #n "] b) => (float[" #n "] y) "             \
   "{ y = Add(a, b) }",                                                     \
   [] { return Values{By(kF32, {n}, [](int64_t i) { return Index(i + 1); }),\
                      By(kF32, {n},                                         \
                         [](int64_t i) { return Index(3 * i + 3); })}; },   \
   [] { return Values{By(kF32, {n},                                         \
                         [](int64_t i) { return Index(4 * i + 4); })}; }},
#define ASSAY_RELU(n)                                                       \
  {"Relu/length_" #n, "signs alternate, so that the tail shows",            \
   "g (float[" #n "] x) => (float[" #n "] y) { y = Relu(x) }",              \
   [] { return Values{By(kF32, {n}, [](int64_t i) {                         \
     return i % 2 == 0 ? Index(i + 1) : -Index(i); })}; },                  \
   [] { return Values{By(kF32, {n}, [](int64_t i) {                         \
     return i % 2 == 0 ? Index(i + 1) : 0; })}; }},
// The largest magnitude, 65537 * 200, is below 2^24.
#define ASSAY_SUM(n)                                                        \
  {"ReduceSum/length_" #n,                                                  \
   "rows of 2 and of -3, and 100 more in the last element of each",         \
   "g (float[2," #n "] x) => (float[2] y) <int64[1] axes = {1}> "           \
   "{ y = ReduceSum<keepdims = 0>(x, axes) }",                              \
   [] { return Values{By(kF32, {2, n}, [](int64_t i) {                      \
     return Index(i / n == 0 ? 2 : -3) + (i % n == n - 1 ? 100 : 0); })}; },\
   [] { return Values{Of(kF32, {2}, {2.0 * n + 100, -3.0 * n + 100})}; }},
#define ASSAY_MAX(n)                                                        \
  {"ReduceMax/length_" #n,                                                  \
   "the largest is the last of the first row, the first of the second",     \
   "g (float[2," #n "] x) => (float[2] y) <int64[1] axes = {1}> "           \
   "{ y = ReduceMax<keepdims = 0>(x, axes) }",                              \
   [] { return Values{By(kF32, {2, n}, [](int64_t i) {                      \
     return i / n == 0 ? Index(i - n) : Index(n - i); })}; },               \
   [] { return Values{Of(kF32, {2}, {-1, 0})}; }},
#define ASSAY_TURN(n)                                                       \
  {"Transpose/length_" #n, "[n,3] turned",                                  \
   "g (float[" #n ",3] x) => (float[3," #n "] y) { y = Transpose(x) }",     \
   [] { return Values{By(kF32, {n, 3}, Index)}; },                          \
   [] { return Values{By(kF32, {3, n}, [](int64_t i) {                      \
     return Index(i % n * 3 + i / n); })}; }},
#define ASSAY_TAIL(n)                                                       \
  {"Concat/length_" #n, "[2,n] and one column more",                        \
   "g (float[2," #n "] a, float[2,1] b) => (float[2,k] y) "                 \
   "{ y = Concat<axis = 1>(a, b) }",                                        \
   [] { return Values{By(kF32, {2, n}, Index), Of(kF32, {2, 1}, {-1, -2})}; },\
   [] { return Values{By(kF32, {2, n + 1}, [](int64_t i) {                  \
     const int64_t row = i / (n + 1);                                       \
     const int64_t k = i % (n + 1);                                         \
     return k == n ? Index(-1 - row) : Index(row * n + k); })}; }},

constexpr SpecialCase kCases[] = {
  ASSAY_LENGTHS(ASSAY_ADD) ASSAY_LENGTHS(ASSAY_RELU) ASSAY_LENGTHS(ASSAY_SUM)
  ASSAY_LENGTHS(ASSAY_MAX) ASSAY_LENGTHS(ASSAY_TURN) ASSAY_LENGTHS(ASSAY_TAIL)
};
// clang-format on

#undef ASSAY_ADD
#undef ASSAY_RELU
#undef ASSAY_SUM
#undef ASSAY_MAX
#undef ASSAY_TURN
#undef ASSAY_TAIL
#undef ASSAY_LENGTHS

}  // namespace

std::span<const SpecialCase> SizesCases() { return kCases; }

}  // namespace assay::inline v1
