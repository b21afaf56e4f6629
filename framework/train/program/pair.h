// SPDX-License-Identifier: Apache-2.0
//
// Pair: two training runs in step, each in a host of its own, beside one judge.
//
//   ASSAY_ASSIGN_OR_RETURN(const int code, OptDiff(options));

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "framework/core/status.h"
#include "framework/train/bisect/model_course.h"

namespace assay::program {

struct PairOptions {
  std::string a, b;  // RunSpec
  std::string a_module, b_module;
  std::string oracle;
  std::string oracle_module;
  std::string dataset = "drawn";
  bisect::ModelChoice choice;
  uint64_t seed = 0;
  std::string table;  // that OptDiff writes; empty: none
  std::optional<uint64_t> weights_seed_b, order_seed_b;  // for FindCause
};

// Both print what they found. They return 0 where the two runs do the same, and
// 1 otherwise.

Result<int> OptDiff(const PairOptions& options);
Result<int> FindCause(const PairOptions& options);

}  // namespace assay::program
