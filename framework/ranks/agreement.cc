// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/agreement.h"

#include <algorithm>
#include <array>
#include <string>

#include "framework/core/tensor.h"
#include "framework/core/text.h"

namespace assay::ranks {
namespace {

/// A call as numbers that ranks exchange.
using Fingerprint = std::array<int64_t, 8>;

Fingerprint FingerprintOf(const Call& call) {
  return {call.number,
          static_cast<int64_t>(call.what.operation),
          static_cast<int64_t>(call.what.algorithm),
          call.what.ranks,
          call.what.count,
          HasRoot(call.what.operation) ? call.what.root : 0,
          static_cast<int64_t>(call.reduction),
          static_cast<int64_t>(call.type)};
}

std::string TextOf(std::span<const int64_t> print) {
  const Collective what{.operation = static_cast<Operation>(print[1]),
                        .algorithm = static_cast<Algorithm>(print[2]),
                        .ranks = static_cast<int>(print[3]),
                        .count = print[4],
                        .root = static_cast<int>(print[5])};
  return StrCat("collective ", print[0], ", ", ToString(what), ", ",
                ToString(static_cast<Reduction>(print[6])), " of ",
                ToString(static_cast<DType>(print[7])));
}

}  // namespace

Status CheckAlike(const Call& call, Endpoint& endpoint) {
  const Fingerprint own = FingerprintOf(call);
  const auto length = std::ssize(own);
  const Collective exchange{.operation = Operation::kAllGather,
                            .algorithm = Algorithm::kRing,
                            .ranks = endpoint.size(),
                            .count = length};
  ASSAY_ASSIGN_OR_RETURN(
      Tensor prints, Tensor::Allocate(DType::kInt64, {ElementsOf(exchange)}));
  const auto all = prints.mutable_elements<int64_t>();
  std::ranges::copy(own, all.begin() + endpoint.rank() * length);
  ASSAY_RETURN_IF_ERROR(
      RunCollective(exchange, Reduction::kSum, endpoint, &prints));
  const auto of_rank = [&](int rank) {
    return all.subspan(static_cast<size_t>(rank * length),
                       static_cast<size_t>(length));
  };
  for (int rank = 1; rank < endpoint.size(); ++rank) {
    if (std::ranges::equal(of_rank(rank), of_rank(0))) continue;
    return FailedPrecondition("ranks do not do the same: rank 0 is at ",
                              TextOf(of_rank(0)), "; rank ", rank, " at ",
                              TextOf(of_rank(rank)));
  }
  return OkStatus();
}

}  // namespace assay::ranks
