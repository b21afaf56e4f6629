// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/token.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "framework/core/text.h"

namespace assay::harness_mutants {
namespace {

// The longer ones first, since the first that fits is taken.
constexpr std::array<std::string_view, 24> kSymbols = {
    "<=>", "<<=", ">>=", "...", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
    "==",  "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// Behind the first `mark` at or after `at`.
size_t Behind(std::string_view source, std::string_view mark, size_t at) {
  const size_t found = source.find(mark, at);
  return found == source.npos ? source.size() : found + mark.size();
}

/// Behind a literal that opens with the quote at `at`.
size_t BehindQuoted(std::string_view source, size_t at) {
  const char quote = source[at];
  for (++at; at < source.size() && source[at] != quote; ++at) {
    if (source[at] == '\\') ++at;
  }
  return std::min(at + 1, source.size());
}

/// Behind R"mark(...)mark", whose quote is at `at`.
size_t BehindRaw(std::string_view source, size_t at) {
  const size_t open = std::min(source.find('(', at), source.size() - 1);
  const std::string_view mark = source.substr(at + 1, open - at - 1);
  return Behind(source, StrCat(")", mark, "\""), open);
}

/// Behind a preprocessor line and those that it goes on in.
size_t BehindLine(std::string_view source, size_t at) {
  size_t end = Behind(source, "\n", at);
  while (end >= 2 && source[end - 2] == '\\' && end < source.size()) {
    end = Behind(source, "\n", end);
  }
  return end;
}

size_t BehindNumber(std::string_view source, size_t at) {
  const auto goes_on = [&](size_t i) {
    if (IsWordCharacter(source[i]) || source[i] == '.') return true;
    if (source[i] == '\'') return true;
    const char before = source[i - 1];
    const bool sign = source[i] == '+' || source[i] == '-';
    const bool hex = source.substr(at, 2) == "0x";
    return sign && (hex ? before == 'p' : before == 'e');
  };
  size_t end = at + 1;
  while (end < source.size() && goes_on(end)) ++end;
  return end;
}

size_t BehindWord(std::string_view source, size_t at) {
  while (at < source.size() && IsWordCharacter(source[at])) ++at;
  return at;
}

size_t BehindSymbol(std::string_view source, size_t at) {
  for (const std::string_view symbol : kSymbols) {
    if (source.substr(at).starts_with(symbol)) return at + symbol.size();
  }
  return at + 1;
}

}  // namespace

std::vector<Token> TokensOf(std::string_view source) {
  std::vector<Token> tokens;
  size_t at = 0;
  while (at < source.size()) {
    const std::string_view rest = source.substr(at);
    size_t end = at + 1;
    auto kind = Token::Kind::kSymbol;
    if (IsSpace(rest.front())) {
      at = end;
      continue;
    }
    if (rest.starts_with("//") || rest.front() == '#') {
      at = BehindLine(source, at);
      continue;
    }
    if (rest.starts_with("/*")) {
      at = Behind(source, "*/", at + 2);
      continue;
    }
    if (rest.front() == '"' || rest.front() == '\'') {
      kind = Token::Kind::kText;
      end = BehindQuoted(source, at);
    } else if (rest.starts_with("R\"")) {
      kind = Token::Kind::kText;
      end = BehindRaw(source, at + 1);
    } else if (std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
      kind = Token::Kind::kNumber;
      end = BehindNumber(source, at);
    } else if (IsWordCharacter(rest.front())) {
      kind = Token::Kind::kWord;
      end = BehindWord(source, at);
    } else {
      end = BehindSymbol(source, at);
    }
    const bool apart = at > 0 && IsSpace(source[at - 1]) &&
                       end < source.size() && IsSpace(source[end]);
    tokens.push_back({kind, source.substr(at, end - at), at, apart});
    at = end;
  }
  return tokens;
}

}  // namespace assay::harness_mutants
