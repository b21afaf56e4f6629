// SPDX-License-Identifier: Apache-2.0
//
// A module whose backend cannot be constructed.

#include <stdexcept>

#include "framework/backend/eager/eager.h"
#include "framework/backend/registry.h"

namespace {

class Throwing : public assay::EagerBackend {
 public:
  Throwing() { throw std::runtime_error("no licence"); }
  std::string_view name() const override { return "loader_test_throwing"; }
  assay::Result<assay::Probe> Inspect() override { return assay::Probe{}; }
};

ASSAY_REGISTER_BACKEND(Throwing);

}  // namespace
