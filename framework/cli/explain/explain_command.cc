// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/explain/explanation.h"
#include "framework/cli/explain/explanation_text.h"

namespace assay::inline v1 {

int ExplainCommand(const ExplainOptions& options) {
  const auto found = Explain(options.run, options.test_id, options.backend);
  if (!found.ok()) return Fail(found.status());
  if (options.json) {
    std::cout << ExplanationJson(*found);
    return kExitOk;
  }
  for (const Explanation& explanation : *found) {
    std::cout << ExplanationText(explanation);
  }
  return kExitOk;
}

}  // namespace assay::inline v1
