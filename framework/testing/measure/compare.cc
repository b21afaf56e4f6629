// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/compare.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "framework/metric/element.h"
#include "framework/testing/record/columns.h"

namespace assay::measure {
namespace {

constexpr size_t kMaxCharacters = 40;

template <class Number>
std::string NumberText(Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(number)) return "nan";  // to_chars may print its sign
  }
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

template <class Real>
std::string ComplexText(std::complex<Real> z) {
  std::string imaginary = NumberText(z.imag());
  if (imaginary[0] != '-') imaginary.insert(0, 1, '+');
  return NumberText(z.real()) + imaginary + "j";
}

// Cut between characters of UTF-8, not within one.
std::string Shortened(const std::string& text) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_one = (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
    if (starts_one && ++characters > kMaxCharacters) {
      return text.substr(0, i) + "...";
    }
  }
  return text;
}

std::string IntegerText(DType type, uint64_t bits) {
  if (ClassOf(type) == DTypeClass::kSigned) {
    const int unused = 64 - BitsOf(type);
    return NumberText(static_cast<int64_t>(bits << unused) >> unused);
  }
  if (type == DType::kBool && bits < 2) return bits == 1 ? "true" : "false";
  return NumberText(bits);
}

using Entries = std::vector<OutputMetrics>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Adds a copy of the entry that says what was found and what was wanted.
template <class... Parts>
void AddMismatch(const OutputMetrics& entry, Entries& metrics, Reason reason,
                 const Parts&... message) {
  OutputMetrics& added = metrics.emplace_back(entry);
  added.mismatch_reason = reason;
  added.mismatch = StrCat(message...);
}

// Checks that the elements of a tensor may be read.
void CheckReadable(const Tensor& got, const Tensor& want,
                   OutputMetrics& entry) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape()) {
    entry.mismatch_reason =
        got.dtype() != want.dtype() ? Reason::kDType : Reason::kShape;
    entry.mismatch =
        StrCat("found ", got.Signature(), ", wanted ", want.Signature());
    return;
  }
  const bool on_cpu = got.device().kind == Device::Kind::kCpu;
  if (!on_cpu || (got.data() == nullptr && got.byte_size() > 0)) {
    entry.mismatch_reason = Reason::kDevice;
    entry.mismatch = StrCat("found ", got.Signature(),
                            on_cpu ? " without memory" : " in device memory",
                            ", wanted it in CPU memory");
  }
}

void CompareStrings(const Tensor& got, const Tensor& want,
                    OutputMetrics& entry) {
  const auto got_strings = got.strings();
  const auto want_strings = want.strings();
  for (size_t i = 0; i < want_strings.size(); ++i) {
    if (got_strings[i] == want_strings[i]) continue;
    if (entry.out_of_limit++ == 0) entry.worst_index = static_cast<int64_t>(i);
  }
  entry.bitwise_equal = entry.out_of_limit == 0;
  if (entry.n_elem > 0) entry.headroom = entry.bitwise_equal ? 1 : -kInfinity;
}

constexpr size_t kBins = 11;

// The index of a ratio in OutputMetrics::error_bins. An integer has no limit
// but equality.
size_t BinOf(double ratio, bool is_integer) {
  if (ratio == 0) return 0;
  if (is_integer) return kBins - 1;
  size_t bin = 1;
  for (double edge = 1.0 / 16; bin + 1 < kBins && ratio > edge; edge *= 2) {
    ++bin;
  }
  return bin;
}

// Takes the worst elements and the error bins of a fail, for a person; a pass
// does not pay for them.
void TakeWorst(const Tensor& got, const Tensor& want,
               const std::vector<double>& ratios, OutputMetrics& entry) {
  const DTypeClass kind = ClassOf(want.dtype());
  const bool is_integer =
      kind != DTypeClass::kFloat && kind != DTypeClass::kComplex;
  entry.error_bins.assign(kBins, 0);
  std::vector<int64_t> order;
  for (size_t i = 0; i < ratios.size(); ++i) {
    ++entry.error_bins[BinOf(ratios[i], is_integer)];
    if (ratios[i] > 0) order.push_back(static_cast<int64_t>(i));
  }
  const auto count =
      static_cast<std::ptrdiff_t>(std::min(order.size(), kWorstElements));
  std::ranges::partial_sort(order, order.begin() + count, {}, [&](int64_t i) {
    return std::pair(-ratios[static_cast<size_t>(i)], i);
  });
  for (const int64_t i : std::span(order).first(static_cast<size_t>(count))) {
    entry.worst.push_back({i, ElementText(want, i), ElementText(got, i)});
  }
}

