// SPDX-License-Identifier: Apache-2.0
//
// A module as it should be.

#include "framework/backend/eager/eager.h"
#include "framework/backend/registry.h"

namespace {

class Good : public assay::EagerBackend {
 public:
  std::string_view name() const override { return "loader_test_good"; }
  assay::Result<assay::Probe> Inspect() override { return assay::Probe{}; }
};

ASSAY_REGISTER_BACKEND(Good);

}  // namespace
