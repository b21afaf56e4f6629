// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_rank/memory.h"

#include <cstddef>

namespace assay::mpi_rank {
namespace {

/// Blocks of a rank's memory.
struct Blocks {
  size_t in = 0, out = 0;
};

Blocks BlocksOf(Operation operation, size_t ranks, bool is_root) {
  switch (operation) {
    case Operation::kBarrier:
      return {0, 0};
    case Operation::kBroadcast:
      return {is_root ? 1U : 0U, 1};
    case Operation::kReduce:
      return {1, is_root ? 1U : 0U};
    case Operation::kAllReduce:
      return {1, 1};
    case Operation::kGather:
      return {1, is_root ? ranks : 0};
    case Operation::kScatter:
      return {is_root ? ranks : 0, 1};
    case Operation::kReduceScatter:
      return {ranks, 1};
    case Operation::kAllGather:
      return {1, ranks};
    case Operation::kAllToAll:
      break;
  }
  return {ranks, ranks};
}

}  // namespace

Status CheckMemory(const CollectiveCall& call, int rank, int ranks) {
  const Blocks blocks =
      BlocksOf(call.operation, static_cast<size_t>(ranks), rank == call.root);
  const size_t block = static_cast<size_t>(call.count) *
                       static_cast<size_t>(BitsOf(call.type)) / 8;
  if (call.in.size() == blocks.in * block &&
      call.out.size() == blocks.out * block) {
    return OkStatus();
  }
  return InvalidArgument("found ", call.in.size(), " bytes of input and ",
                         call.out.size(), " of output for ",
                         ToString(call.operation), ", wanted ",
                         blocks.in * block, " and ", blocks.out * block);
}

}  // namespace assay::mpi_rank
