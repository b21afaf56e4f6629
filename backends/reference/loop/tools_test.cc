// SPDX-License-Identifier: Apache-2.0
//
// The tools that carry the loops: nests, windows and products.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/loop/window.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

struct NestRow {
  const char* name;
  Shape extents;
  Strides first;
  Strides second;
  int rows;  // how many the innermost loops are
};

const std::vector<NestRow> kNestRows = {
    {"Scalar", {}, {}, {}, 1},
    {"DenseIsOneRow", {2, 3, 4}, {12, 4, 1}, {12, 4, 1}, 1},
    {"BroadcastInside", {2, 3}, {1, 0}, {3, 1}, 2},
    {"BroadcastOutside", {2, 3, 4}, {0, 4, 1}, {12, 4, 1}, 2},
    {"OnlyOneOperandIsDense", {2, 3}, {3, 1}, {1, 2}, 2},
    {"ExtentsOfOneDoNotSplit", {2, 1, 3, 1}, {3, 7, 1, 9}, {3, 3, 1, 1}, 1},
    {"Backwards", {3, 2}, {2, 1}, {-2, -1}, 1},
    {"Empty", {2, 0, 3}, {0, 3, 1}, {0, 3, 1}, 0},
    {"EmptyInside", {2, 0}, {5, 1}, {5, 1}, 0},
};

// The definition: every index in row-major order.
Pairs Visit(const NestRow& row) {
  Pairs visited;
  const int64_t count = *row.extents.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    std::pair<int64_t, int64_t> at = {0, 0};
    int64_t rest = i;
    for (int axis = row.extents.rank() - 1; axis >= 0; --axis) {
      const int64_t index = rest % row.extents[axis];
      rest /= row.extents[axis];
      at.first += index * row.first[static_cast<size_t>(axis)];
      at.second += index * row.second[static_cast<size_t>(axis)];
    }
    visited.push_back(at);
  }
  return visited;
}

TEST(Nest, VisitsEveryIndexOnceInFewRows) {
  for (const NestRow& row : kNestRows) {
    Pairs visited;
    int rows = 0;
    Nest<2>(row.extents, {row.first, row.second})
        .ForEachRow([&](const Nest<2>::Row& line) {
          ++rows;
          for (int64_t i = 0; i < line.count; ++i) {
            visited.emplace_back(line.at[0] + i * line.step[0],
                                 line.at[1] + i * line.step[1]);
          }
        });
    EXPECT_EQ(visited, Visit(row)) << row.name;
    EXPECT_EQ(rows, row.rows) << row.name;
  }
}

TEST(Nest, StartsWhereItIsTold) {
  std::vector<int64_t> visited;
  Nest<1>({2, 2}, {Strides{-4, 1}})
      .ForEachRow(
          [&](const Nest<1>::Row& row) {
            for (int64_t i = 0; i < row.count; ++i) {
              visited.push_back(row.at[0] + i * row.step[0]);
            }
          },
          {10});
  EXPECT_THAT(visited, ElementsAre(10, 11, 6, 7));
}

