// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/random/change.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ctest/trial/mutants/token.h"
#include "framework/core/text.h"

namespace assay::random_mutants {
namespace {

using Words = std::set<std::string_view>;

const std::map<std::string_view, std::string_view>& Swaps() {
  static const std::map<std::string_view, std::string_view> swaps = {
      {"<", "<="},  {"<=", "<"},  {">", ">="},  {">=", ">"},  {"==", "!="},
      {"!=", "=="}, {"&&", "||"}, {"||", "&&"}, {"+", "-"},   {"-", "+"},
      {"*", "/"},   {"/", "*"},   {"&", "|"},   {"|", "&"},   {"+=", "-="},
      {"-=", "+="}, {"&=", "|="}, {"|=", "&="}, {"++", "--"}, {"--", "++"}};
  return swaps;
}

/// The constant that takes the place of another.
std::string Another(std::string_view constant) {
  const size_t digits =
      std::min(constant.find_first_not_of("01"), constant.size());
  const std::string_view suffix = constant.substr(digits);
  if (digits == 1 && suffix.find_first_not_of("uUlLzZ") == suffix.npos) {
    return StrCat(constant.front() == '0' ? "1" : "0", suffix);
  }
  return StrCat("(", constant, " + 1)");
}

/// The tokens of a source, and the brackets among them.
class Tokens {
 public:
  explicit Tokens(std::string_view source)
      : source_(source),
        tokens_(harness_mutants::TokensOf(source)),
        close_(tokens_.size()) {
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (IsOneOf(i, {"(", "[", "{"})) open.push_back(i);
      if (!IsOneOf(i, {")", "]", "}"}) || open.empty()) continue;
      close_[open.back()] = i;
      open.pop_back();
    }
  }

 protected:
  bool Is(size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  bool IsOneOf(size_t i, const Words& texts) const {
    return i < tokens_.size() && texts.contains(tokens_[i].text);
  }
  bool IsWord(size_t i) const {
    return i < tokens_.size() &&
           tokens_[i].kind == harness_mutants::Token::Kind::kWord;
  }
  size_t Find(size_t first, size_t last, const Words& texts) const {
    while (first < last && !IsOneOf(first, texts)) ++first;
    return first;
  }
  std::string_view TextOf(size_t first, size_t last) const {
    const size_t at = tokens_[first].at;
    return source_.substr(at, tokens_[last - 1].end() - at);
  }

  std::string_view source_;
  std::vector<harness_mutants::Token> tokens_;
  std::vector<size_t> close_;  // the bracket that closes the one there
};

/// Walks over the tokens and keeps in mind which statement each is part of.
class Walk : private Tokens {
 public:
  explicit Walk(std::string_view source) : Tokens(source) {}

  std::vector<Change> Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) Visit(i);
    return std::move(changes_);
  }

 private:
  struct Open {
    enum class Kind : unsigned char { kExpression, kScope, kBody } kind;
    size_t statement;  // in which it stands
  };

  bool InExpression() const {
    return !open_.empty() && open_.back().kind == Open::Kind::kExpression;
  }
  /// Where functions are declared, and not within one.
  bool InScope() const {
    return open_.empty() || open_.back().kind == Open::Kind::kScope;
  }

  void Add(const char* kind, size_t at, size_t size, std::string replacement) {
    const auto begin = source_.begin();
    const auto lines =
        std::count(begin, begin + static_cast<ptrdiff_t>(at), '\n');
    changes_.push_back(
        {kind, at, size, std::move(replacement), static_cast<int>(lines) + 1});
  }
  void AddFor(const char* kind, size_t first, size_t last,
              std::string replacement) {
    Add(kind, tokens_[first].at, TextOf(first, last).size(),
        std::move(replacement));
  }

  void Visit(size_t i) {
    if (!IsOneOf(statement_, {"static_assert", "using"})) ChangeToken(i);
    if (IsOneOf(i, {"if", "while"})) ChangeCondition(i);
    if (IsOneOf(i, {"(", "["})) {
      open_.push_back({Open::Kind::kExpression, statement_});
    } else if (IsOneOf(i, {")", "]"})) {
      Leave(i);
    } else if (Is(i, "{")) {
      EnterBrace(i);
    } else if (Is(i, "}")) {
      LeaveBrace(i);
    } else if (!InExpression()) {
      WalkStatement(i);
    }
  }

  void Leave(size_t i) {
    if (!open_.empty()) open_.pop_back();
    // The statement behind if (...) is one of its own.
    if (!InExpression() && Is(i, ")") &&
        IsOneOf(statement_, {"if", "for", "while", "switch"})) {
      statement_ = i + 1;
    }
  }

  void EnterBrace(size_t i) {
    auto kind = Open::Kind::kExpression;
    const size_t parameters = Find(statement_, i, {"("});
    if (InScope() && parameters == i &&
        Find(statement_, i,
             {"namespace", "class", "struct", "union", "enum"}) != i) {
      kind = Open::Kind::kScope;
    } else if (OpensBody(i)) {
      if (InScope()) ChangeFunction(i, parameters);
      kind = Open::Kind::kBody;
    }
    open_.push_back({kind, statement_});
    if (kind != Open::Kind::kExpression) statement_ = i + 1;
  }

  void LeaveBrace(size_t i) {
    if (open_.empty()) return;
    const Open left = open_.back();
    open_.pop_back();
    if (left.kind == Open::Kind::kExpression || InExpression()) {
      statement_ = left.statement;
    } else {
      statement_ = i + 1;
    }
  }

