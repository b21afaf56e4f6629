// SPDX-License-Identifier: Apache-2.0
//
// The tokens of a C++ source, as far as a change of one of them needs them.
// Comments and preprocessor lines are left out.
//
//   for (const Token& token : TokensOf("if (a <= 1) b();")) Use(token.text);

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace assay::harness_mutants {

struct Token {
  enum class Kind : unsigned char { kWord, kNumber, kText, kSymbol };
  Kind kind;
  std::string_view text;  // of the source, which must outlive the token
  size_t at;              // its first character in the source
  /// A blank stands before it and one behind it, as clang-format has it for an
  /// operator of two sides and not for the angle bracket of a template.
  bool apart;

  size_t end() const { return at + text.size(); }
};

std::vector<Token> TokensOf(std::string_view source);

}  // namespace assay::harness_mutants
