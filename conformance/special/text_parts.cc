// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/text_parts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <stdexcept>

#include "framework/core/text.h"
#include "framework/metric/element.h"

namespace assay::special {
namespace {

bool IsDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool IsLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

constexpr std::string_view kSigns[] = {
    "=>", "==", "!=", "<=", ">=", "&&", "||", "//", "<", ">", "=", "+", "-",
    "*",  "/",  "%",  "^",  "?",  ":",  ";",  ",",  "(", ")", "[", "]", "@"};

/// A formula of one element, by descent from the weakest operator.
class Formula {
 public:
  Formula(Words& words, const ElementIndex& place)
      : words_(words), place_(place) {}

  long double Choice() {
    const long double condition = Binary(0);
    if (!words_.Take("?")) return condition;
    const long double yes = Choice();
    words_.Expect(":");
    const long double no = Choice();
    return condition != 0 ? yes : no;
  }

 private:
  long double Binary(size_t level);
  long double Unary();
  long double Primary();
  long double Named(const std::string& name) const;

  Words& words_;
  const ElementIndex& place_;
};

struct Operator {
  std::string_view sign;
  long double (*apply)(long double, long double);
};

using Number = long double;
constexpr Operator kOr[] = {
    {"||", [](Number a, Number b) -> Number { return a != 0 || b != 0; }}};
constexpr Operator kAnd[] = {
    {"&&", [](Number a, Number b) -> Number { return a != 0 && b != 0; }}};
constexpr Operator kCompare[] = {
    {"==", [](Number a, Number b) -> Number { return a == b; }},
    {"!=", [](Number a, Number b) -> Number { return a != b; }},
    {"<=", [](Number a, Number b) -> Number { return a <= b; }},
    {">=", [](Number a, Number b) -> Number { return a >= b; }},
    {"<", [](Number a, Number b) -> Number { return a < b; }},
    {">", [](Number a, Number b) -> Number { return a > b; }}};
constexpr Operator kAdd[] = {
    {"+", [](Number a, Number b) -> Number { return a + b; }},
    {"-", [](Number a, Number b) -> Number { return a - b; }}};
constexpr Operator kMultiply[] = {
    {"*", [](Number a, Number b) -> Number { return a * b; }},
    {"//", [](Number a, Number b) -> Number { return std::trunc(a / b); }},
    {"/", [](Number a, Number b) -> Number { return a / b; }},
    {"%", [](Number a, Number b) -> Number { return std::fmod(a, b); }}};
// From the weakest to the strongest.
constexpr std::span<const Operator> kLevels[] = {kOr, kAnd, kCompare, kAdd,
                                                 kMultiply};

long double Formula::Binary(size_t level) {
  if (level == std::size(kLevels)) return Unary();
  long double left = Binary(level + 1);
  for (bool more = true; more;) {
    more = false;
    for (const Operator& op : kLevels[level]) {
      if (!words_.Take(op.sign)) continue;
      left = op.apply(left, Binary(level + 1));
      more = true;
      break;
    }
  }
  return left;
}

long double Formula::Unary() {
  if (words_.Take("-")) return -Unary();
  const long double base = Primary();
  return words_.Take("^") ? std::pow(base, Unary()) : base;
}

long double Formula::Primary() {
  if (words_.Take("(")) {
    const long double inner = Choice();
    words_.Expect(")");
    return inner;
  }
  return words_.IsName() ? Named(words_.TakeName()) : words_.TakeNumber();
}

long double Formula::Named(const std::string& name) const {
  if (name == "i") return static_cast<long double>(place_.index);
  if (name == "inf") return std::numeric_limits<long double>::infinity();
  if (name == "nan") return std::numeric_limits<long double>::quiet_NaN();
  if (name == "least") return metric::DecodeFloat(place_.type, 1);
  if (name == "greatest" && IsFloatingPoint(place_.type)) {
    return metric::RangeOf(place_.type).greatest;
  }
  if (name.size() == 2 && name[0] == 'i' && IsDigit(name[1])) {
    const int axis = name[1] - '0';
    if (axis < place_.shape.rank()) {
      int64_t rest = place_.index;
      for (int k = place_.shape.rank() - 1; k > axis; --k) {
        rest /= place_.shape[k];
      }
      return static_cast<long double>(rest % place_.shape[axis]);
    }
  }
  Fail(name, "a number, i, i0 to i5, inf, nan, least or greatest");
}

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

void Fail(std::string_view found, std::string_view wanted) {
  throw std::invalid_argument(StrCat("found ", found, ", wanted ", wanted));
}

Words::Words(std::string_view text) {
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    auto [word, size] = First(text);
    words_.push_back(std::move(word));
    text.remove_prefix(size);
  }
  words_.emplace_back();
}

std::pair<Words::Word, size_t> Words::First(std::string_view text) {
  const auto run = [&](const auto& belongs) {
    size_t n = 1;
    while (n < text.size() && belongs(text[n])) ++n;
    return std::pair(std::string(text.substr(0, n)), n);
  };
  if (IsLetter(text.front())) {
    auto [name, size] = run([](char c) { return IsLetter(c) || IsDigit(c); });
    return {{Kind::kName, std::move(name)}, size};
  }
  if (IsDigit(text.front())) {
    const std::string rest(text);
    char* end = nullptr;
    long double number = std::strtold(rest.c_str(), &end);
    const auto size = static_cast<size_t>(end - rest.c_str());
    const std::string word = rest.substr(0, size);
    // A decimal fraction is the nearest float64, as in C.
    if (word.find_first_of(".e") != word.npos && !word.starts_with("0x")) {
      number = std::strtod(word.c_str(), nullptr);
    }
    return {{Kind::kNumber, word, number}, size};
  }
  if (text.front() == '"') {
    std::string inside;
    for (size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '"') return {{Kind::kText, inside}, i + 1};
      const bool escaped = text[i] == '\\' && i + 1 < text.size();
      if (escaped) ++i;
      inside += escaped && text[i] == 'n' ? '\n' : text[i];
    }
    Fail(text, "a \" at the end of the text");
  }
  for (const std::string_view sign : kSigns) {
    if (text.starts_with(sign)) {
      return {{Kind::kSign, std::string(sign)}, sign.size()};
    }
  }
  Fail(text.substr(0, 1), "a name, a number, a text or a sign");
}

