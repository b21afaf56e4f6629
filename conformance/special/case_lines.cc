// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/case_lines.h"

#include <algorithm>

#include "conformance/special/formula.h"
#include "framework/core/text.h"

namespace assay::special {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string> Split(std::string_view text, std::string_view mark) {
  std::vector<std::string> parts;
  for (size_t end = text.find(mark); end != text.npos; end = text.find(mark)) {
    parts.emplace_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(end + mark.size());
  }
  parts.emplace_back(Trimmed(text));
  return parts;
}

struct TypeClass {
  std::string_view name;
  std::string_view types;
};
constexpr TypeClass kClasses[] = {
    {"floats", "bfloat16 float16 float32 float64"},
    {"ints", "int8 int16 int32 int64"},
    {"uints", "uint8 uint16 uint32 uint64"},
    {"numbers", "floats ints uints"},
    {"tensors", "numbers bool string complex64 complex128"},
    {"floats8", "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {"all", "tensors floats8 int2 int4 uint2 uint4 float4e2m1 float8e8m0"}};

}  // namespace

std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = CutFront(&text);
    const std::string_view line = Trimmed(whole);
    if (line.empty() || line.front() == '#') continue;
    const size_t blanks = whole.find_first_not_of(' ');
    if (blanks > 6 || blanks % 2 != 0 || (blanks > 0 && lines.empty())) {
      Fail(StrCat("line ", number, " indented by ", blanks),
           "0, 2 or 4 blanks, or 6 behind a row");
    }
    const bool row = blanks == 4 && (lines.back().depth == 2 ||
                                     (lines.back().text.starts_with("for ") &&
                                      lines.back().text.ends_with(" in")));
    if (blanks > 2 && !row) {
      lines.back().text += StrCat(" ", line);
    } else {
      lines.push_back(
          {number, static_cast<int>(blanks / 2), std::string(line)});
    }
  }
  return lines;
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words = Split(text, " ");
  std::erase(words, "");
  return words;
}

Table::Table(const std::string& head) {
  const size_t in = StrCat(head, " ").find(" in ");
  if (in == head.npos) Fail(head, "NAME, NAME in");
  names_ = Split(head.substr(0, in), ",");
  for (const std::string& word :
       WordsOf(head.substr(std::min(in + 3, head.size())))) {
    AddRow(word);
  }
}

void Table::AddRow(std::string_view text) {
  const auto cells = Split(StrCat(" ", text, " "), " | ");
  if (cells.size() != names_.size()) {
    Fail(StrCat(cells.size(), " cells in '", text, "'"),
         StrCat(names_.size(), ", apart by ' | '"));
  }
  Row row;
  for (size_t i = 0; i < cells.size(); ++i) row[names_[i]] = cells[i];
  rows_.push_back(std::move(row));
}

DType TypeOfText(std::string_view name) {
  if (name == "float") return DType::kFloat32;
  if (name == "double") return DType::kFloat64;
  const auto type = ParseDType(name);
  if (!type) Fail(name, "a type of elements");
  return *type;
}

std::string_view TextName(DType type) {
  if (type == DType::kFloat32) return "float";
  return type == DType::kFloat64 ? "double" : ToString(type);
}

/// A class may name classes.
std::vector<DType> TypesOf(std::string_view words) {
  std::vector<DType> types;
  for (const std::string& word : WordsOf(words)) {
    const bool without = word.starts_with('-');
    const std::string name = word.substr(without ? 1 : 0);
    const auto known = std::ranges::find(kClasses, name, &TypeClass::name);
    const auto named = known == std::end(kClasses)
                           ? std::vector{TypeOfText(name)}
                           : TypesOf(known->types);
    for (const DType type : named) {
      std::erase(types, type);
      if (!without) types.push_back(type);
    }
  }
  return types;
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

}  // namespace assay::special
