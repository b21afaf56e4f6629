// SPDX-License-Identifier: Apache-2.0
//
// The parts of a file of cases: its lines by their indentation, the tables in
// them,
//
//     for op, y in
//       Add | 9, 2
//       Sub | 3, 0
//
// of which each of two rows has a text for `op` and one for `y`, element types
// by the words that a case has for them: "floats int8", "tensors -bfloat16",
// and the words of a value, with the numbers that formulas of them give:
//
//   Words words("i % 2 == 0 ? 2^-24 : -i");
//   Evaluate(words, {DType::kFloat32, {4}, 3});  // -3
//
// Numbers are of 64 bits of mantissa at least, so that all integers of a tensor
// are exact.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"

namespace assay::special {

/// Throws std::invalid_argument: "found A, wanted B".
[[noreturn]] void Fail(std::string_view found, std::string_view wanted);

/// Names, numbers, quoted texts and signs, taken from the front.
class Words {
 public:
  /// Throws std::invalid_argument for a character that begins none of them.
  explicit Words(std::string_view text);

  /// Takes the next word if it is that name or sign; true when it was.
  bool Take(std::string_view word);
  bool IsName() const { return words_[at_].kind == Kind::kName; }
  std::optional<std::string> TakeText();

  /// Throw std::invalid_argument where the next word is another.
  void Expect(std::string_view word);
  void ExpectEnd() const;
  std::string TakeName();
  long double TakeNumber();

  size_t place() const { return at_; }
  void Return(size_t place) { at_ = place; }

 private:
  enum class Kind : uint8_t { kName, kNumber, kText, kSign, kEnd };
  struct Word {
    Kind kind = Kind::kEnd;
    std::string text;
    long double number = 0;
  };

  /// The word at the front of a text, which is not empty, and its size there.
  static std::pair<Word, size_t> First(std::string_view text);
  std::string Found() const;

  std::vector<Word> words_;  // the last is kEnd
  size_t at_ = 0;
};

/// The element that a formula is of.
struct ElementIndex {
  DType type;
  const Shape& shape;
  int64_t index;
};

/// The number of the formula that comes next, which is taken. Throws
/// std::invalid_argument where none does.
long double Evaluate(Words& words, const ElementIndex& place);

/// A line with those that continue it, without blanks around it.
struct Line {
  int number = 0;  // of the first, from 1
  int depth = 0;   // 0; 1: a clause; 2: a row of the table above
  std::string text;
};

/// All lines but comments and empty ones. One that is indented by four blanks
/// continues the line above, or is a row where that ends in " in"; six continue
/// a row. Throws std::invalid_argument for another indentation.
std::vector<Line> LinesOf(std::string_view text);

/// The words between blanks.
std::vector<std::string> WordsOf(std::string_view text);

class Table {
 public:
  using Row = std::map<std::string, std::string>;

  /// Takes a head, "NAME, NAME in", whose rows follow, or "NAME in WORD WORD".
  explicit Table(const std::string& head);

  void AddRow(std::string_view text);
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<std::string> names_;
  std::vector<Row> rows_;
};

/// The type of that name, ours ("float32") or that of ONNX's text form
/// ("float"). This and TypesOf throw std::invalid_argument for any other.
DType TypeOfText(std::string_view name);

/// Its name in ONNX's text form.
std::string_view TextName(DType type);

/// Types and classes of them, apart by blanks, each once; "-" before a word
/// leaves out what it names. Classes are floats, ints, uints, numbers (these
/// three), tensors (and bool, string, complex64 and 128), floats8, and all
/// (these, the types of 2 and 4 bits, and float8e8m0).
std::vector<DType> TypesOf(std::string_view words);

/// The unsigned integer of the same width, which is at most 64.
DType UnsignedOf(DType type);

}  // namespace assay::special
