// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/callgrind.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace assay::overhead {
namespace {

constexpr std::string_view kTrigger =
    "desc: Trigger: --dump-after=assay_counted_calls";
constexpr std::string_view kTotals = "totals: ";
constexpr size_t kCountsOfPair = 4;  // two sides, two numbers of calls

/// A warm-up takes what is taken once, as memory of outputs, and brings the
/// lists of the allocator to rest.
constexpr int64_t kUncounted = 8;

Result<int64_t> Counted(std::string_view text) {
  int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec == std::errc() && parsed.ptr == end && count > 0) return count;
  return DataLoss("found the total '", text, "', wanted a number above 0");
}

/// The totals of the parts that an exit of the function wrote, in their order.
Result<std::vector<int64_t>> TotalsOf(std::string_view text) {
  std::vector<int64_t> totals;
  bool is_counted = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("desc: Trigger: ")) is_counted = line == kTrigger;
    if (!is_counted || !line.starts_with(kTotals)) continue;
    ASSAY_ASSIGN_OR_RETURN(totals.emplace_back(),
                           Counted(line.substr(kTotals.size())));
  }
  return totals;
}

Result<int64_t> PerCall(int64_t once, int64_t twice) {
  if (twice <= once) {
    return DataLoss("found ", twice, " instructions of ", 2 * kCountedCalls,
                    " calls and ", once, " of ", kCountedCalls,
                    ", wanted more of more calls");
  }
  return (twice - once + kCountedCalls / 2) / kCountedCalls;
}

}  // namespace

/// Its name is for callgrind; it is entered and left, and nothing is moved out
/// of it.
extern "C" [[gnu::noinline]] int assay_counted_calls(const Calls& subject,
                                                     int64_t calls) {
  const bool ok = subject(calls).ok();
  asm volatile("" ::: "memory");  // no jump in place of the call above
  return ok ? 0 : 1;
}

Status MakeCountedCalls(std::span<const Pair> pairs) {
  for (const Pair& pair : pairs) {
    for (const Calls* const side : {&pair.native, &pair.framework}) {
      ASSAY_RETURN_IF_ERROR((*side)(kUncounted));
      for (const int64_t calls : {kCountedCalls, 2 * kCountedCalls}) {
        if (assay_counted_calls(*side, calls) != 0) {
          return Internal(pair.test_id, " on ", pair.backend,
                          " failed where it is counted");
        }
      }
    }
  }
  return OkStatus();
}

Result<std::vector<Instructions>> ReadInstructions(std::string_view text,
                                                   size_t pairs) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> totals, TotalsOf(text));
  if (totals.size() != kCountsOfPair * pairs) {
    return DataLoss("found ", totals.size(), " counts of callgrind, wanted ",
                    kCountsOfPair * pairs, ", ", kCountsOfPair, " of each of ",
                    pairs, " pairs");
  }
  std::vector<Instructions> instructions(pairs);
  for (size_t i = 0; i < pairs; ++i) {
    const int64_t* const of_pair = &totals[kCountsOfPair * i];
    ASSAY_ASSIGN_OR_RETURN(instructions[i].native,
                           PerCall(of_pair[0], of_pair[1]));
    ASSAY_ASSIGN_OR_RETURN(instructions[i].framework,
                           PerCall(of_pair[2], of_pair[3]));
  }
  return instructions;
}

}  // namespace assay::overhead
