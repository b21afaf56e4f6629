// SPDX-License-Identifier: Apache-2.0
//
// Converge: the samples that a backend takes to learn, over seeds, beside those of
// another run or of a table.
//
//   ASSAY_ASSIGN_OR_RETURN(const int code, Converge(options));

#pragma once

#include <cstdint>
#include <string>

#include "framework/core/status.h"
#include "framework/train/converge/samples_to.h"

namespace assay::program {

struct ConvergeOptions {
  std::string a, b;  // RunSpec; b may be empty
  std::string a_module, b_module;
  std::string against;  // a table, whose first run is held beside a
  std::string table;    // to write; empty: none
  std::string dataset = "digits";
  converge::Goal goal;
  int64_t seeds = 10;
};

/// Prints each run and what their numbers show. 0 where the two are not told apart, or
/// where there is one that learnt with every seed, 1 otherwise. Invalid argument as
/// Compare, before anything is trained.
Result<int> Converge(const ConvergeOptions& options);

}  // namespace assay::program
