// SPDX-License-Identifier: Apache-2.0
//
// For tests of gradients: a graph whose inputs are a, b, ..., what is fed, and
// the gradients of a weighted sum of its output y.
//
//   const GradientRow row = GradientOf("Exp(a)", "double[2] y",
//                                      {D({2}, {0, 1})});
//   const auto gradients = Gradients(row, {1, 2});     // of weights 1 and 2
//   const auto numbers = NumbersOf((*gradients)[0]);   // 1 and 2 e
//
// And rows that hold the oracle against exact numbers. The truth of each is
// worked out by hand, beside it.

#pragma once

#include <string>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/number/quad.h"

namespace assay::reference {

struct GradientRow {
  std::string graph;
  std::vector<Feed> feeds;
};

/// The row of a body, such as "n = Neg(a) y = Mul(n, b)", or of a node that
/// computes y, such as "Exp(a)". Inputs a, b, ... have the types of the feeds;
/// the outputs are declared.
GradientRow GradientOf(const std::string& body, const std::string& outputs,
                       std::vector<Feed> feeds);
/// Where the one output is like the first feed.
GradientRow GradientOf(const std::string& body, std::vector<Feed> feeds);

/// As many weights as the output has elements: 1, 2, 3, ..., unless given.
assay::Value CotangentOf(const Tensor& y, std::vector<double> weights);

/// How gradients are computed: the setting `backward`.
enum class By : uint8_t { kKernel, kTape };

/// By all inputs that are floats. Only the first of several outputs has
/// weights, but all where `weighs_all`.
Result<std::vector<assay::Value>> Gradients(
    const GradientRow& row, const std::vector<double>& weights = {},
    By by = By::kKernel, bool weighs_all = false);

/// An element type of gradients, and how far apart two may be, in parts of the
/// greatest: two units in the last place, and sums in float64 in two orders 32.
struct GradientType {
  DType dtype;
  const char* name;
  double bound;
};
inline constexpr GradientType kGradientTypes[] = {
    {DType::kFloat64, "double", 0x1p-47},
    {DType::kFloat32, "float", 0x1p-22},
    {DType::kFloat16, "float16", 0x1p-9},
    {DType::kBFloat16, "bfloat16", 0x1p-6}};

/// The gradients by the kernel are those by the tape, for weights that are all
/// other than 0, or some, or one; of rows, in each type in place of double.
void ExpectTheTapes(const GradientRow& row, const GradientType& type);
void ExpectTheTapes(const std::vector<GradientRow>& rows);
/// In one type in place of double.
void ExpectTheTapesIn(const GradientType& type, const GradientRow& row);

/// So many numbers, some of which are equal.
std::vector<double> Counting(int64_t count);

enum class Ask : uint8_t { kValue, kGradient, kTangent };
/// How much of a number the oracle has to know.
enum class Known : uint8_t {
  kAlways,   // a finite bound in every precision
  kPerhaps,  // never, if its bound says so
};

/// The exact number of an element of an answer.
struct Truth {
  Ask ask;
  size_t of;  // output; of a gradient, input
  size_t at;  // element
  Quad number;
  Known known;
};

// Numbers are of type Quad, or become such.
template <class Number>
Truth ValueIs(size_t at, Number number, Known known = Known::kAlways) {
  return {Ask::kValue, 0, at, Quad(number), known};
}
template <class Number>
Truth GradientIs(size_t input, size_t at, Number number,
                 Known known = Known::kAlways) {
  return {Ask::kGradient, input, at, Quad(number), known};
}
template <class Number>
Truth TangentIs(size_t at, Number number, Known known = Known::kAlways) {
  return {Ask::kTangent, 0, at, Quad(number), known};
}

struct TruthRow {
  const char* fault;
  std::string graph;
  std::vector<Feed> feeds;
  Truth truth;
};

/// As GradientOf: the output is like the first feed unless it is declared.
TruthRow TruthOf(const char* fault, const std::string& body,
                 std::vector<Feed> feeds, Truth truth,
                 const std::string& outputs = "");

/// In every precision the truth lies within the answer's bound, which is finite
/// where the row wants it. Directions and cotangents are ones.
void ExpectTruths(const std::vector<TruthRow>& rows);

}  // namespace assay::reference
