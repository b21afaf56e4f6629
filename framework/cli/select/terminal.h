// SPDX-License-Identifier: Apache-2.0
//
// The way in which the program speaks to a person: its exit codes and the one
// way in which it fails, text of 80 columns, and colours where they are wanted.
//
//   if (!plan.ok()) return Fail(plan.status());
//   std::cout << Wrapped(row.message, {.label = "message", .indent = 2});

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "framework/core/status.h"

namespace assay::select {

enum ExitCode : int {
  kExitOk = 0,
  kExitUnexpected = 1,
  kExitUsage = 2,
  kExitUnavailable = 77,
  kExitHarness = 99,
  kExitStopped = 130,
};

/// Prints "assay: message" and gives the exit code that the failure calls for:
/// 2 for wrong usage, 130 after SIGINT or SIGTERM, 99 for the rest.
int Fail(const Status& status);

/// The code that a command gives, or that of its failure, which is printed.
int ExitCodeOf(const Result<int>& code);
int ExitCodeOf(const Status& status);

/// Text that goes on below itself, with a label before it.
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

/// A number with that many digits, where more of it say nothing: "1.23e+04".
std::string Digits(double number, int count);

/// The facts that decide if there are colours.
struct ColourFacts {
  bool terminal = false;
  const char* no_color = nullptr;        // NO_COLOR
  const char* clicolor_force = nullptr;  // CLICOLOR_FORCE
  const char* term = nullptr;            // TERM
};

/// NO_COLOR (no-color.org) is asked first, then CLICOLOR_FORCE
/// (bixense.com/clicolors), which colours a pipe, too. Else a terminal has
/// colours that is not "dumb".
bool WantsColours(const ColourFacts& facts);

/// Colours of outcomes and headings, where they are wanted.
class Colours {
 public:
  explicit Colours(bool wanted) : wanted_(wanted) {}

  std::string Heading(std::string_view text) const;
  std::string Good(std::string_view text) const;
  std::string Bad(std::string_view text) const;

  /// The text with the words of outcomes and their numbers, as "fail 3",
  /// coloured where a sign stands before them: "5 = pass 2 + fail 3".
  std::string Equation(std::string_view text) const;

  /// The word of an outcome by what it is to a run.
  std::string Outcome(std::string_view word) const;

 private:
  std::string Painted(const char* code, std::string_view text) const;

  bool wanted_;
};

/// The colours of a descriptor, in the environment of this process.
Colours ColoursOf(int descriptor);

}  // namespace assay::select
