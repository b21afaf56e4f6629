// SPDX-License-Identifier: Apache-2.0

#include "perf/work/work.h"

namespace assay::work {

Work& Work::operator+=(const Work& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  on_padding += other.on_padding;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  return *this;
}

Work operator*(double times, const Work& work) {
  return {times * work.flops, times * work.transcendentals,
          times * work.on_padding, times * work.bytes_read,
          times * work.bytes_written};
}

}  // namespace assay::work
