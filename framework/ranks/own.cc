// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/own.h"

#include "framework/ranks/reduction.h"

namespace assay::ranks {

OwnParts OwnPartsOf(const Collective& what, int rank) {
  const int64_t block = what.count;
  const Part one = {0, block};
  const Part all = {0, what.ranks * block};
  const Part own = {rank * block, block};
  const bool is_root = rank == what.root;
  switch (what.operation) {
    case Operation::kBarrier:
      break;
    case Operation::kBroadcast:
      return {is_root ? one : Part(), one};
    case Operation::kReduce:
      return {one, is_root ? one : Part()};
    case Operation::kAllReduce:
      return {one, one};
    case Operation::kGather:
      return {own, is_root ? all : Part()};
    case Operation::kScatter:
      return {is_root ? all : Part(), own};
    case Operation::kReduceScatter:
      return {all, own};
    case Operation::kAllGather:
      return {own, all};
    case Operation::kAllToAll:
      return {all, {all.count, all.count}};
  }
  return {};
}

Result<CollectiveCall> OwnCallOf(const Collective& what, Reduction reduction,
                                 int rank, Tensor* buffer) {
  if (HasRoot(what.operation) && (what.root < 0 || what.root >= what.ranks)) {
    return InvalidArgument("found the root ", what.root,
                           ", wanted a rank from 0 to ", what.ranks - 1);
  }
  if (buffer->num_elements() != ElementsOf(what)) {
    return InvalidArgument("found a buffer of ", buffer->num_elements(),
                           " elements for ", ToString(what.operation), " of ",
                           what.count, " over ", what.ranks, " ranks, wanted ",
                           ElementsOf(what));
  }
  const OwnParts parts = OwnPartsOf(what, rank);
  CollectiveCall call{.operation = what.operation,
                      .reduction = reduction,
                      .type = buffer->dtype(),
                      .count = what.count,
                      .root = what.root,
                      .in = {},
                      .out = {}};
  ASSAY_ASSIGN_OR_RETURN(call.in, BytesOf(parts.in, buffer));
  ASSAY_ASSIGN_OR_RETURN(call.out, BytesOf(parts.out, buffer));
  return call;
}

Status RunOwn(const Collective& what, Reduction reduction, Endpoint& endpoint,
              Tensor* buffer) {
  if (what.ranks != endpoint.size()) {
    return InvalidArgument("found a collective of ", what.ranks,
                           " ranks, wanted one of ", endpoint.size());
  }
  ASSAY_ASSIGN_OR_RETURN(const CollectiveCall call,
                         OwnCallOf(what, reduction, endpoint.rank(), buffer));
  return endpoint.Collect(call);
}

}  // namespace assay::ranks
