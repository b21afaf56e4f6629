// SPDX-License-Identifier: Apache-2.0
//
// Converge: the samples that a backend takes to learn, over several seeds,
// compared with those of another run or of a table.
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
  std::string against;  // a table, whose first run is compared with a
  std::string table;    // to write; empty: none
  std::string dataset = "digits";
  converge::Goal goal;
  int64_t seeds = 10;
};

/// Prints each run and the comparison. Returns 0 where the two cannot be told
/// apart, or where there is one run and it learnt with every seed; 1 otherwise.
/// Invalid argument for a number of seeds that Compare does not take, before
/// anything is trained.
Result<int> Converge(const ConvergeOptions& options);

}  // namespace assay::program
