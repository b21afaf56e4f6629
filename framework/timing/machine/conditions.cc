// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/machine/conditions.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::machine {
namespace {

/// Empty when it cannot be read.
std::string ContentOf(const std::filesystem::path& file) {
  const Result<std::string> text = file::ReadFile(file);
  return text.ok() ? *text : "";
}

/// The words of the line that begins with `name`, without it.
std::vector<std::string_view> WordsOf(std::string_view text,
                                      std::string_view name) {
  while (!text.empty()) {
    std::string_view line = CutFront(&text);
    if (CutFront(&line, " ") != name) continue;
    std::vector<std::string_view> words;
    while (!line.empty()) {
      const std::string_view word = CutFront(&line, " ");
      if (!word.empty()) words.push_back(word);
    }
    return words;
  }
  return {};
}

template <class Number>
std::optional<Number> Grown(const std::optional<Number>& before,
                            const std::optional<Number>& after) {
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

std::optional<double> HottestOf(const std::filesystem::path& thermal) {
  std::optional<double> hottest;
  std::error_code error;
  for (const auto& zone : std::filesystem::directory_iterator(thermal, error)) {
    std::string text = ContentOf(zone.path() / "temp");
    std::string_view rest = text;
    if (const auto milli = file::ParseInt(CutFront(&rest))) {
      const double celsius = static_cast<double>(*milli) / 1000;
      hottest = std::max(celsius, hottest.value_or(celsius));
    }
  }
  return hottest;
}

}  // namespace

std::optional<int64_t> StealTicks(std::string_view stat) {
  constexpr size_t kSteal = 7;
  const auto words = WordsOf(stat, "cpu");
  if (words.size() <= kSteal) return std::nullopt;
  return file::ParseInt(words[kSteal]);
}

std::optional<int64_t> StalledMicroseconds(std::string_view pressure) {
  constexpr std::string_view kTotal = "total=";
  for (const std::string_view word : WordsOf(pressure, "some")) {
    if (word.starts_with(kTotal)) {
      return file::ParseInt(word.substr(kTotal.size()));
    }
  }
  return std::nullopt;
}

std::optional<int64_t> AvailableBytes(std::string_view meminfo) {
  constexpr int64_t kKilobyte = 1024;
  const auto words = WordsOf(meminfo, "MemAvailable:");
  const auto count = words.empty() ? std::nullopt : file::ParseInt(words[0]);
  if (!count.has_value()) return std::nullopt;
  return *count * kKilobyte;
}

Conditions ConditionsOf(const std::filesystem::path& root) {
  const std::filesystem::path proc = root / "proc";
  const std::string loads = ContentOf(proc / "loadavg");
  std::string_view rest = loads;
  return {.steal_ticks = StealTicks(ContentOf(proc / "stat")),
          .stalled_us = StalledMicroseconds(ContentOf(proc / "pressure/cpu")),
          .load1 = file::ParseDouble(CutFront(&rest, " ")),
          .celsius = HottestOf(root / "sys/class/thermal")};
}

Disturbance DisturbanceOf(const Conditions& before, const Conditions& after,
                          int64_t elapsed_ns) {
  Disturbance disturbance = {
      .elapsed_ns = elapsed_ns,
      .steal_ticks = Grown(before.steal_ticks, after.steal_ticks)};
  if (const auto stalled_us = Grown(before.stalled_us, after.stalled_us)) {
    disturbance.psi_cpu_some_pct = 100 * 1e3 *
                                   static_cast<double>(*stalled_us) /
                                   static_cast<double>(elapsed_ns);
  }
  return disturbance;
}

double SpinLoss(const timing::Clock& clock) {
  constexpr int64_t kSteps = 1 << 15;
  constexpr int64_t kLoops = 200;
  int64_t fastest_ns = std::numeric_limits<int64_t>::max();
  int64_t all_ns = 0;
  uint64_t state = 1;
  for (int64_t loop = -kLoops; loop < kLoops; ++loop) {
    const int64_t start = clock();
    // The compiler must not know the state, nor that nobody reads it.
    asm volatile("" : "+r"(state));
    // Each step waits for the one before (the generator MMIX of D. Knuth, The
    // Art of Computer Programming, section 3.3.4).
    for (int64_t step = 0; step < kSteps; ++step) {
      state = state * 6364136223846793005U + 1442695040888963407U;
    }
    asm volatile("" : "+r"(state));
    const int64_t loop_ns = clock() - start;
    if (loop < 0) continue;
    fastest_ns = std::min(fastest_ns, loop_ns);
    all_ns += loop_ns;
  }
  if (fastest_ns <= 0) return 0;
  return static_cast<double>(all_ns) /
             static_cast<double>(kLoops * fastest_ns) -
         1;
}

std::string NoiseOf(const Disturbance& disturbance, double spin_loss,
                    const QuietLimits& limits) {
  std::vector<std::string> noise;
  if (spin_loss > limits.spin_loss) {
    noise.push_back(StrCat("loops lose ", 100 * spin_loss, " %"));
  }
  if (disturbance.steal_ticks) {
    const double steal_pct = 100 * 1e7 *
                             static_cast<double>(*disturbance.steal_ticks) /
                             static_cast<double>(disturbance.elapsed_ns);
    if (steal_pct > limits.steal_pct) {
      noise.push_back(StrCat("steal ", steal_pct, " %"));
    }
  }
  if (disturbance.psi_cpu_some_pct.value_or(0) > limits.psi_cpu_some_pct) {
    noise.push_back(StrCat("pressure ", *disturbance.psi_cpu_some_pct, " %"));
  }
  return Joined(noise);
}

}  // namespace assay::machine
