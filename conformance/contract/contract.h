// SPDX-License-Identifier: Apache-2.0
//
// The contract suite: the promises of backend.h, tried on a backend case by
// case through public interfaces only.
//
//   for (const ContractCase& c : ContractCases()) {
//     const Status kept = TryContract(c, backend);
//     // OK: kept. Unsupported: declined, as the promise allows. Else: broken.
//   }
//
// In a run the cases are those of the suite `contract`, test_id contract/NAME.
// contract_suite.h gives the same as a typed GoogleTest suite.

#pragma once

#include <span>
#include <string_view>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::contract {

struct ContractCase {
  std::string_view name;       // "bind/wrong_shape"
  std::string_view operators;  // that a claim must cover, "Add Relu"
  std::string_view promise;    // in one sentence
  Status (*check)(Backend& backend);
};

/// Every case of the suite, by name.
std::span<const ContractCase> ContractCases();

/// One case. Exceptions of the backend become a failed Status.
Status TryContract(const ContractCase& contract_case, Backend& backend);

}  // namespace assay::contract
