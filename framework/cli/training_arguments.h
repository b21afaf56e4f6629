// SPDX-License-Identifier: Apache-2.0
//
// What may be typed behind the commands that train.
//
//   AddTraining(app, &options);

#pragma once

#include <CLI/CLI.hpp>

#include "framework/cli/arguments.h"

namespace assay::cli {

/// Adds the commands that train with their options to the program.
void AddTraining(CLI::App& app, Options* options);

}  // namespace assay::cli
