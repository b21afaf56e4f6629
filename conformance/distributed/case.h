// SPDX-License-Identifier: Apache-2.0
//
// AnyCase: a case of the suite, whichever of its rooms it is of, and the numbers in its
// name. A name has all that makes a case, so that one of fewer ranks, steps or elements
// than the plan has runs, too.
//
//   const std::optional<AnyCase> found =
//       CaseNamed("distributed/allreduce/ring.float32.sum.6#n3");
//   if (found.has_value()) Use(ExtentsOf(*found));

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/neighbor/neighbor_case.h"
#include "conformance/distributed/network/network_case.h"
#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/scheme/mixing_case.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {

using AnyCase = std::variant<CollectiveCase, OwnCase, NeighborCase, SchemeCase,
                             MixingCase, NetworkCase>;

/// Those of the plan.
std::vector<AnyCase> AllCases();

std::string IdOf(const AnyCase& any);

/// The case of that name, which is a key of the plan's, or is read for the numbers
/// of a smaller case: with fewer ranks, steps or elements than one of the plan.
/// A library that is right passes it.
std::optional<AnyCase> CaseNamed(std::string_view test_id);

/// Its ranks, its steps and its elements, as far as it has a number of each. Steps are
/// those of cases that judge each of them: averages with peers have bounds that hold behind
/// so many steps, and none other.
std::vector<suite::Extent> ExtentsOf(const AnyCase& any);

/// The case with these numbers, one for each of ExtentsOf.
AnyCase Resized(AnyCase any, std::span<const int64_t> values);

}  // namespace assay::distributed
