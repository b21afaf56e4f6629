// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/cause.h"

#include <utility>

#include "framework/core/text.h"

namespace assay::bisect {

std::string_view ToString(Cause cause) {
  constexpr std::string_view kWords[] = {
      "none",        "initial weights", "data order",
      "forward",     "loss reduction",  "gradient",
      "update rule", "convention",      "schedule",
      "state",       "accumulation",    "running statistics"};
  return kWords[static_cast<size_t>(cause)];
}

Finding Say(Cause cause, int64_t step, const std::string& run,
            std::string where, const std::string& what) {
  return {cause, step, run, std::move(where),
          step == 0 ? what : StrCat("at step ", step, " ", what)};
}

}  // namespace assay::bisect
