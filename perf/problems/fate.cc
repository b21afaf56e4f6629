// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/fate.h"

#include <algorithm>

#include "framework/core/text.h"

namespace assay::problems {

std::string_view ToString(Fate fate) {
  switch (fate) {
    case Fate::kTimed:
      return "timed";
    case Fate::kDeclined:
      return "declined";
    case Fate::kTooMuchMemory:
      return "too big by memory";
    case Fate::kTooMuchTime:
      return "too big by time";
  }
  return "";
}

double LeastSeconds(const work::Work& work, const Limits& limits) {
  return std::max(work.flops / limits.flops_per_second,
                  work.bytes() / limits.bytes_per_second);
}

Result<Fate> FateOf(const Result<Needs>& needs, const Limits& limits) {
  if (needs.status().code() == StatusCode::kUnsupported) {
    return Fate::kDeclined;
  }
  if (!needs.ok()) return needs.status();
  if (needs->bytes > limits.bytes) return Fate::kTooMuchMemory;
  if (LeastSeconds(needs->work, limits) > limits.seconds) {
    return Fate::kTooMuchTime;
  }
  return Fate::kTimed;
}

void Tally::Add(Fate fate) {
  switch (fate) {
    case Fate::kTimed:
      ++timed;
      break;
    case Fate::kDeclined:
      ++declined;
      break;
    case Fate::kTooMuchMemory:
      ++too_much_memory;
      break;
    case Fate::kTooMuchTime:
      ++too_much_time;
      break;
  }
}

int64_t Tally::total() const {
  return timed + declined + too_much_memory + too_much_time;
}

std::string Tally::ToString() const {
  return StrCat(problems::ToString(Fate::kTimed), " ", timed, ", ",
                problems::ToString(Fate::kDeclined), " ", declined, ", ",
                problems::ToString(Fate::kTooMuchMemory), " ", too_much_memory,
                ", ", problems::ToString(Fate::kTooMuchTime), " ",
                too_much_time, ": ", total());
}

}  // namespace assay::problems
