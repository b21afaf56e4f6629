// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/simd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// In [-1, 1), with all the bits that T has.
template <class T>
std::vector<T> Fractions(int64_t count, uint64_t seed) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    numbers.push_back(static_cast<T>(static_cast<int64_t>(seed)) *
                      static_cast<T>(std::ldexp(1.0, -63)));
  }
  return numbers;
}

// |computed - exact| <= gamma_n * sum |a||b|, gamma_n = n u / (1 - n u), in
// every order of summation, with FMA or without (Higham, Accuracy and Stability
// of Numerical Algorithms, 3.1 and 3.5); n = inner + 1 here as y is added to.
template <class T>
void ExpectWithinBound(Isa isa, int64_t rows, int64_t inner, int64_t columns) {
  using Wide = long double;
  const auto a = Fractions<T>(rows * inner, 1);
  const auto b = Fractions<T>(inner * columns, 2);
  const auto y0 = Fractions<T>(rows * columns, 3);
  std::vector<T> y = y0;
  Accumulate(LoopsFor<T>(isa), DenseProduct(rows, inner, columns), a.data(),
             b.data(), y.data());
  const Wide unit = std::numeric_limits<T>::epsilon() / Wide(2);
  const Wide terms = static_cast<Wide>(inner + 1);
  const Wide gamma = terms * unit / (1 - terms * unit);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<size_t>(i * columns + j);
      Wide exact = y0[at];
      Wide size = std::abs(exact);
      for (int64_t t = 0; t < inner; ++t) {
        const Wide term =
            static_cast<Wide>(a[static_cast<size_t>(i * inner + t)]) *
            static_cast<Wide>(b[static_cast<size_t>(t * columns + j)]);
        exact += term;
        size += std::abs(term);
      }
      ASSERT_LE(std::abs(static_cast<Wide>(y[at]) - exact), gamma * size)
          << NameOf(isa) << " " << rows << "x" << inner << "x" << columns
          << " element " << at;
    }
  }
}

TEST(Simd, ProductsAreWithinTheirBoundInEveryInstructionSet) {
  const std::vector<std::array<int64_t, 3>> shapes = {
      {1, 1, 1},   {1, 300, 70}, {70, 300, 1},   {3, 5, 7},
      {17, 33, 9}, {64, 64, 64}, {100, 513, 50}, {48, 7, 250}};
  for (const Isa isa : AvailableIsas()) {
    for (const auto& [rows, inner, columns] : shapes) {
      ExpectWithinBound<float>(isa, rows, inner, columns);
      ExpectWithinBound<double>(isa, rows, inner, columns);
    }
  }
}

// -round(a * a) + a * a is 0 when products are rounded, and not with FMA: so
// each name stands for other code.
TEST(Simd, EachInstructionSetHasItsOwnLoops) {
  constexpr int64_t kSize = 64;
  const float one_more = 1 + std::ldexp(1.0F, -12);
  std::vector<float> a(kSize * 2, one_more);  // kSize x 2
  std::vector<float> b(2 * kSize, one_more);  // 2 x kSize
  for (size_t i = 0; i < kSize; ++i) {
    a[2 * i] = -(one_more * one_more);
    b[i] = 1;
  }
  for (const Isa isa : AvailableIsas()) {
    std::vector<float> y(kSize * kSize, 0);
    Accumulate(LoopsFor<float>(isa), DenseProduct(kSize, 2, kSize), a.data(),
               b.data(), y.data());
    const bool fused = y[kSize + 1] != 0;
    EXPECT_EQ(fused, isa != Isa::kSse2) << NameOf(isa);
  }
  if (IsAvailable(Isa::kAvx512)) {
    EXPECT_NE(LoopsFor<float>(Isa::kAvx512)->multiply,
              LoopsFor<float>(Isa::kAvx2)->multiply);
  }
}

const std::vector<std::pair<Shape, WindowSpec>> kWindows = {
    {{1, 1, 9}, {.kernel_shape = {3}}},
    {{1, 1, 20}, {.kernel_shape = {4}, .strides = {3}, .pads = {3, 2}}},
    {{1, 1, 7, 19}, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}},
    {{1, 1, 12, 37},
     {.kernel_shape = {3, 2}, .strides = {2, 2}, .pads = {0, 1, 2, 1}}},
    {{1, 1, 9, 11},
     {.kernel_shape = {2, 3}, .dilations = {2, 4}, .pads = {1, 2, 3, 4}}},
    {{1, 1, 5, 5},
     {.kernel_shape = {3, 3}, .strides = {2, 2}, .ceil_mode = true}},
    {{1, 1, 3, 4, 5}, {.kernel_shape = {2, 3, 2}, .pads = {1, 1, 1, 1, 1, 1}}},
    {{1, 1, 1, 1}, {.kernel_shape = {5, 5}, .pads = {2, 2, 2, 2}}},
    {{1, 1, 2}, {.kernel_shape = {1}, .strides = {4}, .pads = {3, 3}}}};

