// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/explain/explanation.h"
#include "framework/cli/explain/explanation_text.h"

namespace assay::explain {

int ExplainCommand(const cli::ExplainOptions& options) {
  const auto found = Explain(options.run, options.test_id, options.backend);
  if (!found.ok()) return select::Fail(found.status());
  if (options.json) {
    std::cout << ExplanationJson(*found);
    return select::kExitOk;
  }
  for (const Explanation& explanation : *found) {
    std::cout << ExplanationText(explanation);
  }
  return select::kExitOk;
}

}  // namespace assay::explain