void CompareNumbers(const Tensor& got, const Tensor& want,
                    OutputMetrics& entry) {
  const metric::Tolerance tolerance = ToleranceOf(entry.limit);
  metric::ExactDifference difference;
  static_cast<metric::Difference&>(difference) =
      metric::Compare(got, want, tolerance);
  TakeDifference(difference, entry);
  if (entry.out_of_limit > 0) {
    TakeWorst(got, want, metric::RatiosOf(got, want, tolerance), entry);
  }
}

OutputMetrics CompareTensors(const Tensor& got, const Tensor& want,
                             OutputMetrics entry) {
  TakeType(got, entry);
  CheckReadable(got, want, entry);
  if (!entry.mismatch.empty()) return entry;
  if (entry.limit.comparator == record::Comparator::kDistribution) return entry;
  if (want.dtype() == DType::kString) {
    CompareStrings(got, want, entry);
  } else {
    CompareNumbers(got, want, entry);
  }
  TakeWorstTexts(got, want, entry);
  return entry;
}

// An agreement on nothing: an empty sequence, an optional of none.
void CompareEmpty(const ValueType& got, const ValueType& want,
                  OutputMetrics entry, Entries& metrics) {
  entry.shape = "[]";
  entry.dtype = got.ToString();
  if (!Accepts(want, got)) {
    return AddMismatch(entry, metrics, Reason::kDType, "found ", got.ToString(),
                       ", wanted ", want.ToString());
  }
  entry.bitwise_equal = true;
  metrics.push_back(std::move(entry));
}

void CompareSequences(const Value& got, const Value& want,
                      const OutputMetrics& entry, Entries& metrics) {
  const std::vector<Value>& got_items = got.sequence()->items;
  const std::vector<Value>& want_items = want.sequence()->items;
  if (got_items.size() != want_items.size()) {
    AddMismatch(entry, metrics, Reason::kShape, "found a sequence of ",
                got_items.size(), ", wanted ", want_items.size());
  } else if (want_items.empty()) {
    CompareEmpty(got.Type(), want.Type(), entry, metrics);
  }
  const size_t count = std::min(got_items.size(), want_items.size());
  for (size_t i = 0; i < count; ++i) {
    CompareValues(got_items[i], want_items[i],
                  Named(entry, StrCat("[", i, "]")), metrics);
  }
}

void CompareOptionals(const Value& got, const Value& want,
                      const OutputMetrics& entry, Entries& metrics) {
  const Optional& got_held = *got.optional();
  const Optional& want_held = *want.optional();
  if (got_held.has_value() != want_held.has_value()) {
    const std::string_view found = got_held.has_value() ? "a value" : "none";
    const std::string_view wanted = want_held.has_value() ? "a value" : "none";
    AddMismatch(entry, metrics, Reason::kValueKind, "found ", found, " of ",
                got.Type().ToString(), ", wanted ", wanted);
  } else if (!want_held.has_value()) {
    CompareEmpty(got.Type(), want.Type(), entry, metrics);
  } else {
    CompareValues(*got_held.value, *want_held.value, entry, metrics);
  }
}

// Keys in full, as ElementText cuts long strings.
std::string KeyText(const Tensor& keys, int64_t index) {
  if (keys.dtype() == DType::kString) {
    return keys.strings()[static_cast<size_t>(index)];
  }
  return ElementText(keys, index);
}

bool IsWellFormed(const Map& map) {
  const Tensor& keys = map.keys;
  return static_cast<uint64_t>(keys.num_elements()) == map.values.size() &&
         (keys.data() != nullptr || keys.byte_size() == 0);
}

void CompareMaps(const Map& got, const Map& want, const OutputMetrics& entry,
                 Entries& metrics) {
  if (!IsWellFormed(got) || !IsWellFormed(want) ||
      got.keys.dtype() != want.keys.dtype() ||
      got.values.size() != want.values.size()) {
    return AddMismatch(entry, metrics, Reason::kShape, "found a map of ",
                       got.values.size(), " values and ", got.keys.Signature(),
                       " keys, wanted ", want.values.size(), " and ",
                       want.keys.Signature());
  }
  if (want.values.empty()) metrics.push_back(entry);
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < got.values.size(); ++i) {
    places.emplace(KeyText(got.keys, static_cast<int64_t>(i)), i);
  }
  for (size_t i = 0; i < want.values.size(); ++i) {
    const std::string key = KeyText(want.keys, static_cast<int64_t>(i));
    const OutputMetrics named = Named(entry, StrCat("{", key, "}"));
    const auto place = places.find(key);
    if (place == places.end()) {
      AddMismatch(named, metrics, Reason::kValue, "found no key ", key,
                  ", wanted it");
    } else {
      CompareValues(got.values[place->second], want.values[i], named, metrics);
    }
  }
}

