// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/value_text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "conformance/special/text_parts.h"
#include "framework/core/text.h"
#include "framework/metric/element.h"

namespace assay::special {
namespace {

// The float16 nearest below in size; that it is the number itself is for the
// caller to see.
uint64_t Float16Bits(double number) {
  const uint64_t sign = std::signbit(number) ? 0x8000 : 0;
  if (std::isnan(number)) return 0x7E00;
  if (std::isinf(number)) return sign | 0x7C00;
  const double size = std::abs(number);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), -14);
  if (exponent > 15) return sign | 0x7BFF;
  const auto units = static_cast<uint64_t>(std::ldexp(size, 10 - exponent));
  // The hidden bit of a normal number is one of the exponent.
  return sign | ((static_cast<uint64_t>(exponent + 14) << 10) + units);
}

bool Same(double a, double b) {
  return std::isnan(a)
             ? std::isnan(b)
             : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

uint64_t SmallFloatBits(DType type, double number) {
  for (uint64_t bits = 0; bits < 1ULL << BitsOf(type); ++bits) {
    if (Same(number, metric::DecodeFloat(type, bits))) return bits;
  }
  return 0;
}

uint64_t FloatBits(DType type, double number) {
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(number));
  if (type == DType::kFloat64) return std::bit_cast<uint64_t>(number);
  if (type == DType::kFloat32) return single;
  if (type == DType::kBFloat16) return single >> 16;
  if (type == DType::kFloat16) return Float16Bits(number);
  return SmallFloatBits(type, number);
}

bool IsInteger(DType type, long double number) {
  const int width = type == DType::kBool ? 1 : BitsOf(type);
  const bool is_signed = ClassOf(type) == DTypeClass::kSigned;
  const long double low = is_signed ? -std::ldexp(1.0L, width - 1) : 0;
  const long double high = std::ldexp(1.0L, is_signed ? width - 1 : width);
  return number == std::trunc(number) && number >= low && number < high;
}

/// One element of a text.
struct Element {
  long double number = 0;
  std::optional<std::string> text;
  std::optional<int> mark;  // -1: zero
};

/// The number of a mark: 1 to 4 where the type has them.
double NumberOf(DType type, int mark) {
  if (mark < 0) return 0;
  if (type == DType::kBool) return mark % 2;
  if (type == DType::kUint2) return mark;
  if (type == DType::kInt2) return mark - 2;
  return type == DType::kFloat8E8M0 ? 1 << mark : mark + 1;
}

template <class Part>
Tensor ComplexOf(DType type, const Shape& shape,
                 std::span<const Element> elements) {
  Tensor tensor = Tensor::Allocate(type, shape).value();
  auto to = tensor.mutable_elements<std::complex<Part>>().begin();
  for (const Element& element : elements) {
    if (!element.mark) Fail("a number", StrCat("marks for ", type));
    const auto number = static_cast<Part>(NumberOf(type, *element.mark));
    *to++ = {number, -number};
  }
  return tensor;
}

Tensor StringsOf(const Shape& shape, std::span<const Element> elements) {
  std::vector<std::string> texts;
  for (const Element& element : elements) {
    if (!element.text && !element.mark) {
      Fail("a number", "texts or marks for string");
    }
    texts.push_back(element.text        ? *element.text
                    : *element.mark < 0 ? ""
                                        : StrCat("s", *element.mark));
  }
  return Tensor::FromStrings(shape, std::move(texts)).value();
}

Tensor TensorOf(DType type, const Shape& shape,
                std::span<const Element> elements) {
  if (type == DType::kString) return StringsOf(shape, elements);
  if (type == DType::kComplex64) return ComplexOf<float>(type, shape, elements);
  if (type == DType::kComplex128) {
    return ComplexOf<double>(type, shape, elements);
  }
  std::vector<uint64_t> bits;
  for (const Element& element : elements) {
    if (element.text) Fail("a text", StrCat("numbers for ", type));
    bits.push_back(EncodeExactly(
        type, element.mark ? NumberOf(type, *element.mark) : element.number));
  }
  return Pack(type, shape, bits);
}

/// Reads values out of words, each as its type says.
class ValueReader {
 public:
  explicit ValueReader(Words words) : words_(std::move(words)) {}

  std::map<std::string, Value> Read(
      const std::map<std::string, ValueType>& types) {
    std::map<std::string, Value> values;
    do {
      const std::string name = words_.TakeName();
      const auto type = types.find(name);
      if (type == types.end()) Fail(name, "an input or an output of the graph");
      ValueType exact = type->second;
      if (const auto shape = ReadShape()) {
        exact.dims.emplace();
        for (const int64_t extent : *shape) exact.dims->emplace_back(extent);
      }
      words_.Expect("=");
      if (!values.emplace(name, ReadValue(exact)).second) {
        Fail(StrCat(name, " twice"), "each value once");
      }
    } while (words_.Take(";") || words_.Take("=>"));
    words_.ExpectEnd();
    for (const auto& [name, type] : types) {
      if (!values.contains(name)) Fail("no value", StrCat("one for ", name));
    }
    return values;
  }

