// SPDX-License-Identifier: Apache-2.0
//
// Something that turns a run red: a result, or a line of a policy.
//
//   verdicts.unexpected.push_back({"acme", row.test_id, "fail", message});

#pragma once

#include <string>

namespace assay::verdict {

struct Unexpected {
  std::string backend;
  std::string test_id;  // empty: about the backend or its policy
  std::string outcome;
  std::string reason;
};

}  // namespace assay::verdict
