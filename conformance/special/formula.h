// SPDX-License-Identifier: Apache-2.0
//
// The words of a text, and the numbers that formulas of them give. Numbers are
// of 64 bits of mantissa at least, so that all integers of a tensor are exact.
//
//   Words words("i % 2 == 0 ? 2^-24 : -i");
//   Evaluate(words, {DType::kFloat32, {4}, 3});  // -3

#pragma once

#include <cstdint>
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

}  // namespace assay::special
