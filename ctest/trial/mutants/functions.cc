// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/functions.h"

#include <algorithm>
#include <array>
#include <span>

#include "ctest/trial/mutants/token.h"

namespace assay::harness_mutants {
namespace {

using Head = std::span<const Token>;  // what stands in front of a brace

/// Whether a brace behind this opens a namespace or a class.
bool OpensScope(Head head) {
  constexpr std::array<std::string_view, 4> kClasses = {"class", "struct",
                                                        "union", "enum"};
  const bool is_call = std::ranges::count(head, ")", &Token::text) > 0;
  return std::ranges::any_of(head, [&](const Token& token) {
    return token.text == "namespace" || token.text == "extern" ||
           (!is_call && std::ranges::count(kClasses, token.text) > 0);
  });
}

/// Whether a brace behind this opens the body of a function: behind its
/// parameters stand no more than qualifiers and its type. Right behind a block
/// stands nothing but the body of a constructor whose last member has braces.
bool OpensFunction(Head head) {
  constexpr std::array<std::string_view, 7> kQualifiers = {
      "const", "noexcept", "override", "final", "mutable", "&", "&&"};
  if (head.empty()) return true;
  const auto close =
      std::find_if(head.rbegin(), head.rend(),
                   [](const Token& token) { return token.text == ")"; });
  if (close == head.rend()) return false;
  const auto type =
      std::ranges::find(close.base(), head.end(), "->", &Token::text);
  return std::all_of(close.base(), type, [&](const Token& token) {
    return std::ranges::count(kQualifiers, token.text) > 0;
  });
}

enum class Opened { kScope, kFunction, kOther };

Opened OpenedBehind(Head head) {
  if (OpensScope(head)) return Opened::kScope;
  return OpensFunction(head) ? Opened::kFunction : Opened::kOther;
}

}  // namespace

Result<std::vector<Range>> FunctionBodies(std::string_view source) {
  const std::vector<Token> tokens = TokensOf(source);
  std::vector<Range> bodies;
  std::vector<Opened> open;
  size_t head = 0;  // of what the next brace opens
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool is_in_scope = open.empty() || open.back() == Opened::kScope;
    if (token.text == "{") {
      open.push_back(is_in_scope
                         ? OpenedBehind(Head(tokens).subspan(head, i - head))
                         : Opened::kOther);
      if (open.back() == Opened::kFunction) {
        bodies.push_back({token.end(), token.end()});
      }
    } else if (token.text == "}") {
      if (open.empty()) {
        return InvalidArgument("found a closing brace that nothing opened");
      }
      if (open.back() == Opened::kFunction) bodies.back().end = token.at;
      open.pop_back();
    } else if (token.text != ";") {
      continue;
    }
    head = i + 1;
  }
  if (open.empty()) return bodies;
  return InvalidArgument("found ", open.size(),
                         " open braces at the end, wanted none");
}

}  // namespace assay::harness_mutants
