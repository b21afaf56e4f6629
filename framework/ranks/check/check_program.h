// SPDX-License-Identifier: Apache-2.0
//
// CheckProgram: runs a program of ranks in all orders that can show, as far as there is
// time, and says what is wrong with it.
//
//   const Checked checked = CheckProgram(2, [](Endpoint& mine) -> Result<std::string> {
//     ASSAY_RETURN_IF_ERROR(mine.Exchange(1 - mine.rank(), out, kNobody, {}));
//     ASSAY_RETURN_IF_ERROR(mine.Exchange(kNobody, {}, 1 - mine.rank(), in));
//     return "done";
//   });
//   checked.text;  // "order: ranks stand still: ...; rank 0 waits for rank 1, which ..."

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/check/board.h"

namespace assay::ranks {

/// What a rank does, and what it ends with.
using Program = std::function<Result<std::string>(Endpoint&)>;

struct Checked {
  Finding finding = Finding::kNone;
  std::string text;  // with the ranks and their calls
  int64_t runs = 0;  // until it was found
};

/// Every answer to a receive from anybody, `most` of them at most, with room for messages
/// and then without. A program ends by itself; what it begins it has in memory that
/// outlives what is under way.
Checked CheckProgram(int ranks, const Program& program, int64_t most = 1000);

}  // namespace assay::ranks
