// SPDX-License-Identifier: Apache-2.0
//
// Colours of a terminal, for outcomes and headings, where they are wanted.
//
//   const Colours colours = ColoursOf(STDOUT_FILENO);
//   std::cout << colours.Heading("unexpected: 3") << "\n";

#pragma once

#include <string>
#include <string_view>

namespace assay::select {

/// What decides if there are colours.
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

/// Of a descriptor of this process, and of its environment.
Colours ColoursOf(int descriptor);

}  // namespace assay::select
