// SPDX-License-Identifier: Apache-2.0
//
// All that a backend's source includes: values, models, Backend and Network,
// kernels of operators, and the registration.
//
//   class Acme : public EagerBackend {
//    public:
//     std::string_view name() const override { return "acme"; }
//     Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
//   };
//
//   ASSAY_REGISTER_BACKEND(Acme);
//
// This header does not move from release to release; the headers that it
// includes may.

#pragma once

#include "framework/backend/backend.h"             // IWYU pragma: export
#include "framework/backend/eager/eager.h"         // IWYU pragma: export
#include "framework/backend/exact.h"               // IWYU pragma: export
#include "framework/backend/executor.h"            // IWYU pragma: export
#include "framework/backend/forwarding_network.h"  // IWYU pragma: export
#include "framework/backend/function_network.h"    // IWYU pragma: export
#include "framework/backend/registry.h"            // IWYU pragma: export
