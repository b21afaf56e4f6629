// SPDX-License-Identifier: Apache-2.0
//
// CollectiveCase: a collective of the suite, of an element type, on so many ranks.
//
//   for (const CollectiveCase& each : AllCollectiveCases()) Use(each.test_id());

#pragma once

#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/reduction.h"
#include "framework/testing/case/test_case.h"

namespace assay::distributed {

enum class Numbers : uint8_t {
  kWhole,  // whose sums have no rounding in any order
  kDrawn,  // whose sums round, as the order of the algorithm's tree says
};

struct CollectiveCase {
  ranks::Collective what;  // its root aside: a case goes through several
  ranks::Reduction reduction = ranks::Reduction::kSum;
  DType type = DType::kFloat32;
  Numbers numbers = Numbers::kWhole;

  /// "distributed/allreduce/ring.float32.sum.1021#n8".
  std::string test_id() const;
  /// Those of more ranks than a machine has room for as processes are of tier scale.
  cases::Tier tier() const;
  /// The roots that it goes through; 0 alone for what has none.
  std::vector<int> roots() const;
};

/// The name of a case of `ranks` ranks by the way of that name.
std::string IdOf(const CollectiveCase& test_case, std::string_view way,
                 int ranks);

/// All that ranks do together, in the order of the cases.
std::span<const ranks::Operation> Operations();

/// True where numbers of ranks are combined.
bool Reduces(ranks::Operation operation);

/// By operation, algorithm and ranks.
std::vector<CollectiveCase> AllCollectiveCases();

}  // namespace assay::distributed