 private:
  Value ReadValue(const ValueType& type) {
    if (type.kind == ValueKind::kSequence) return ReadSequence(type);
    if (type.kind == ValueKind::kMap) return ReadMap(type);
    if (type.kind != ValueKind::kTensor) {
      Fail(type.ToString(), "a tensor, a sequence or a map");
    }
    auto shape = ReadShape();
    if (!shape) shape = type.StaticShape();
    if (!shape) Fail(type.ToString(), "a shape before its elements, as [2,3]");
    return ReadTensor(type, *shape);
  }

  Tensor ReadTensor(const ValueType& type, const Shape& shape) {
    const int64_t count = shape.NumElements().value();
    std::vector<Element> elements;
    const size_t begin = words_.place();
    if (!words_.Take("none")) {
      do {
        elements.push_back(ReadElement(type.dtype, shape,
                                       static_cast<int64_t>(elements.size())));
      } while (words_.Take(","));
    }
    if (elements.size() == 1 && count > 1) {
      for (int64_t i = 1; i < count; ++i) {
        words_.Return(begin);
        elements.push_back(ReadElement(type.dtype, shape, i));
      }
    }
    if (static_cast<int64_t>(elements.size()) != count) {
      Fail(StrCat(elements.size(), " elements"),
           StrCat(count, ", those of ", shape.ToString()));
    }
    if (words_.Take("times")) {
      const long double factor = Evaluate(words_, {type.dtype, shape, 0});
      for (Element& element : elements) element.number *= factor;
    }
    if (!words_.Take("as")) return TensorOf(type.dtype, shape, elements);
    words_.Expect("bits");
    words_.Expect("of");
    const Tensor tensor =
        TensorOf(TypeOfText(words_.TakeName()), shape, elements);
    return Tensor::FromBytes(type.dtype, shape, tensor.bytes()).value();
  }

  Element ReadElement(DType type, const Shape& shape, int64_t index) {
    Element element;
    if (const auto text = words_.TakeText()) {
      element.text = *text;
    } else if (words_.Take("@")) {
      element.mark =
          words_.Take("zero") ? -1 : static_cast<int>(words_.TakeNumber());
    } else {
      element.number = Evaluate(words_, {type, shape, index});
    }
    return element;
  }

  Value ReadSequence(const ValueType& type) {
    Sequence sequence;
    do {
      words_.Expect("(");
      sequence.items.push_back(ReadValue(*type.element));
      words_.Expect(")");
    } while (words_.Take(","));
    sequence.element = sequence.items.front().Type();
    return sequence;
  }

  Value ReadMap(const ValueType& type) {
    std::vector<Element> keys;
    std::vector<Value> values;
    do {
      keys.push_back(ReadElement(type.dtype, {}, 0));
      words_.Expect(":");
      values.push_back(
          TensorOf(type.element->dtype, {},
                   std::vector{ReadElement(type.element->dtype, {}, 0)}));
    } while (words_.Take(","));
    const auto count = static_cast<int64_t>(keys.size());
    return Map{TensorOf(type.dtype, {count}, keys), std::move(values)};
  }

  std::optional<Shape> ReadShape() {
    if (!words_.Take("[")) return std::nullopt;
    std::vector<int64_t> extents;
    while (!words_.Take("]")) {
      if (!extents.empty()) words_.Expect(",");
      extents.push_back(
          static_cast<int64_t>(Evaluate(words_, {DType::kInt64, {}, 0})));
    }
    return Shape(extents);
  }

  Words words_;
};

}  // namespace

uint64_t EncodeExactly(DType type, long double number) {
  if (!IsFloatingPoint(type) && IsInteger(type, number)) {
    return number < 0 ? static_cast<uint64_t>(static_cast<int64_t>(number))
                      : static_cast<uint64_t>(number);
  }
  const auto narrow = static_cast<double>(number);
  if (IsFloatingPoint(type) && (narrow == number || std::isnan(narrow))) {
    const uint64_t bits = FloatBits(type, narrow);
    if (Same(narrow, metric::DecodeFloat(type, bits))) return bits;
  }
  throw std::invalid_argument(StrCat(
      "found ", number, ", wanted a number that ", ToString(type), " has"));
}

Tensor Pack(DType type, const Shape& shape, std::span<const uint64_t> bits) {
  Tensor tensor = Tensor::Allocate(type, shape).value();
  const int width = BitsOf(type);
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    for (int k = 0; k < width;) {  // lowest bit first
      const int64_t at = i * width + k;
      const int count = std::min(width - k, 8 - static_cast<int>(at % 8));
      const uint64_t part =
          (bits[static_cast<size_t>(i)] >> k) & ((1ULL << count) - 1);
      bytes[at / 8] |= static_cast<uint8_t>(part << (at % 8));
      k += count;
    }
  }
  return tensor;
}

Result<std::map<std::string, Value>> ParseValues(
    std::string_view text, const std::map<std::string, ValueType>& types) {
  try {
    return ValueReader(Words(text)).Read(types);
  } catch (const std::exception& error) {
    return InvalidArgument(error.what());
  }
}

}  // namespace assay::special
