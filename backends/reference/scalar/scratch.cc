// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/scratch.h"

namespace assay::reference {

std::pmr::memory_resource& ScratchMemory() {
#ifdef __SANITIZE_ADDRESS__
  // Which sees no access beyond a block that lies in a pool.
  return *std::pmr::new_delete_resource();
#else
  // Each block by itself: the pool would ask for sixteen of a size at once.
  thread_local std::pmr::unsynchronized_pool_resource pool(
      std::pmr::pool_options{.max_blocks_per_chunk = 1,
                             .largest_required_pool_block = size_t{4} << 20});
  return pool;
#endif
}

}  // namespace assay::reference
