// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/watch.h"

#include <cstdint>

namespace assay::ranks {

Status WatchedEndpoint::Exchange(int to, std::span<const std::byte> out,
                                 int from, std::span<std::byte> in) {
  ASSAY_RETURN_IF_ERROR(inner_.Exchange(to, out, from, in));
  if (to != kNobody && to != rank()) {
    sent_.bytes += static_cast<int64_t>(out.size());
    sent_.messages += 1;
  }
  return OkStatus();
}

}  // namespace assay::ranks
