// SPDX-License-Identifier: Apache-2.0
//
// One rank's part in a case of the library's own collectives.
//
//   std::vector<OwnTask> tasks = TasksOf(test_case, what, rank, sets);
//   ASSAY_RETURN_IF_ERROR(RunTasks(test_case, mine, tasks));

#pragma once

#include <vector>

#include "conformance/distributed/own/own_case.h"
#include "framework/backend/communicator.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"

namespace assay::distributed {

/// The buffers of all ranks of one collective, and those of all collectives of
/// a case.
using OwnSet = std::vector<Tensor>;
using OwnSets = std::vector<OwnSet>;

/// One collective of a rank, on a buffer of its own.
struct OwnTask {
  ranks::Collective what;
  int set = 0;
  int rank = 0;  // in the collective
  Tensor buffer;
};

/// The tasks of a rank: one for each collective that it takes part in. A sum
/// that rounds has three more: the same again, with half the elements, and with
/// the contents of the next rank.
Result<std::vector<OwnTask>> TasksOf(const OwnCase& test_case,
                                     const ranks::Collective& what, int rank,
                                     const OwnSets& sets);

/// Runs all tasks. Data loss where the library writes beside its output, or
/// into an input that is not in place.
Status RunTasks(const OwnCase& test_case, Endpoint& mine,
                std::vector<OwnTask>& tasks);

}  // namespace assay::distributed
