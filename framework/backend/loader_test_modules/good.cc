// SPDX-License-Identifier: Apache-2.0
//
// A module as it should be. With ASSAY_LOADER_TEST_THROWS in the environment
// its backend cannot be constructed.

#include <cstdlib>
#include <stdexcept>

#include "framework/backend/eager/eager.h"
#include "framework/backend/registry.h"

namespace {

class Good : public assay::EagerBackend {
 public:
  Good() {
    if (std::getenv("ASSAY_LOADER_TEST_THROWS") != nullptr) {
      throw std::runtime_error("no licence");
    }
  }
  std::string_view name() const override { return "loader_test_good"; }
  assay::Result<assay::Probe> Inspect() override { return assay::Probe{}; }
};

ASSAY_REGISTER_BACKEND(Good);

}  // namespace
