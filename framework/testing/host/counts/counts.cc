// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/counts/counts.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "framework/testing/host/counts/counted_malloc.h"

namespace assay::counts {

constinit AllocationCount allocation_count;

namespace {

int64_t peak_before_kb = 0;

/// True where this program counts: an allocation is seen.
bool IsCounting() {
  const int64_t before = allocation_count.calls;
  void* (*const volatile allocate)(size_t) = &std::malloc;
  std::free(allocate(1));
  return allocation_count.calls > before;
}

/// The number of the line "NAME:  1234 kB" of /proc/self/status (proc(5)),
/// which is read without an allocation.
std::optional<int64_t> StatusKilobytes(std::string_view name) {
  std::array<char, 4096> text = {};
  const file::Descriptor status(open("/proc/self/status", O_RDONLY));
  [[maybe_unused]] const auto size =
      read(status.get(), text.data(), text.size());
  const char* const line = std::ranges::search(text, name).end();
  if (line == text.end()) return std::nullopt;
  return std::atoll(line);
}

/// The peak begins anew at what the process has now.
bool ResetPeak() {
  const auto peak = StatusKilobytes("VmHWM:");
  const file::Descriptor file(open("/proc/self/clear_refs", O_WRONLY));
  if (write(file.get(), "5", 1) != 1) return false;
  peak_before_kb = std::max(peak_before_kb, *peak);
  return true;
}

file::Descriptor OpenInstructions() {
  perf_event_attr event = {.type = PERF_TYPE_HARDWARE,
                           .size = sizeof event,
                           .config = PERF_COUNT_HW_INSTRUCTIONS,
                           .exclude_kernel = true,
                           .exclude_hv = true};
  return file::Descriptor(static_cast<int>(
      syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

/// Nothing where the machine counts none.
std::optional<int64_t> InstructionsOf(const file::Descriptor& opened) {
  int64_t count = 0;
  if (read(opened.get(), &count, sizeof count) != sizeof count) return {};
  return count;
}

}  // namespace

Counter::Counter()
    : counts_peak_(ResetPeak()), instructions_(OpenInstructions()) {
  allocation_count.is_on = true;
  counts_allocations_ = IsCounting();
  allocations_ = allocation_count.calls;
  bytes_ = allocation_count.bytes;
  instructions_before_ = InstructionsOf(instructions_);
}

Counter::~Counter() { allocation_count.is_on = false; }

Counts Counter::Stop() {
  Counts counts;
  if (instructions_before_.has_value()) {
    counts.instructions =
        *InstructionsOf(instructions_) - *instructions_before_;
  }
  allocation_count.is_on = false;
  if (counts_allocations_) {
    counts.allocations = allocation_count.calls - allocations_;
    counts.allocated_bytes = allocation_count.bytes - bytes_;
  }
  if (counts_peak_) counts.peak_rss_kb = StatusKilobytes("VmHWM:");
  counts.steady_rss_kb = StatusKilobytes("VmRSS:");
  return counts;
}

int64_t PeakRssBeforeKilobytes() { return peak_before_kb; }

}  // namespace assay::counts