void CompareSparse(const SparseTensor& got, const SparseTensor& want,
                   const OutputMetrics& entry, Entries& metrics) {
  if (got.shape != want.shape) {
    return AddMismatch(entry, metrics, Reason::kShape,
                       "found a sparse tensor of shape ", got.shape.ToString(),
                       ", wanted ", want.shape.ToString());
  }
  metrics.push_back(CompareTensors(got.values, want.values, entry));
  OutputMetrics indices = Named(entry, ".indices");
  // Where the elements stand is not drawn at random.
  indices.limit.comparator = record::Comparator::kExact;
  metrics.push_back(
      CompareTensors(got.indices, want.indices, std::move(indices)));
}

}  // namespace

std::string ElementText(const Tensor& tensor, int64_t index) {
  const DType type = tensor.dtype();
  const std::byte* data = tensor.data();
  switch (type) {
    case DType::kString:
      return Shortened(tensor.strings()[static_cast<size_t>(index)]);
    case DType::kComplex64:
      return ComplexText(metric::LoadElement<std::complex<float>>(data, index));
    case DType::kComplex128:
      return ComplexText(
          metric::LoadElement<std::complex<double>>(data, index));
    case DType::kFloat64:
      return NumberText(metric::LoadElement<double>(data, index));
    default:
      break;
  }
  const uint64_t bits = metric::ElementBits(type, data, index);
  if (IsFloatingPoint(type)) {
    return NumberText(static_cast<float>(metric::DecodeFloat(type, bits)));
  }
  return IntegerText(type, bits);
}

OutputMetrics Named(OutputMetrics entry, std::string_view suffix) {
  entry.output_name += suffix;
  return entry;
}

metric::Tolerance ToleranceOf(const cases::Limit& limit) {
  if (limit.comparator != record::Comparator::kTolerance) return {};
  return {.rtol = limit.rtol, .atol = limit.atol};
}

void TakeType(const Tensor& got, OutputMetrics& entry) {
  entry.dtype = ToString(got.dtype());
  entry.shape = got.shape().ToString();
  entry.n_elem = got.num_elements();
}

void TakeWorstTexts(const Tensor& got, const Tensor& want,
                    OutputMetrics& entry) {
  if (entry.worst_index < 0) return;
  entry.worst_got = ElementText(got, entry.worst_index);
  entry.worst_want = ElementText(want, entry.worst_index);
}

void TakeDifference(const metric::ExactDifference& d, OutputMetrics& entry) {
  record::TakeNumbers(d, &entry);
  entry.nan_mismatch = d.nan_mismatch;
  entry.inf_mismatch = d.inf_mismatch;
  entry.sign_of_zero_mismatch = d.sign_of_zero_mismatch;
  entry.out_of_limit = d.out_of_limit;
  entry.bitwise_equal = d.bitwise_equal;
  entry.worst_index = d.worst_index;
  if (entry.n_elem > 0) entry.headroom = 1 - d.worst_ratio;
}

void CompareValues(const Value& got, const Value& want,
                   const OutputMetrics& entry, Entries& metrics) {
  if (got.kind() != want.kind()) {
    return AddMismatch(entry, metrics, Reason::kValueKind, "found ",
                       got.Type().ToString(), ", wanted ",
                       want.Type().ToString());
  }
  switch (want.kind()) {
    case ValueKind::kNone:
      return AddMismatch(entry, metrics, Reason::kValueKind,
                         "found no expected value, wanted one to compare with");
    case ValueKind::kTensor:
      metrics.push_back(CompareTensors(*got.tensor(), *want.tensor(), entry));
      return;
    case ValueKind::kSparseTensor:
      return CompareSparse(*got.sparse(), *want.sparse(), entry, metrics);
    case ValueKind::kSequence:
      return CompareSequences(got, want, entry, metrics);
    case ValueKind::kOptional:
      return CompareOptionals(got, want, entry, metrics);
    case ValueKind::kMap:
      return CompareMaps(*got.map(), *want.map(), entry, metrics);
  }
}

}  // namespace assay::measure
