// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/special.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

#include "framework/metric/element.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/suite/suite.h"

namespace assay {
namespace {

std::vector<const SpecialCase*> AllCases() {
  std::vector<const SpecialCase*> all;
  for (const SpecialTheme& theme : SpecialThemes()) {
    for (const SpecialCase& c : theme.cases) all.push_back(&c);
  }
  return all;
}

std::string IdOf(const SpecialCase& c) { return StrCat("special/", c.name); }

Limit LimitOf(const SpecialCase& c) {
  return {c.rtol > 0 ? Comparator::kTolerance : Comparator::kExact, c.rtol, 0,
          ""};
}

/// The raw outcome of a backend that gives `outputs`.
Outcome OutcomeOf(const SpecialCase& c, const Values& outputs) {
  const std::vector<std::string> names(outputs.size(), "y");
  Observation seen;
  seen.outputs = outputs;
  return Judge(seen, Measure(seen.outputs, c.expected(), names, LimitOf(c)))
      .outcome;
}

/// The tensors of a value, copied so that they may be written to.
Value CopyOf(const Value& value) {
  if (const Tensor* tensor = value.tensor()) return tensor->Clone().value();
  if (const Map* map = value.map()) {
    Map copy{map->keys.Clone().value(), map->values};
    for (Value& item : copy.values) item = CopyOf(item);
    return copy;
  }
  Sequence copy = *value.sequence();
  for (Value& item : copy.items) item = CopyOf(item);
  return copy;
}

/// The tensors of a value, which share its bytes.
void AddTensors(const Value& value, std::vector<Tensor>& tensors) {
  if (const Tensor* tensor = value.tensor()) tensors.push_back(*tensor);
  if (const Map* map = value.map()) {
    tensors.push_back(map->keys);
    for (const Value& item : map->values) AddTensors(item, tensors);
  }
  if (const Sequence* sequence = value.sequence()) {
    for (const Value& item : sequence->items) AddTensors(item, tensors);
  }
}

/// Calls visit(tensor, outputs) for each tensor of a copy of the expected
/// outputs, in sequences and maps too.
template <class Visit>
void ForEachTensor(const SpecialCase& c, const Visit& visit) {
  Values outputs;
  for (const Value& value : c.expected()) outputs.push_back(CopyOf(value));
  std::vector<Tensor> tensors;
  for (const Value& value : outputs) AddTensors(value, tensors);
  for (Tensor& tensor : tensors) visit(tensor, outputs);
}

/// Another value at `index`: 0 in place of NaN, else `bit` is another; of a
/// complex number, the lowest of its real part.
void Change(Tensor& tensor, int64_t index, uint64_t bit) {
  const DType type = tensor.dtype();
  if (type == DType::kString) {
    tensor.mutable_strings()[static_cast<size_t>(index)] += "?";
    return;
  }
  const int width = BitsOf(type);
  if (ClassOf(type) == DTypeClass::kComplex) {
    tensor.mutable_data()[index * width / 8] ^= std::byte{1};
    return;
  }
  const uint64_t bits = ElementBits(type, tensor.data(), index);
  const bool is_nan =
      IsFloatingPoint(type) && std::isnan(DecodeFloat(type, bits));
  const uint64_t flip = is_nan ? bits : bit;
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  for (int k = 0; k < width; ++k) {
    if ((flip >> k & 1) == 0) continue;
    const int64_t at = index * width + k;
    bytes[at / 8] ^= static_cast<uint8_t>(1U << (at % 8));
  }
}

/// The elements of `right`, of the same type and shape, again.
void Restore(Tensor& tensor, const Tensor& right) {
  if (tensor.dtype() == DType::kString) {
    std::ranges::copy(right.strings(), tensor.mutable_strings().begin());
  } else {
    std::ranges::copy(right.bytes(), tensor.mutable_data());
  }
}

TEST(Special, RowsAreWholeAndUnique) {
  std::set<std::string_view> names;
  for (const SpecialCase* c : AllCases()) {
    SCOPED_TRACE(c->name);
    EXPECT_TRUE(names.insert(c->name).second) << "twice";
    EXPECT_GT(c->shows.size(), 5U);
    EXPECT_EQ(c->rtol > 0, !c->rtol_reason.empty());
    const auto data = SpecialData(IdOf(*c));
    ASSERT_TRUE(data.ok()) << data.status().ToString();
    const Graph& graph = data->model->graph();
    ASSERT_EQ(data->sets.size(), 1U);
    const DataSet& set = data->sets.front();
    ASSERT_EQ(set.inputs.size(), graph.inputs.size());
    ASSERT_EQ(set.expected.size(), graph.outputs.size());
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const auto id = static_cast<size_t>(graph.inputs[i]);
      EXPECT_TRUE(Accepts(graph.values[id].type, set.inputs[i].Type()))
          << "input " << i;
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const auto id = static_cast<size_t>(graph.outputs[i]);
      EXPECT_TRUE(Accepts(graph.values[id].type, set.expected[i].Type()))
          << "output " << i;
    }
  }
  EXPECT_GE(names.size(), 90U);
}

TEST(Special, EveryThemeHasCases) {
  std::set<std::string_view> themes;
  for (const SpecialTheme& theme : SpecialThemes()) {
    EXPECT_GE(theme.cases.size(), 15U) << theme.name;
    themes.insert(theme.name);
  }
  EXPECT_THAT(themes, testing::UnorderedElementsAre(
                          "accumulation", "attributes", "axes", "casts",
                          "collections", "control", "denormals", "dictionaries",
                          "features", "floats", "integers", "large", "learned",
                          "moved", "nonfinite", "numbers", "options", "powers",
                          "recurrent", "signals", "sizes", "text", "ties",
                          "training", "trees", "versions", "zeros"));
}

TEST(Special, TheSuiteHasEveryRow) {
  const Suite* suite = FindSuite("special");
  ASSERT_NE(suite, nullptr);
  EXPECT_EQ(suite->judge, nullptr);
  const auto cases = suite->cases();
  ASSERT_EQ(cases.size(), AllCases().size());
  for (const TestCase& c : cases) {
    EXPECT_FALSE(c.operators.empty() || c.dtypes.empty()) << c.test_id;
    EXPECT_THAT(c.operators,
                testing::Contains(
                    StrCat(c.domain, "::", c.op.substr(c.op.rfind('.') + 1))));
    EXPECT_TRUE(suite->data(c.test_id).ok()) << c.test_id;
  }
  for (const std::string_view id : {"special/Relu", "special", "node/Relu/x"}) {
    EXPECT_EQ(suite->data(id).status().code(), StatusCode::kNotFound) << id;
  }
}

TEST(Special, WhatIsExpectedPassesAndAnyOtherElementFails) {
  constexpr int64_t kTried = 40;  // of a tensor, the first and last among them
  for (const SpecialCase* c : AllCases()) {
    SCOPED_TRACE(c->name);
    EXPECT_EQ(OutcomeOf(*c, c->expected()), Outcome::kPass);
    ForEachTensor(*c, [&](Tensor& tensor, const Values& outputs) {
      const int64_t last = tensor.num_elements() - 1;
      const int64_t step = std::max<int64_t>(1, last / kTried);
      for (int64_t i = last; i >= 0;
           i = i == 0 ? -1 : std::max<int64_t>(i - step, 0)) {
        const Tensor right = tensor.Clone().value();
        Change(tensor, i, c->rtol > 0 ? 64 : 1);  // of float32, 2^-17
        EXPECT_EQ(OutcomeOf(*c, outputs), Outcome::kFail) << "element " << i;
        Restore(tensor, right);
      }
    });
  }
}

/// Whether a backend passes that fills every output with its first element.
bool PassesWithConstants(const SpecialCase& c) {
  bool any = false;
  Values outputs;
  for (const Value& value : c.expected()) outputs.push_back(CopyOf(value));
  for (Value& value : outputs) {
    Tensor* const tensor = value.mutable_tensor();
    if (tensor == nullptr || tensor->num_elements() < 2) return false;
    any = true;
    if (tensor->dtype() == DType::kString) {
      const auto texts = tensor->mutable_strings();
      std::ranges::fill(texts, std::string(texts[0]));
      continue;
    }
    const auto width = static_cast<size_t>(BitsOf(tensor->dtype()));
    if (width < 8) return false;
    std::byte* const data = tensor->mutable_data();
    for (int64_t i = 1; i < tensor->num_elements(); ++i) {
      std::copy(data, data + width / 8,
                data + i * static_cast<int64_t>(width / 8));
    }
  }
  return any && OutcomeOf(c, outputs) == Outcome::kPass;
}

/// Whether a backend passes that leaves every output zero.
bool PassesWithZeros(const SpecialCase& c) {
  Values outputs;
  for (const Value& value : c.expected()) {
    const Tensor* const tensor = value.tensor();
    if (tensor == nullptr) return false;
    outputs.push_back(
        Tensor::Allocate(tensor->dtype(), tensor->shape()).value());
  }
  return OutcomeOf(c, outputs) == Outcome::kPass;
}

TEST(Special, NoCaseIsPassedByZerosOrAConstant) {
  for (const SpecialCase* c : AllCases()) {
    EXPECT_FALSE(PassesWithZeros(*c)) << c->name;
    EXPECT_FALSE(PassesWithConstants(*c)) << c->name;
  }
}

/// Two values that compare equal but are not the same bits would hide a sign:
/// where a case is about that of zero, no zero is expected.
TEST(Special, SignsOfZeroAreSeenAsInfinities) {
  for (const SpecialTheme& theme : SpecialThemes()) {
    if (theme.name != "zeros") continue;
    for (const SpecialCase& c : theme.cases) {
      for (const Value& value : c.expected()) {
        const Tensor& tensor = *value.tensor();
        if (!IsFloatingPoint(tensor.dtype())) continue;
        for (int64_t i = 0; i < tensor.num_elements(); ++i) {
          EXPECT_NE(DecodeFloat(tensor.dtype(),
                                ElementBits(tensor.dtype(), tensor.data(), i)),
                    0)
              << c.name;
        }
      }
    }
  }
}

TEST(Special, NumbersAreTakenExactlyOrNotAtAll) {
  struct Row {
    DType type;
    double number;
    uint64_t bits;
  };
  constexpr Row kRight[] = {
      {kF16, 1, 0x3C00},
      {kF16, 0x1p-24, 1},
      {kF16, 0x1p-14, 0x400},
      {kF16, -65504, 0xFBFF},
      {kF16, -0.0, 0x8000},
      {kBF16, 1.5, 0x3FC0},
      {kF32, 0x1p-149, 1},
      {kF64, 0.1, 0x3FB999999999999A},
      {kI8, -128, 0xFFFFFFFFFFFFFF80},
      {kU64, 0x1p63, 1ULL << 63},
      {DType::kFloat8E4M3FN, 448, 0x7E},
      {DType::kInt4, -8, 0xFFFFFFFFFFFFFFF8},
      {DType::kUint4, 15, 15},
      {kBool, 1, 1},
  };
  for (const Row& row : kRight) {
    EXPECT_EQ(EncodeExactly(row.type, row.number), row.bits)
        << ToString(row.type) << " " << row.number;
  }
  constexpr Row kWrong[] = {
      {kF16, 2049, 0},
      {kF16, 65520, 0},
      {kF16, 0x1p-25, 0},
      {kBF16, 257, 0},
      {kF32, 0.1, 0},
      {kF32, 1e300, 0},
      {kI8, 128, 0},
      {kI8, 0.5, 0},
      {kU8, -1, 0},
      {kBool, 2, 0},
      {kI64, 0x1p63, 0},
      {DType::kFloat8E4M3FN, 449, 0},
      {DType::kFloat8E4M3FN, kInf, 0},
      {DType::kUint4, 16, 0},
  };
  for (const Row& row : kWrong) {
    EXPECT_THROW(EncodeExactly(row.type, row.number), std::invalid_argument)
        << ToString(row.type) << " " << row.number;
  }
  EXPECT_THROW(Of(kF32, {3}, {1, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace assay