TEST(Shapes, Broadcast) {
  struct Case {
    Shape a, b, wanted;
  };
  for (const Case& row : {Case{{2, 1}, {3}, {2, 3}}, Case{{}, {2}, {2}},
                          Case{{0, 3}, {1, 3}, {0, 3}}, Case{{}, {}, {}}}) {
    EXPECT_EQ(*Broadcast(row.a, row.b), row.wanted);
    EXPECT_EQ(*Broadcast(row.b, row.a), row.wanted);
  }
  EXPECT_THAT(Broadcast({2}, {3}).status().message(),
              HasSubstr("[2] and [3] do not broadcast: 2 against 3"));
  EXPECT_EQ(Broadcast({0}, {2}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(BroadcastStrides({3, 1}, {2, 3, 4}), ElementsAre(0, 1, 0));
}

TEST(Shapes, AxesCountFromBothEnds) {
  EXPECT_EQ(*NormalizeAxis(-3, 3), 0);
  EXPECT_EQ(*NormalizeAxis(2, 3), 2);
  for (const int64_t axis : {int64_t{3}, int64_t{-4}, INT64_MIN}) {
    EXPECT_EQ(NormalizeAxis(axis, 3).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(Shapes, LinesAlongAnAxisAreApartByWhatIsInside) {
  const Result<AxisView> view = AxisView::Of({2, 3, 2}, -2);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->count, 3);
  EXPECT_EQ(view->inner, 2);
  std::vector<int64_t> starts;
  view->ForEachLine([&](int64_t start) { starts.push_back(start); });
  EXPECT_THAT(starts, ElementsAre(0, 1, 6, 7));
}

struct WindowRow {
  const char* name;
  int64_t input;
  WindowSpec spec;
  // For each window the positions it reads inside the input, first and count.
  std::vector<std::pair<int64_t, int64_t>> windows = {};
};

const std::vector<WindowRow> kWindowRows = {
    {"Plain", 5, {.kernel_shape = {3}}, {{0, 3}, {1, 3}, {2, 3}}},
    {"Strided", 6, {.kernel_shape = {2}, .strides = {3}}, {{0, 2}, {3, 2}}},
    {"Padded",
     3,
     {.kernel_shape = {3}, .pads = {1, 1}},
     {{0, 2}, {0, 3}, {1, 2}}},
    {"PaddedOnOneSide",
     3,
     {.kernel_shape = {2}, .pads = {0, 1}},
     {{0, 2}, {1, 2}, {2, 1}}},
    {"Dilated", 5, {.kernel_shape = {2}, .dilations = {3}}, {{0, 2}, {1, 2}}},
    {"DilatedInPadding",
     3,
     {.kernel_shape = {3}, .dilations = {2}, .pads = {3, 1}},
     {{1, 1}, {0, 2}, {1, 1}}},
    {"SameUpper",
     4,
     {.kernel_shape = {2}, .auto_pad = "SAME_UPPER"},
     {{0, 2}, {1, 2}, {2, 2}, {3, 1}}},
    {"SameLower",
     4,
     {.kernel_shape = {2}, .auto_pad = "SAME_LOWER"},
     {{0, 1}, {0, 2}, {1, 2}, {2, 2}}},
    {"Valid",
     4,
     {.kernel_shape = {2}, .strides = {2}, .auto_pad = "VALID"},
     {{0, 2}, {2, 2}}},
    {"Floor", 4, {.kernel_shape = {3}, .strides = {2}}, {{0, 3}}},
    {"Ceil",
     4,
     {.kernel_shape = {3}, .strides = {2}, .ceil_mode = true},
     {{0, 3}, {2, 2}}},
    // A third window would start in the padding at the end.
    {"CeilLeavesOutPadding",
     2,
     {.kernel_shape = {1}, .strides = {2}, .pads = {0, 1}, .ceil_mode = true},
     {{0, 1}}},
    {"OnlyPadding", 1, {.kernel_shape = {1}, .pads = {1, 0}}, {{0, 0}, {0, 1}}},
};

TEST(Window, StandsWhereTheAttributesSay) {
  for (const WindowRow& row : kWindowRows) {
    const Result<Window> window = Window::Plan(row.spec, {1, 1, row.input});
    ASSERT_TRUE(window.ok()) << row.name << ": " << window.status().message();
    std::vector<std::pair<int64_t, int64_t>> got;
    window->ForEach([&](int64_t o, auto&& taps) {
      EXPECT_EQ(o, static_cast<int64_t>(got.size())) << row.name;
      std::pair<int64_t, int64_t> reads = {0, 0};
      taps([&](int64_t i) {
        if (reads.second++ == 0) reads.first = i;
      });
      got.push_back(reads);
    });
    EXPECT_EQ(got, row.windows) << row.name;
    EXPECT_EQ(window->OutputSize(), static_cast<int64_t>(row.windows.size()))
        << row.name;
  }
}

TEST(Window, CountsPaddedTapsButNoneBeyondThePadding) {
  const Result<Window> window = Window::Plan(
      {.kernel_shape = {3}, .strides = {2}, .pads = {1, 0}, .ceil_mode = true},
      {1, 1, 3});
  ASSERT_TRUE(window.ok());
  ASSERT_EQ(window->OutputSize(), 2);
  EXPECT_EQ(window->PaddedTaps(0), 3);  // one of them in the padding
  EXPECT_EQ(window->PaddedTaps(1), 2);  // the third would be outside
}

TEST(Window, ThreeAxesAreReadInRowMajorOrder) {
  const Result<Window> window =
      Window::Plan({.kernel_shape = {2, 1, 2}}, {1, 1, 2, 3, 4});
  ASSERT_TRUE(window.ok());
  EXPECT_EQ(window->OutputShape(7, 8), (Shape{7, 8, 1, 3, 3}));
  std::vector<int64_t> reads;
  window->ForEach([&](int64_t o, auto&& taps) {
    if (o == 4) taps([&](int64_t i) { reads.push_back(i); });
  });
  EXPECT_THAT(reads, ElementsAre(5, 6, 17, 18));
  EXPECT_EQ(window->ColumnMajor(17), 1 + 2 * (1 + 3 * 1));
}

TEST(Window, ThereIsNoneWhereTheInputIsUpToAStrideShort) {
  const std::vector<WindowSpec> rows = {
      {.kernel_shape = {3}},
      {.kernel_shape = {4}, .strides = {2}},
      {.kernel_shape = {4}, .strides = {2}, .ceil_mode = true}};
  for (const WindowSpec& row : rows) {
    EXPECT_EQ(Window::Plan(row, {1, 1, 2})->OutputSize(), 0);
  }
  const WindowSpec overhanging = {
      .kernel_shape = {3}, .strides = {2}, .ceil_mode = true};
  EXPECT_EQ(Window::Plan(overhanging, {1, 1, 2})->OutputSize(), 1);
}

TEST(Window, RefusesWhatDoesNotFit) {
  struct Bad {
    WindowSpec spec;
    Shape input;
    const char* message;
    StatusCode code = StatusCode::kInvalidArgument;
  };
  const std::vector<Bad> rows = {
      {{.kernel_shape = {4}, .strides = {1}},
       {1, 1, 2},
       "spans 4 is larger than the padded input of extent 2 by more than a "
       "stride of 1"},
      {{.kernel_shape = {3, 3}},
       {1, 1, 5},
       "kernel_shape has 2 values, wanted 1"},
      {{.kernel_shape = {1}, .strides = {0}},
       {1, 1, 5},
       "strides has the value 0"},
      {{.kernel_shape = {1}, .pads = {-1, 0}},
       {1, 1, 5},
       "pads has the value -1"},
      {{.kernel_shape = {1}, .auto_pad = "SAME"},
       {1, 1, 5},
       "auto_pad is 'SAME'"},
      {{}, {1, 1}, "[1,1]", StatusCode::kUnsupported},
      {{}, {1, 1, 2, 2, 2, 2}, "three spatial axes", StatusCode::kUnsupported},
  };
  for (const Bad& row : rows) {
    EXPECT_THAT(Window::Plan(row.spec, row.input).status(),
                IsStatus(row.code, row.message));
  }
}

// A matrix of small whole numbers, whose products are exact in every scalar.
template <class T>
std::vector<T> RandomIntegers(int64_t count, uint32_t seed) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    numbers.push_back(static_cast<T>(seed >> 29));
  }
  return numbers;
}

// The definition, one term after the other.
template <class T>
void Define(const Product& p, const T* a, const T* b, T* y) {
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j) {
      for (int64_t t = 0; t < p.inner; ++t) {
        y[i * p.y.row + j * p.y.column] += static_cast<T>(p.scale) *
                                           a[i * p.a.row + t * p.a.column] *
                                           b[t * p.b.row + j * p.b.column];
      }
    }
  }
}