template <class T>
void ExpectTapsAsDefined(Isa isa, const Window& window, std::vector<T> x) {
  const auto outputs = static_cast<size_t>(window.OutputSize());
  std::vector<T> sums(outputs, T(0));
  std::vector<T> greatest(outputs, Bound<T>());
  std::vector<T> got_sums = sums;
  std::vector<T> got_greatest = greatest;
  window.ForEach([&](int64_t o, auto&& taps) {
    taps([&](int64_t i) {
      const auto at = static_cast<size_t>(o);
      sums[at] += x[static_cast<size_t>(i)];
      greatest[at] = Max(greatest[at], x[static_cast<size_t>(i)]);
    });
  });
  const SimdLoops<T>& loops = *LoopsFor<T>(isa);
  loops.add_taps(window.axes(), x.data(), nullptr, got_sums.data());
  loops.max_taps(window.axes(), x.data(), got_greatest.data());
  for (size_t o = 0; o < outputs; ++o) {
    if (std::isnan(sums[o])) {
      EXPECT_TRUE(std::isnan(got_sums[o])) << NameOf(isa) << " window " << o;
      EXPECT_TRUE(std::isnan(got_greatest[o])) << NameOf(isa) << o;
      continue;
    }
    EXPECT_EQ(got_sums[o], sums[o]) << NameOf(isa) << " window " << o;
    EXPECT_EQ(got_greatest[o], greatest[o]) << NameOf(isa) << " window " << o;
  }
}

TEST(Simd, TapsAreThoseOfTheWindowBitForBit) {
  for (const auto& [shape, spec] : kWindows) {
    const Window window = *Window::Plan(spec, shape);
    auto x = Fractions<float>(window.InputSize(), 5);
    auto wide = Fractions<double>(window.InputSize(), 5);
    for (const Isa isa : AvailableIsas()) {
      ExpectTapsAsDefined(isa, window, x);
      ExpectTapsAsDefined(isa, window, wide);
    }
    x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    for (const Isa isa : AvailableIsas()) ExpectTapsAsDefined(isa, window, x);
  }
}

TEST(Simd, ConvolutionsByTapAreTheirProducts) {
  // Two groups of one channel and two filters each.
  const std::string graph =
      "g (float[1,2,3,4] x, float[4,1,2,2] w) => (float[1,4,2,3] y) "
      "{ y = Conv<group = 2>(x, w) }";
  std::vector<double> x(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 7);
  const std::vector<double> w = {1, 2, 3, 4, -1, 0, 0, 1,
                                 2, 0, 0, 0, 0,  5, 1, 0};
  std::vector<double> y;
  for (size_t m = 0; m < 4; ++m) {
    for (size_t i = 0; i < 6; ++i) {
      const double* from = x.data() + m / 2 * 12 + i / 3 * 4 + i % 3;
      const double* tap = w.data() + m * 4;
      y.push_back(tap[0] * from[0] + tap[1] * from[1] + tap[2] * from[4] +
                  tap[3] * from[5]);
    }
  }
  for (const Isa isa : AvailableIsas()) {
    const auto got =
        OutputsOf(graph, {F({1, 2, 3, 4}, x), F({4, 1, 2, 2}, w)},
                  {.settings = {{"isa", std::string(NameOf(isa))}}});
    EXPECT_EQ(NumbersOf(got[0]), y) << NameOf(isa);
  }
}

std::vector<Isa>& Entered() {
  static std::vector<Isa> entered;
  return entered;
}

template <Isa kIsa>
const Isa* Enter() {
  static constexpr Isa kOwn = kIsa;
  Entered().push_back(kOwn);
  return &kOwn;
}

// Kills: an object that is entered for another instruction set, or beside it.
TEST(Simd, EntersTheObjectOfTheInstructionSetAlone) {
  const IsaEntries<Isa> entries = {.sse2 = Enter<Isa::kSse2>,
                                   .avx2 = Enter<Isa::kAvx2>,
                                   .avx512 = Enter<Isa::kAvx512>};
  for (const Isa isa : {Isa::kSse2, Isa::kAvx2, Isa::kAvx512}) {
    Entered().clear();
    EXPECT_EQ(entries.LoopsFor(isa), isa);
    EXPECT_EQ(Entered(), std::vector<Isa>({isa}));
  }
}

TEST(Simd, TheBestIsTheGreatestOfTheAvailable) {
  const std::vector<Isa> isas = AvailableIsas();
  EXPECT_EQ(isas.front(), Isa::kSse2);
  EXPECT_EQ(isas.back(), BestIsa());
  for (const Isa isa : {Isa::kSse2, Isa::kAvx2, Isa::kAvx512}) {
    EXPECT_EQ(std::ranges::count(isas, isa), IsAvailable(isa) ? 1 : 0);
    EXPECT_TRUE(!IsAvailable(isa) || isa <= BestIsa()) << NameOf(isa);
  }
}

TEST(Simd, SettingNamesAnInstructionSet) {
  const std::string graph = "g (float[1] x) => (float[1] y) { y = Relu(x) }";
  const auto status = [&](std::map<std::string, std::string> settings) {
    return Compute(graph, {F({1}, {1})}, {.settings = std::move(settings)})
        .status();
  };
  EXPECT_TRUE(status({}).ok());
  EXPECT_TRUE(status({{"isa", "sse2"}}).ok());
  EXPECT_EQ(status({{"isa", "avx"}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status({{"isa", ""}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status({{"threads", "1"}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*IsaOf({.settings = {{"isa", "sse2"}}}), Isa::kSse2);
  EXPECT_EQ(*IsaOf({}), BestIsa());
  EXPECT_EQ(NamesUpTo(Isa::kSse2), (std::vector<std::string>{"sse2"}));
  EXPECT_EQ(NamesUpTo(BestIsa()).size(), AvailableIsas().size());
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    const std::string name(NameOf(isa));
    EXPECT_EQ(*ParseIsa(name), isa);
    EXPECT_EQ(IsaOf({.settings = {{"isa", name}}}).ok(), IsAvailable(isa));
  }
}

}  // namespace
}  // namespace assay::reference
