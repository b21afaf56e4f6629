// SPDX-License-Identifier: Apache-2.0
//
// Completion of the commands and options of a program in bash and zsh, from
// what its parser knows.
//
//   std::cout << Completion(app, "bash");   // source <(assay completion bash)

#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace assay::cli {

/// A script of the shell, bash or zsh, that completes commands, their options,
/// the values of options that have a list of them, backends and suites, and
/// else files.
std::string Completion(const CLI::App& app, std::string_view shell);

}  // namespace assay::cli
