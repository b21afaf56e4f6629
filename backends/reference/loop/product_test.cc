// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/simd.h"

namespace assay::reference {
namespace {

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
