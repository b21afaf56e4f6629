// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/fate.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "framework/core/text.h"

namespace assay::problems {
namespace {

constexpr std::array kFates = {Fate::kTimed, Fate::kDeclined,
                               Fate::kTooMuchMemory, Fate::kTooMuchTime,
                               Fate::kFailed};

}  // namespace

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
    case Fate::kFailed:
      return "failed";
  }
  return "";
}

std::optional<Fate> FateNamed(std::string_view text) {
  const auto* const found =
      std::ranges::find(kFates, text, [](Fate fate) { return ToString(fate); });
  return found == kFates.end() ? std::nullopt : std::optional(*found);
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

int64_t Tally::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

std::string Tally::ToString() const {
  const std::string counts = Joined(kFates, ", ", [this](Fate fate) {
    return StrCat(problems::ToString(fate), " ", (*this)[fate]);
  });
  return StrCat(counts, ": ", total());
}

}  // namespace assay::problems