struct ProductRow {
  const char* name;
  Product product;
};

/// [5,7] by [7,3].
Product Strided(MatrixStrides a, MatrixStrides b, MatrixStrides y,
                double scale = 1) {
  return {.rows = 5,
          .inner = 7,
          .columns = 3,
          .a = a,
          .b = b,
          .y = y,
          .scale = scale};
}

const std::vector<ProductRow> kProductRows = {
    {"Dense", DenseProduct(5, 7, 3)},
    {"LargerThanATile", DenseProduct(33, 70, 41)},
    {"OneRow", DenseProduct(1, 6, 4)},
    {"OneColumn", DenseProduct(6, 4, 1)},
    {"OneTerm", DenseProduct(4, 1, 3)},
    {"NoRows", DenseProduct(0, 4, 3)},
    {"NoTerms", DenseProduct(4, 0, 3)},
    {"ATransposed", Strided({1, 5}, {3, 1}, {3, 1})},
    {"BTransposed", Strided({7, 1}, {1, 7}, {3, 1})},
    {"BothTransposed", Strided({1, 5}, {1, 7}, {3, 1})},
    {"YTransposed", Strided({7, 1}, {3, 1}, {1, 5})},
    {"TileOfWiderY", Strided({7, 1}, {3, 1}, {9, 1})},
    {"NoUnitStride", Strided({20, 2}, {9, 3}, {8, 2})},
    {"Scaled", Strided({7, 1}, {3, 1}, {3, 1}, 2)},
};

