// SPDX-License-Identifier: Apache-2.0
//
// The texts of --help: lines of at most 80 columns.

#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "framework/cli/select/terminal.h"

namespace assay::cli {

class Help : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option,
                          bool is_positional) const override {
    return Line(
        make_option_name(option, is_positional) + make_option_opts(option),
        make_option_desc(option));
  }

  /// The type and the default; which options exclude others an error says.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0,
                       std::min(text.find(" Needs:"), text.find(" Excludes:")));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return Line(command->get_name(), command->get_description());
  }

 private:
  static std::string Line(const std::string& label, const std::string& text) {
    return select::Wrapped(text,
                           {.label = label, .indent = 2, .label_width = 28});
  }
};

}  // namespace assay::cli
