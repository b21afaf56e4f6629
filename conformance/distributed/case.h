// SPDX-License-Identifier: Apache-2.0
//
// AnyCase: a case of any room of the suite, and the numbers in its name. A name
// has all facts of a case, so that a case with fewer ranks, steps or elements
// than the plan has runs, too.

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
#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {

using AnyCase = std::variant<CollectiveCase, OwnCase, NeighborCase, SchemeCase,
                             MixingCase, NetworkCase>;

/// The cases of the plan.
std::vector<AnyCase> AllCases();

std::string IdOf(const AnyCase& any);

/// The case with that test_id: one of the plan, found by this key, or a smaller
/// one, read from its name, with fewer ranks, steps or elements. A correct
/// library passes both. Nothing for any other name.
std::optional<AnyCase> CaseNamed(std::string_view test_id);

/// Why no case has that test_id: the first word that no case has at its place,
/// or what there is of a number, and what is wanted there.
std::string WhyNone(std::string_view test_id);

/// The numbers of ranks, steps and elements that the case could have, up to its
/// own. Steps are among them where each step is judged: averages with peers
/// have bounds for a fixed number of steps.
std::vector<suite::Extent> ExtentsOf(const AnyCase& any);

/// The case with these numbers, one for each of ExtentsOf.
AnyCase Resized(AnyCase any, std::span<const int64_t> values);

/// The cases of the plan as its rows.
std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>);

/// Smaller cases than those of the plan.
suite::Sizing CaseSizing();

/// Runs a case of the plan, or a smaller one, on `ranks`, which train networks
/// of `networks`. Unsupported for a case that trains networks where that is
/// null.
measure::Judgement RunPlanned(const record::PlanRow& row, Ranks& ranks,
                              Backend* networks, const record::RunFacts& facts,
                              record::Record* record);

}  // namespace assay::distributed
