// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/straggler.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace assay::ranks {

Straggler StragglerOf(std::span<const int64_t> waited_us) {
  if (waited_us.size() < 2) return {};
  const auto least = std::ranges::min_element(waited_us);
  int64_t next = std::numeric_limits<int64_t>::max();
  for (auto each = waited_us.begin(); each != waited_us.end(); ++each) {
    if (each != least) next = std::min(next, *each);
  }
  if (next == *least) return {};
  return {static_cast<int>(least - waited_us.begin()), next - *least};
}

}  // namespace assay::ranks
