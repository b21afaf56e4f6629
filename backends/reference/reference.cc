// SPDX-License-Identifier: Apache-2.0
//
// The backend `reference`: ONNX operators as their pages state them, on the
// CPU, in one thread. README.md says how it is built.

#include "backends/reference/families.h"
#include "backends/reference/loop/simd.h"
#include "framework/backend/registry.h"

namespace assay::reference {

class Reference : public ReferenceBackend {
 public:
  std::string_view name() const override { return "reference"; }
  Result<Probe> Inspect() override { return InspectAs({}); }
  Result<Probe> InspectAs(const assay::Settings& settings) override {
    ASSAY_ASSIGN_OR_RETURN(const Isa most, IsaOf({.settings = settings}));
    return Probe{
        .version = ASSAY_VERSION, .device = "cpu", .isa = NamesUpTo(most)};
  }
};

ASSAY_REGISTER_BACKEND(Reference);

}  // namespace assay::reference
