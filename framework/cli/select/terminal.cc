// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "framework/core/text.h"
#include "framework/testing/record/outcome.h"

namespace assay::select {
namespace {

/// Characters of the next line, at least one, of at most `room`; a newline in
/// the text ends it as well.
size_t LineLength(std::string_view text, size_t room, bool keep_words) {
  const size_t newline = std::min(text.find('\n'), text.size());
  if (newline <= room) return newline;
  const size_t space = text.rfind(' ', room);
  if (space != std::string_view::npos && space > 0) return space;
  if (keep_words) return std::min(text.find(' '), newline);
  const size_t slash = text.rfind('/', room - 1);
  return slash == std::string_view::npos || slash == 0 ? room : slash + 1;
}

bool IsSet(const char* value) { return value != nullptr && *value != 0; }

}  // namespace

int Fail(const Status& status) {
  std::cerr << "assay: " << status.message() << "\n";
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kCancelled:
      return kExitStopped;
    default:
      return kExitHarness;
  }
}

int ExitCodeOf(const Result<int>& code) {
  return code.ok() ? *code : Fail(code.status());
}

int ExitCodeOf(const Status& status) {
  return status.ok() ? kExitOk : Fail(status);
}

std::string Wrapped(std::string_view text, const WrapOptions& options) {
  const size_t column = options.indent + options.label_width;
  const size_t room = options.width - column - (options.command ? 2 : 0);
  std::string lines;
  std::string start = std::string(options.indent, ' ') + options.label;
  if (start.size() >= column && options.label_width > 0) {
    lines = start + "\n";
    start.clear();
  }
  start.resize(column, ' ');
  while (true) {
    const size_t length = LineLength(text, room, options.command);
    lines += start;
    lines += text.substr(0, length);
    text.remove_prefix(length);
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n')) {
      text.remove_prefix(1);
    }
    lines += !text.empty() && options.command ? " \\\n" : "\n";
    if (text.empty()) return lines;
    start.assign(column, ' ');
  }
}

std::string Digits(double number, int count) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*g", count, number);
  return text.data();
}

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