std::string Words::Found() const {
  return words_[at_].kind == Kind::kEnd ? "the end"
                                        : StrCat("'", words_[at_].text, "'");
}

bool Words::Take(std::string_view word) {
  const Word& next = words_[at_];
  if (next.text != word || next.kind == Kind::kText) return false;
  ++at_;
  return true;
}

std::optional<std::string> Words::TakeText() {
  if (words_[at_].kind != Kind::kText) return std::nullopt;
  return words_[at_++].text;
}

void Words::Expect(std::string_view word) {
  if (!Take(word)) Fail(Found(), StrCat("'", word, "'"));
}

void Words::ExpectEnd() const {
  if (words_[at_].kind != Kind::kEnd) Fail(Found(), "',', ';' or the end");
}

std::string Words::TakeName() {
  if (!IsName()) Fail(Found(), "a name");
  return words_[at_++].text;
}

long double Words::TakeNumber() {
  if (words_[at_].kind != Kind::kNumber) Fail(Found(), "a number");
  return words_[at_++].number;
}

long double Evaluate(Words& words, const ElementIndex& place) {
  return Formula(words, place).Choice();
}

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
  const int bits = BitsOf(type);
  return bits == 2    ? DType::kUint2
         : bits == 4  ? DType::kUint4
         : bits == 8  ? DType::kUint8
         : bits == 16 ? DType::kUint16
         : bits == 32 ? DType::kUint32
                      : DType::kUint64;
}

}  // namespace assay::special
