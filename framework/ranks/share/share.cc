// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/share/share.h"

#include <cstddef>

namespace assay::ranks {

Share ShareOf(std::span<const int64_t> batch, int rank, int ranks) {
  const auto all = static_cast<size_t>(ranks);
  const auto place = static_cast<size_t>(rank);
  const size_t first = batch.size() * place / all;
  const size_t end = batch.size() * (place + 1) / all;
  if (first == end) return {};
  const std::span<const int64_t> mine = batch.subspan(first, end - first);
  return {{mine.begin(), mine.end()},
          static_cast<double>(all * mine.size()) /
              static_cast<double>(batch.size())};
}

}  // namespace assay::ranks
