// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/typed.h"

#include <bit>
#include <complex>
#include <deque>
#include <stdexcept>
#include <string>

#include "framework/core/text.h"

namespace assay::inline v1 {
namespace {

std::string_view TextName(DType type) {
  if (type == DType::kFloat32) return "float";
  return type == DType::kFloat64 ? "double" : ToString(type);
}

DType UnsignedOf(DType type) {
  switch (BitsOf(type)) {
    case 2:
      return DType::kUint2;
    case 4:
      return DType::kUint4;
    case 8:
      return DType::kUint8;
    case 16:
      return DType::kUint16;
    case 32:
      return DType::kUint32;
    default:
      return DType::kUint64;
  }
}

void Replace(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = text->find(from); at != std::string::npos;
       at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

std::string ModelFor(std::string_view model, DType type) {
  std::string text(model);
  Replace(&text, "$T", TextName(type));
  Replace(&text, "$U", TextName(UnsignedOf(type)));
  Replace(&text, "$N", StrCat(static_cast<int>(type)));
  Replace(&text, "$M", StrCat(static_cast<int>(UnsignedOf(type))));
  return text;
}

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<DType> TypesOf(std::string_view names) {
  std::vector<DType> types;
  for (const std::string_view name : WordsOf(names)) {
    const auto type = ParseDType(name);
    if (!type.has_value()) {
      throw std::invalid_argument(
          StrCat("found the type '", name, "', which there is not"));
    }
    types.push_back(*type);
  }
  return types;
}

// What cases refer to. Only grows; a deque keeps its elements where they are.
std::string_view Kept(std::string text) {
  static auto& texts = *new std::deque<std::string>;
  return texts.emplace_back(std::move(text));
}
Made Kept(std::function<Values()> function) {
  static auto& functions = *new std::deque<std::function<Values()>>;
  return Made(&functions.emplace_back(std::move(function)));
}

/// The case under its name, once for each opset.
void AddCases(const std::string& name, std::string_view opsets,
              SpecialCase made, std::vector<SpecialCase>* cases) {
  const auto versions = WordsOf(opsets);
  for (const std::string_view version : versions) {
    made.name = Kept(StrCat(name, "_opset_", version));
    made.opset = std::stoi(std::string(version));
    cases->push_back(made);
  }
  if (!versions.empty()) return;
  made.name = Kept(name);
  cases->push_back(made);
}

double NumberOf(DType type, int code) {
  switch (type) {
    case DType::kBool:
      return code % 2;
    case DType::kUint2:
      return code;
    case DType::kInt2:
      return code - 2;
    case DType::kFloat8E8M0:
      return std::ldexp(1, code);
    default:
      return code + 1;
  }
}

template <class Part>
Value ComplexOf(DType type, const Shape& shape,
                std::span<const double> numbers) {
  Tensor tensor = Tensor::Allocate(type, shape).value();
  auto to = tensor.mutable_elements<std::complex<Part>>().begin();
  for (const double number : numbers) {
    *to++ = {static_cast<Part>(number), static_cast<Part>(-number)};
  }
  return tensor;
}

/// `codes` being -1 for a zero.
Value Elements(DType type, const Shape& shape, std::span<const int> codes) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const int code : codes) {
    numbers.push_back(code < 0 ? 0 : NumberOf(type, code));
    texts.push_back(code < 0 ? "" : StrCat("s", code));
  }
  switch (type) {
    case DType::kString:
      return Texts(shape, std::move(texts));
    case DType::kComplex64:
      return ComplexOf<float>(type, shape, numbers);
    case DType::kComplex128:
      return ComplexOf<double>(type, shape, numbers);
    default:
      return By(type, shape,
                [&](int64_t i) { return numbers.at(static_cast<size_t>(i)); });
  }
}

}  // namespace

std::vector<SpecialCase> CasesOf(std::span<const TypedRow> rows) {
  std::vector<SpecialCase> cases;
  for (const TypedRow& row : rows) {
    for (const DType type : TypesOf(row.types)) {
      AddCases(StrCat(row.name, "_", ToString(type)), row.opsets,
               {{},
                row.shows,
                Kept(ModelFor(row.model, type)),
                Kept([&row, type] { return row.inputs(type); }),
                Kept([&row, type] { return row.expected(type); })},
               &cases);
    }
  }
  return cases;
}

std::vector<SpecialCase> CasesOf(std::span<const PointsRow> rows) {
  std::vector<SpecialCase> cases;
  const auto values = [](DType type, const std::array<double, 4>& numbers) {
    return Values{By(type, {4}, [&](int64_t i) {
      return numbers.at(static_cast<size_t>(i));
    })};
  };
  for (const PointsRow& row : rows) {
    const std::string model =
        StrCat("g ($T[4] x) => ($T[4] y) { y = ", row.call, " }");
    for (const DType type : TypesOf(row.types)) {
      AddCases(StrCat(row.op, "/points_", ToString(type)), row.opsets,
               {{},
                row.shows,
                Kept(ModelFor(model, type)),
                Kept([=, &row] { return values(type, row.x); }),
                Kept([=, &row] { return values(type, row.y); })},
               &cases);
    }
  }
  return cases;
}

Value Marks(DType type, const Shape& shape, std::initializer_list<int> codes) {
  return Elements(type, shape, {codes.begin(), codes.size()});
}

Value ZerosAndMarks(DType type, const Shape& shape,
                    std::initializer_list<int> codes) {
  std::vector<int> moved;
  for (const int code : codes) moved.push_back(code == 0 ? -1 : 1);
  return Elements(type, shape, moved);
}

Value BitsOfMarks(DType type, const Shape& shape,
                  std::initializer_list<int> codes) {
  return WholeBy(UnsignedOf(type), shape, [&](int64_t i) -> int64_t {
    const double number = NumberOf(type, codes.begin()[i]);
    if (type == DType::kComplex64) {
      // The real part lies first.
      const auto real = std::bit_cast<uint32_t>(static_cast<float>(number));
      const auto imag = std::bit_cast<uint32_t>(static_cast<float>(-number));
      return std::bit_cast<int64_t>(uint64_t{imag} << 32 | real);
    }
    const int unused = 64 - BitsOf(type);
    const uint64_t bits = EncodeExactly(type, number) << unused >> unused;
    return std::bit_cast<int64_t>(bits);
  });
}

}  // namespace assay::inline v1
