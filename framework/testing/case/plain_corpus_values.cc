// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "framework/core/value_walk.h"
#include "framework/metric/element.h"
#include "framework/testing/case/plain_corpus_case.h"

namespace assay::cases {
namespace {

/// True when all of n > 0 elements equal the first, or all are NaN. `same(i)`
/// compares as numbers do, so that a zero equals the other zero.
template <class Same, class IsNan>
bool Repeats(int64_t n, Same same, IsNan is_nan) {
  bool equal = true;
  bool nan = true;
  for (int64_t i = 0; i < n && (equal || nan); ++i) {
    equal = equal && same(i);
    nan = nan && is_nan(i);
  }
  return equal || nan;
}

bool RepeatsOneFloat(DType type, const std::byte* data, int64_t n) {
  const auto at = [&](int64_t i) {
    return metric::DecodeFloat(type, metric::ElementBits(type, data, i));
  };
  return Repeats(
      n, [&](int64_t i) { return at(i) == at(0); },
      [&](int64_t i) { return std::isnan(at(i)); });
}

bool RepeatsOneComplex(DType part, const std::byte* data, int64_t n) {
  const auto at = [&](int64_t i) {
    return metric::DecodeFloat(part, metric::ElementBits(part, data, i));
  };
  return Repeats(
      n,
      [&](int64_t i) { return at(2 * i) == at(0) && at(2 * i + 1) == at(1); },
      [&](int64_t i) {
        return std::isnan(at(2 * i)) || std::isnan(at(2 * i + 1));
      });
}

bool RepeatsOneValue(const Tensor& tensor) {
  const DType type = tensor.dtype();
  const int64_t n = tensor.num_elements();
  const auto never = [](int64_t) { return false; };
  switch (ClassOf(type)) {
    case DTypeClass::kString: {
      const auto strings = tensor.strings();
      return std::ranges::all_of(strings, [&](const std::string& text) {
        return text == strings.front();
      });
    }
    case DTypeClass::kFloat:
      return RepeatsOneFloat(type, tensor.data(), n);
    case DTypeClass::kComplex:
      return RepeatsOneComplex(
          type == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64,
          tensor.data(), n);
    default:
      return Repeats(
          n,
          [&](int64_t i) {
            return metric::ElementBits(type, tensor.data(), i) ==
                   metric::ElementBits(type, tensor.data(), 0);
          },
          never);
  }
}

/// As Python prints a float32: the shortest digits, with a point or in
/// scientific form.
std::string FloatText(float value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : (std::signbit(value) ? "-inf" : "inf");
  }
  const float size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4F && size < 1e16F);
  std::array<char, 64> buffer;
  const auto end = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), value,
      fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string PlainText(float value) { return FloatText(value); }
std::string PlainText(int64_t value) { return std::to_string(value); }
std::string PlainText(const std::string& value) { return value; }

template <class T>
std::string PlainText(const std::vector<T>& list) {
  std::string text = "[";
  for (const T& item : list) {
    text += StrCat(text.size() > 1 ? "," : "", PlainText(item));
  }
  return text + "]";
}

std::string PlainText(const Tensor& tensor) {
  return StrCat("tensor(", tensor.dtype(), ",", tensor.shape().ToString(), ")");
}

template <class... T>
struct Overloaded : T... {
  using T::operator()...;
};
template <class... T>
Overloaded(T...) -> Overloaded<T...>;

}  // namespace

std::string VacuityOf(const std::vector<DataSet>& sets) {
  bool empty = true;
  bool constant = true;
  for (const DataSet& set : sets) {
    for (const Value& value : set.expected) {
      ForEachTensor(value, [&](const Tensor& tensor) {
        if (tensor.num_elements() == 0) return;
        empty = false;
        constant =
            constant && tensor.num_elements() > 1 && RepeatsOneValue(tensor);
      });
    }
  }
  if (empty) return "zero-size output";
  return constant ? "constant output" : "";
}

std::string AttributeText(const Attribute& attribute) {
  using Graphs = std::vector<std::shared_ptr<const Graph>>;
  std::string text = std::visit(
      Overloaded{
          [](std::monostate) { return std::string("undefined"); },
          [](const std::shared_ptr<const Graph>&) {
            return std::string("graph");
          },
          [](const SparseTensor&) { return std::string("sparse_tensor"); },
          [](const ValueType&) { return std::string("type_proto"); },
          [](const std::vector<Tensor>&) { return std::string("tensors"); },
          [](const Graphs&) { return std::string("graphs"); },
          [](const std::vector<SparseTensor>&) {
            return std::string("sparse_tensors");
          },
          [](const std::vector<ValueType>&) {
            return std::string("type_protos");
          },
          [](const auto& plain) { return PlainText(plain); }},
      attribute.held);
  constexpr size_t kMaxText = 64;
  if (text.size() > kMaxText) text.replace(kMaxText - 3, text.npos, "...");
  return text;
}

}  // namespace assay::cases
