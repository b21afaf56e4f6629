// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal of 80 columns: a label, and a value that goes on below
// itself.
//
//   std::cout << Wrapped(row.message, {.label = "message", .indent = 2});

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::select {

struct WrapOptions {
  std::string label;
  size_t indent = 0;
  size_t label_width = 0;  // of the column of labels; 0: none
  size_t width = 80;
  /// Ends each line but the last with a backslash and leaves words whole, so
  /// that a shell takes the lines as one command.
  bool command = false;
};

/// Lines that end in a newline each, broken at spaces; a word that is longer
/// than a line is broken behind a slash or, without one, anywhere.
std::string Wrapped(std::string_view text, const WrapOptions& options = {});

}  // namespace assay::select