  /// A brace that opens statements and not the elements of a value.
  bool OpensBody(size_t i) const {
    if (i == statement_) return !InExpression();
    if (IsOneOf(i - 1, {")", ";", "else", "do", "try", "const", "noexcept",
                        "override", "mutable"}) ||
        (Is(i - 1, "]") && InExpression())) {
      return true;
    }
    // The type behind an arrow, as in [] -> Result<int> {
    size_t type = i;
    while (
        type > statement_ &&
        (IsWord(type - 1) || IsOneOf(type - 1, {"::", "<", ">", "*", "&"}))) {
      --type;
    }
    return type < i && type > 0 && Is(type - 1, "->") && Is(type - 2, ")");
  }

  void WalkStatement(size_t i) {
    if (Is(i, ";")) {
      if (!InScope()) ChangeStatement(i);
      statement_ = i + 1;
    } else if (Is(i, ":") && IsOneOf(statement_, {"case", "default", "public",
                                                  "private", "protected"})) {
      statement_ = i + 1;
    } else if (i == statement_ && IsOneOf(i, {"else", "do"})) {
      statement_ = i + 1;
    }
  }

  void ChangeToken(size_t i) {
    const harness_mutants::Token& token = tokens_[i];
    if (token.kind == harness_mutants::Token::Kind::kNumber) {
      AddFor("constant", i, i + 1, Another(token.text));
    } else if (token.text == "true" || token.text == "false") {
      AddFor("constant", i, i + 1, token.text == "true" ? "false" : "true");
    } else if (const auto swap = Swaps().find(token.text);
               swap != Swaps().end() &&
               (token.apart || IsOneOf(i, {"++", "--"}))) {
      AddFor("operator", i, i + 1, std::string(swap->second));
    }
  }

  void ChangeCondition(size_t i) {
    const size_t open = Is(i + 1, "constexpr") ? i + 2 : i + 1;
    if (!Is(open, "(") || close_[open] == 0) return;
    const size_t last = close_[open];
    size_t first = open + 1;
    for (size_t k = first; k < last; ++k) {
      if (IsOneOf(k, {"(", "[", "{"})) {
        k = close_[k];
      } else if (Is(k, ";")) {
        first = k + 1;
      } else if (Is(k, "=") && Find(k, last, {";"}) == last) {
        return;  // declares what it asks
      }
    }
    if (first >= last) return;
    AddFor("condition", first, last, StrCat("!(", TextOf(first, last), ")"));
  }

  void ChangeFunction(size_t i, size_t parameters) {
    if (parameters == statement_ || IsOneOf(i + 1, {"return", "}"})) return;
    const size_t name = parameters - 1;
    const bool is_constructor =
        name == statement_ || IsOneOf(name - 1, {"explicit", "~"}) ||
        (Is(name - 1, "::") && Is(name - 2, tokens_[name].text));
    if (is_constructor) return;
    const size_t nothing = Find(statement_, parameters, {"void"});
    const bool returns = nothing == parameters || Is(nothing + 1, "*");
    Add("return", tokens_[i].end(), 0, returns ? " return {};" : " return;");
  }

  /// At the semicolon that ends a statement.
  void ChangeStatement(size_t i) {
    static const Words trivial = {
        "{}", "0", "false", "nullptr", "std::nullopt", "OkStatus()", "\"\""};
    if (Is(statement_, "return")) {
      if (statement_ + 1 == i) return;
      if (trivial.contains(TextOf(statement_ + 1, i))) return;
      AddFor("value", statement_ + 1, i, "{}");
    } else if (IsDeed(i)) {
      AddFor("statement", statement_, i, "");
    }
  }

  /// It does something, and declares nothing.
  bool IsDeed(size_t i) const {
    static const Words others = {"case",     "goto",      "throw", "static",
                                 "const",    "constexpr", "auto",  "using",
                                 "typedef",  "template",  "class", "struct",
                                 "continue", "delete"};
    if (Is(statement_, "break") || Is(statement_, "continue")) return true;
    if (IsOneOf(statement_, others)) return false;
    size_t k = statement_;
    while (k < i && IsOneOf(k, {"++", "--", "*"})) ++k;
    if (!IsWord(k)) return false;
    while (IsWord(k) && Is(k + 1, "::")) k += 2;
    return IsOneOf(
        k + 1, {"(", ".", "->", "[", "=", "+=", "-=", "*=", "/=", "|=", "&=",
                "^=", "%=", "<<=", ">>=", "++", "--", "<<", ";"});
  }

  std::vector<Open> open_;
  size_t statement_ = 0;  // its first token
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> ChangesOf(std::string_view source) {
  std::vector<Change> changes = Walk(source).Run();
  std::ranges::stable_sort(changes, {}, &Change::at);
  return changes;
}

std::string Changed(std::string_view source, const Change& change) {
  const std::string_view gone = source.substr(change.at, change.size);
  const auto lines = std::ranges::count(gone, '\n') -
                     std::ranges::count(change.replacement, '\n');
  return StrCat(
      source.substr(0, change.at), change.replacement,
      std::string(static_cast<size_t>(std::max<ptrdiff_t>(lines, 0)), '\n'),
      source.substr(change.at + change.size));
}

}  // namespace assay::random_mutants
