// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/thread_neighbors.h"

#include <algorithm>

namespace assay::ranks {

Status ThreadNeighbors::Exchange(std::span<const std::byte> out,
                                 std::span<std::byte> in) {
  ASSAY_ASSIGN_OR_RETURN(const size_t block,
                         BlockBytes(out, to_.size(), in, from_.size()));
  for (const int other : to_) {
    ASSAY_RETURN_IF_ERROR(world_.Send(channel_, MemberOf(group_.rank),
                                      MemberOf(other), out.first(block)));
    out = out.subspan(block);
  }
  for (const int other : from_) {
    ASSAY_ASSIGN_OR_RETURN(const Message came,
                           calls_.Receive({MemberOf(other), channel_}));
    if (came.bytes.size() != block) {
      return DataLoss("rank ", group_.rank, ": found ", came.bytes.size(),
                      " bytes from the neighbor ", other, ", wanted ", block);
    }
    std::ranges::copy(came.bytes, in.begin());
    in = in.subspan(block);
  }
  return OkStatus();
}

}  // namespace assay::ranks
