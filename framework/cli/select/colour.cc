// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/colour.h"

#include <unistd.h>

#include <cstdlib>

#include "framework/core/text.h"
#include "framework/testing/record/outcome.h"

namespace assay::select {
namespace {

bool IsSet(const char* value) { return value != nullptr && *value != 0; }

}  // namespace

bool WantsColours(const ColourFacts& facts) {
  if (IsSet(facts.no_color)) return false;
  if (IsSet(facts.clicolor_force) &&
      std::string_view(facts.clicolor_force) != "0") {
    return true;
  }
  return facts.terminal && IsSet(facts.term) &&
         std::string_view(facts.term) != "dumb";
}

std::string Colours::Painted(const char* code, std::string_view text) const {
  if (!wanted_ || text.empty()) return std::string(text);
  return StrCat("\x1B[", code, "m", text, "\x1B[0m");
}

std::string Colours::Heading(std::string_view text) const {
  return Painted("1", text);
}
std::string Colours::Good(std::string_view text) const {
  return Painted("32", text);
}
std::string Colours::Bad(std::string_view text) const {
  return Painted("31", text);
}

std::string Colours::Outcome(std::string_view word) const {
  const auto outcome = record::ParseOutcome(word.substr(0, word.find(' ')));
  if (!outcome.has_value()) return std::string(word);
  if (record::IsUnexpected(*outcome)) return Bad(word);
  return *outcome == record::Outcome::kPass ? Good(word) : std::string(word);
}

std::string Colours::Equation(std::string_view text) const {
  std::string painted;
  while (!text.empty()) {
    const size_t sign = text.find_first_of("=+");
    if (sign == std::string_view::npos || sign + 2 > text.size()) break;
    painted += text.substr(0, sign + 2);
    text.remove_prefix(sign + 2);
    // "fail 3": the word and its number.
    const size_t end = text.find(' ', text.find(' ') + 1);
    const std::string_view count = text.substr(0, end);
    painted += Outcome(count);
    text.remove_prefix(count.size());
  }
  return painted.append(text);
}

Colours ColoursOf(int descriptor) {
  return Colours(
      WantsColours({isatty(descriptor) == 1, std::getenv("NO_COLOR"),
                    std::getenv("CLICOLOR_FORCE"), std::getenv("TERM")}));
}

}  // namespace assay::select
