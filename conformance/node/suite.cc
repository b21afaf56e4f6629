// SPDX-License-Identifier: Apache-2.0

#include "conformance/node/suite.h"

#include <string>

#include "conformance/node/judge.h"
#include "conformance/node/tell.h"

namespace assay::node {
namespace {

const bool kRegistered = suite::AddSuite(NodeSuite());

}  // namespace

suite::Suite NodeSuite() {
  return {.name = std::string(suite::kSuiteOfCorpora),
          .run = &Judge,
          .explain = &Tell};
}

}  // namespace assay::node
