// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/value_text.h"

#include <complex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "conformance/special/element_types.h"
#include "conformance/special/exact_bits.h"
#include "conformance/special/formula.h"

namespace assay::special {
namespace {

/// One element of a text.
struct Element {
  long double number = 0;
  std::optional<std::string> text;
  std::optional<int> mark;  // -1: zero
};

/// The number of a mark: 1 to 4 where the type has them.
double NumberOf(DType type, int mark) {
  if (mark < 0) return 0;
  switch (type) {
    case DType::kBool:
      return mark % 2;
    case DType::kUint2:
      return mark;
    case DType::kInt2:
      return mark - 2;
    case DType::kFloat8E8M0:
      return 1 << mark;
    default:
      return mark + 1;
  }
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
  if (type == DType::kComplex64) {
    return ComplexOf<float>(type, shape, elements);
  }
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
      const std::map<std::string, ValueType>& types);

 private:
  Value ReadValue(const ValueType& type);
  Tensor ReadTensor(const ValueType& type, const Shape& shape);
  Element ReadElement(DType type, const Shape& shape, int64_t index);
  Value ReadSequence(const ValueType& type);
  Value ReadMap(const ValueType& type);
  std::optional<Shape> ReadShape();

  Words words_;
};

std::map<std::string, Value> ValueReader::Read(
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

std::optional<Shape> ValueReader::ReadShape() {
  if (!words_.Take("[")) return std::nullopt;
  std::vector<int64_t> extents;
  while (!words_.Take("]")) {
    if (!extents.empty()) words_.Expect(",");
    extents.push_back(
        static_cast<int64_t>(Evaluate(words_, {DType::kInt64, {}, 0})));
  }
  return Shape(extents);
}

Value ValueReader::ReadValue(const ValueType& type) {
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

Element ValueReader::ReadElement(DType type, const Shape& shape,
                                 int64_t index) {
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

Tensor ValueReader::ReadTensor(const ValueType& type, const Shape& shape) {
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

Value ValueReader::ReadSequence(const ValueType& type) {
  Sequence sequence;
  do {
    words_.Expect("(");
    sequence.items.push_back(ReadValue(*type.element));
    words_.Expect(")");
  } while (words_.Take(","));
  sequence.element = sequence.items.front().Type();
  return sequence;
}

Value ValueReader::ReadMap(const ValueType& type) {
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

}  // namespace

Result<std::map<std::string, Value>> ParseValues(
    std::string_view text, const std::map<std::string, ValueType>& types) {
  try {
    return ValueReader(Words(text)).Read(types);
  } catch (const std::exception& error) {
    return InvalidArgument(error.what());
  }
}

}  // namespace assay::special
