// SPDX-License-Identifier: Apache-2.0

#include "conformance/mutants/functions.h"

#include <algorithm>
#include <cctype>

#include "framework/core/text.h"
#include "framework/testing/policy/quoted.h"

namespace assay::harness_mutants {
namespace {

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Reads a source from its start, part by part.
class Blanking {
 public:
  explicit Blanking(std::string_view source) : code_(source) {}

  std::string Finish() {
    while (at_ < code_.size()) {
      if (StartsWith("//") || (code_[at_] == '#' && BeginsLine())) {
        BlankTo(EndOfLine());
      } else if (StartsWith("/*")) {
        BlankTo(Behind("*/", at_ + 2));
      } else if (code_[at_] == '"') {
        IsRaw() ? BlankRaw() : BlankQuoted();
      } else if (code_[at_] == '\'' && !IsSeparator()) {
        BlankQuoted();
      } else {
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  bool StartsWith(std::string_view text) const {
    return std::string_view(code_).substr(at_).starts_with(text);
  }
  bool IsBehindWord() const { return at_ > 0 && IsOfWord(code_[at_ - 1]); }
  bool IsRaw() const { return at_ > 0 && code_[at_ - 1] == 'R'; }

  /// As in 1'000: between digits of any base.
  bool IsSeparator() const {
    return IsBehindWord() && at_ + 1 < code_.size() && IsOfWord(code_[at_ + 1]);
  }

  bool BeginsLine() const {
    const size_t line = code_.rfind('\n', at_);
    const size_t begin = line == std::string::npos ? 0 : line + 1;
    return std::all_of(code_.begin() + static_cast<std::ptrdiff_t>(begin),
                       code_.begin() + static_cast<std::ptrdiff_t>(at_),
                       policy::IsBlank);
  }

  /// The end of a line that no backslash continues.
  size_t EndOfLine() const {
    size_t end = code_.find('\n', at_);
    while (end != std::string::npos && end > 0 && code_[end - 1] == '\\') {
      end = code_.find('\n', end + 1);
    }
    return std::min(end, code_.size());
  }

  size_t Behind(std::string_view text, size_t from) const {
    const size_t found = code_.find(text, from);
    return found == std::string::npos ? code_.size() : found + text.size();
  }

  void BlankTo(size_t end) {
    for (; at_ < end; ++at_) {
      if (code_[at_] != '\n') code_[at_] = ' ';
    }
  }

  void BlankQuoted() {
    const char quote = code_[at_];
    size_t end = at_ + 1;
    while (end < code_.size() && code_[end] != quote) {
      end += code_[end] == '\\' ? 2 : 1;
    }
    BlankTo(std::min(end + 1, code_.size()));
  }

  void BlankRaw() {
    const size_t open = code_.find('(', at_);
    if (open == std::string::npos) return BlankTo(code_.size());
    const std::string close =
        StrCat(")", code_.substr(at_ + 1, open - at_ - 1), "\"");
    BlankTo(Behind(close, open));
  }

  std::string code_;
  size_t at_ = 0;
};

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto begin = std::ranges::find_if(text, IsOfWord);
    const auto end = std::find_if_not(begin, text.end(), IsOfWord);
    if (begin != end) words.emplace_back(begin, end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
  }
  return words;
}

bool IsOneOf(std::string_view word,
             std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether a brace behind this text opens a namespace or a class.
bool OpensScope(std::string_view head) {
  const auto words = WordsOf(head);
  const bool is_call = head.find(')') != std::string_view::npos;
  return std::ranges::any_of(words, [&](std::string_view word) {
    return word == "namespace" || word == "extern" ||
           (!is_call && IsOneOf(word, {"class", "struct", "union", "enum"}));
  });
}

/// Whether a brace behind this text, which ends a statement or a block before it, opens the
/// body of a function: behind its parameters stand no more than qualifiers and its type.
/// Behind a block stands nothing but the body of a constructor whose last member has braces.
bool OpensFunction(std::string_view head) {
  if (std::ranges::all_of(head, policy::IsBlank)) return true;
  const size_t parameters = head.rfind(')');
  if (parameters == std::string_view::npos) return false;
  std::string_view tail = head.substr(parameters + 1);
  tail = tail.substr(0, tail.find("->"));
  const auto words = WordsOf(tail);
  return std::ranges::all_of(tail,
                             [](char c) {
                               return IsOfWord(c) || policy::IsBlank(c) ||
                                      c == '&';
                             }) &&
         std::ranges::all_of(words, [](std::string_view word) {
           return IsOneOf(
               word, {"const", "noexcept", "override", "final", "mutable"});
         });
}

enum class Opened { kScope, kFunction, kOther };

Opened OpenedBehind(std::string_view head) {
  if (OpensScope(head)) return Opened::kScope;
  return OpensFunction(head) ? Opened::kFunction : Opened::kOther;
}

}  // namespace

std::string CodeOf(std::string_view source) {
  return Blanking(source).Finish();
}

Result<std::vector<Range>> FunctionBodies(std::string_view source) {
  const std::string code = CodeOf(source);
  std::vector<Range> bodies;
  std::vector<Opened> open;
  size_t head = 0;  // of what the next brace opens
  for (size_t at = 0; at < code.size(); ++at) {
    const bool is_in_scope = open.empty() || open.back() == Opened::kScope;
    if (code[at] == '{') {
      const std::string_view text(&code[head], at - head);
      open.push_back(is_in_scope ? OpenedBehind(text) : Opened::kOther);
      if (open.back() == Opened::kFunction) bodies.push_back({at + 1, at + 1});
    } else if (code[at] == '}') {
      if (open.empty()) {
        return InvalidArgument("found a closing brace that nothing opened");
      }
      if (open.back() == Opened::kFunction) bodies.back().end = at;
      open.pop_back();
    } else if (code[at] != ';') {
      continue;
    }
    head = at + 1;
  }
  if (open.empty()) return bodies;
  return InvalidArgument("found ", open.size(),
                         " open braces at the end, wanted none");
}

}  // namespace assay::harness_mutants
