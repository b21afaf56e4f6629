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

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/contract/probe.h"
#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::contract {

/// The duty to keep a promise: a case that may be declined is inside nobody's
/// claims.
enum class Duty : uint8_t { kMust, kMay };

struct ContractCase {
  std::string_view name;  // "bind/wrong_shape"
  Duty duty;
  /// In its models, "Softmax Relu*": behind a star is the probe that is tried
  /// first; any other may take its place.
  std::string_view operators;
  std::string_view promise;  // in one sentence
  Status (*check)(Backend& backend, const ProbeOperator& probe);

  /// Those without a star, as "Softmax".
  std::vector<std::string> Operators() const;
  /// The operators to probe with, in the order in which they are tried; none
  /// where the promise is about those of its own.
  std::vector<std::string> Probes() const;
};

/// Every case of the suite, by name.
std::span<const ContractCase> ContractCases();

/// One case, with the first of these probes that the backend loads; without
/// any, with the first of the case's. Exceptions of the backend become a failed
/// Status.
Status TryContract(const ContractCase& contract_case, Backend& backend,
                   std::vector<std::string> probes = {});

}  // namespace assay::contract
