// SPDX-License-Identifier: Apache-2.0
//
// Matrix products and what is made of them, transforms included.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "framework/core/text.h"
#include "perf/work/rules.h"

namespace assay::work {
namespace {

/// 2 M N K for each matrix of the batch, as DeepBench counts.
void CountMatMul(const NodeFacts& facts, Work* work) {
  work->flops += 2 * Extent(facts.In(0), -1) * facts.CountOut(0);
}

/// Gemm-13: alpha and beta count where they are not 1.
void CountGemm(const NodeFacts& facts, Work* work) {
  const Shape a = facts.In(0);
  const double y = facts.CountOut(0);
  const auto k =
      static_cast<double>(a[facts.Integer("transA", 0) != 0 ? 0 : 1]);
  work->flops += 2 * k * y;
  if (facts.Number("alpha", 1) != 1) work->flops += y;
  if (!facts.HasIn(2)) return;
  work->flops += y;
  if (facts.Number("beta", 1) != 1) work->flops += facts.CountIn(2);
}

/// Zero points are taken off in the sums; a result is scaled, rounded, moved by
/// its zero point and held in its range by two comparisons.
constexpr double kRequantize = 5;

void CountQLinearMatMul(const NodeFacts& facts, Work* work) {
  CountMatMul(facts, work);
  work->flops += kRequantize * facts.CountOut(0);
}

using Extents = std::map<char, double>;

/// The extents of the letters of a term; those that "..." stands for are under
/// letters that no term has.
void AddTerm(std::string_view term, const Shape& shape, Extents* extents) {
  const auto letters = static_cast<int>(
      std::ranges::count_if(term, [](char c) { return c != '.' && c != ' '; }));
  const int covered = shape.rank() - letters;
  int axis = 0;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term[i] == '.') {
      for (int c = 0; c < covered; ++c, ++axis) {
        double& extent = (*extents)[static_cast<char>(covered - c)];
        extent = std::max(extent, static_cast<double>(shape[axis]));
      }
      i += 2;
      continue;
    }
    double& extent = (*extents)[term[i]];
    extent = std::max(extent, static_cast<double>(shape[axis++]));
  }
}

/// Einsum-28 of one operand or two, as one sum over all letters: a product is
/// added where letters are summed.
void CountEinsum(const NodeFacts& facts, Work* work) {
  const size_t n = facts.node().inputs.size();
  if (n > 2) {
    throw Untold{Reason::kOperator,
                 "the order in which three or more factors are contracted is "
                 "the implementation's"};
  }
  const std::string equation = facts.Text("equation", "");
  std::string_view terms = equation;
  terms = terms.substr(0, terms.find("->"));
  Extents extents;
  for (size_t i = 0; i < n; ++i) {
    AddTerm(CutFront(&terms, ","), facts.In(i), &extents);
  }
  double all = 1;
  for (const auto& [letter, extent] : extents) all *= extent;
  const bool sums = all > facts.CountOut(0);
  const double products = n == 2 ? all : 0;
  const double added = n == 2 ? all : all - facts.CountOut(0);
  work->flops += products + (sums ? added : 0);
}

/// Det-22 by elimination: column k of n takes n - k divisions and as many rows
/// of n - k products and differences; then the diagonal is multiplied.
void CountDet(const NodeFacts& facts, Work* work) {
  const double n = Extent(facts.In(0), -1);
  work->flops += Extent(facts.In(0), 0, -2) *
                 ((n - 1) * n / 2 + (n - 1) * n * (2 * n - 1) / 3 + n - 1);
}

/// 5 n log2 n of a complex transform of n numbers, half of it of a real one (M.
/// Frigo and S. Johnson, "The Design and Implementation of FFTW3", 2005).
double Fourier(double n, bool is_complex) {
  return (is_complex ? 5 : 2.5) * n * std::log2(std::max(n, 1.0));
}

void CountDft(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const int64_t by_default = -2;
  const int axis = facts.Axis(
      facts.HasIn(2) ? facts.FixedNumber(2, "axis") : by_default, x.rank());
  const double n = facts.HasIn(1)
                       ? static_cast<double>(facts.FixedNumber(1, "dft_length"))
                       : static_cast<double>(x[axis]);
  const double others = Extent(x, 0, -1) / static_cast<double>(x[axis]);
  work->flops += others * Fourier(n, x[x.rank() - 1] == 2);
}

/// STFT-17: a window and a transform for each frame.
void CountStft(const NodeFacts& facts, Work* work) {
  const Shape x = facts.In(0);
  const double n =
      facts.HasIn(2)
          ? facts.CountIn(2)
          : static_cast<double>(facts.FixedNumber(3, "frame_length"));
  const bool is_complex = x.rank() == 3 && x[2] == 2;
  const double frames = Extent(facts.Out(0), 0, 2);
  work->flops += frames * Fourier(n, is_complex);
  if (facts.HasIn(2)) work->flops += frames * n * (is_complex ? 2 : 1);
}

constexpr Rule kProducts[] = {
    // A row [x, y, 1] or [x, y, z, 1] by theta for each point.
    {"AffineGrid", {.count = CountMatMul}},
    {"DFT", {.count = CountDft}},
    {"Det", {.count = CountDet}},
    {"Einsum", {.count = CountEinsum}},
    {"Gemm", {.count = CountGemm}},
    {"MatMul", {.count = CountMatMul}},
    {"MatMulInteger", {.count = CountMatMul}},
    {"QLinearMatMul", {.count = CountQLinearMatMul}},
    {"STFT", {.count = CountStft}},
};

}  // namespace

std::span<const Rule> ProductRules() { return kProducts; }

}  // namespace assay::work
