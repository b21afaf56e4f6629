// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/counts/counts.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
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
  std::array<char, 4096> text;
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  const std::string_view all(text.data(),
                             static_cast<size_t>(std::max<ssize_t>(size, 0)));
  size_t at = all.find(name);
  if (at == all.npos) return std::nullopt;
  at = all.find_first_of("0123456789", at);
  int64_t number = 0;
  if (at == all.npos ||
      std::from_chars(all.data() + at, all.data() + all.size(), number).ec !=
          std::errc()) {
    return std::nullopt;
  }
  return number;
}

/// The peak begins anew at what the process has now.
bool ResetPeak() {
  const auto peak = StatusKilobytes("VmHWM:");
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_reset = write(file, "5", 1) == 1;
  close(file);
  if (is_reset) peak_before_kb = std::max(peak_before_kb, peak.value_or(0));
  return is_reset;
}

int OpenInstructions() {
  perf_event_attr event = {};
  event.type = PERF_TYPE_HARDWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  event.disabled = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

Counter::Counter() {
  counts_peak_ = ResetPeak();
  instructions_ = OpenInstructions();
  allocation_count.is_on = true;
  counts_allocations_ = IsCounting();
  allocations_ = allocation_count.calls;
  bytes_ = allocation_count.bytes;
  if (instructions_ >= 0) ioctl(instructions_, PERF_EVENT_IOC_ENABLE, 0);
}

Counter::~Counter() {
  allocation_count.is_on = false;
  if (instructions_ >= 0) close(instructions_);
}

Counts Counter::Stop() {
  Counts counts;
  int64_t instructions = 0;
  if (instructions_ >= 0) {
    ioctl(instructions_, PERF_EVENT_IOC_DISABLE, 0);
    if (read(instructions_, &instructions, sizeof instructions) ==
        sizeof instructions) {
      counts.instructions = instructions;
    }
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
