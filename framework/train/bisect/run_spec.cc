// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/run_spec.h"

#include "framework/core/text.h"
#include "framework/train/rule/optimizers.h"

namespace assay::bisect {

Result<RunSpec> ParseRunSpec(std::string_view text) {
  const std::string_view all = text;
  RunSpec spec;
  spec.backend = CutFront(&text, ":");
  std::string_view optimizer = CutFront(&text, ":");
  spec.optimizer.optimizer = CutFront(&optimizer, "/");
  spec.optimizer.preset = optimizer.empty() ? "paper" : optimizer;
  spec.optimizer.settings = text;
  if (spec.optimizer.optimizer.empty()) spec.optimizer.optimizer = "momentum";
  if (spec.backend.empty()) {
    return InvalidArgument("found the run '", all,
                           "', wanted BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]");
  }
  const Status made =
      train::MakeOptimizer({spec.optimizer.optimizer, spec.optimizer.preset,
                            spec.optimizer.settings})
          .status();
  if (!made.ok()) return made.WithContext(all);
  return spec;
}

}  // namespace assay::bisect