constexpr int64_t kRoom = 8192;  // more than any row reaches

template <class T>
void ExpectDefinition(const SimdLoops<T>* loops, const ProductRow& row) {
  const std::vector<T> a = RandomIntegers<T>(kRoom, 1);
  const std::vector<T> b = RandomIntegers<T>(kRoom, 2);
  std::vector<T> got =
      RandomIntegers<T>(kRoom, 3);  // added to, and kept elsewhere
  std::vector<T> wanted = got;
  Accumulate(loops, row.product, a.data(), b.data(), got.data());
  Define(row.product, a.data(), b.data(), wanted.data());
  EXPECT_EQ(got, wanted) << row.name;
}

TEST(Product, AddsTheTermsOfItsDefinition) {
  for (const ProductRow& row : kProductRows) {
    for (const Isa isa : AvailableIsas()) {
      ExpectDefinition(LoopsFor<float>(isa), row);
      ExpectDefinition(LoopsFor<double>(isa), row);
    }
    ExpectDefinition<double>(nullptr, row);
    ExpectDefinition<int64_t>(nullptr, row);
    ExpectDefinition<uint64_t>(nullptr, row);
  }
}

template <class T>
T ExactDot(const std::vector<T>& a, const std::vector<T>& b) {
  T sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// <dy, P(a, b)> = <a, ForA(dy, b)> = <b, ForB(a, dy)>: with whole numbers the
// three are equal, so a wrong stride or a lost scale shows.
TEST(Product, RolesExchangeToTheAdjoints) {
  for (const ProductRow& row : kProductRows) {
    const std::vector<double> a = RandomIntegers<double>(kRoom, 1);
    const std::vector<double> b = RandomIntegers<double>(kRoom, 2);
    const std::vector<double> dy = RandomIntegers<double>(kRoom, 4);
    std::vector<double> y(kRoom, 0);
    std::vector<double> da(kRoom, 0);
    std::vector<double> db(kRoom, 0);
    const SimdLoops<double>* loops = LoopsFor<double>(BestIsa());
    Accumulate(loops, row.product, a.data(), b.data(), y.data());
    Accumulate(loops, ForA(row.product), dy.data(), b.data(), da.data());
    Accumulate(loops, ForB(row.product), a.data(), dy.data(), db.data());
    EXPECT_EQ(ExactDot(dy, y), ExactDot(a, da)) << row.name;
    EXPECT_EQ(ExactDot(dy, y), ExactDot(b, db)) << row.name;
  }
}

}  // namespace
}  // namespace assay::reference
