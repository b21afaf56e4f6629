// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/wrapped_text.h"

#include <algorithm>

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

}  // namespace

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

}  // namespace assay::select
