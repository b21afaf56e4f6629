// SPDX-License-Identifier: Apache-2.0

#include "perf/times/suite/collective.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"
#include "framework/timing/clock.h"
#include "perf/times/judge.h"
#include "perf/times/sources.h"
#include "perf/times/subject.h"

namespace assay::times {
namespace {

using distributed::CollectiveCase;
using measure::Judgement;
using ranks::Operation;

constexpr size_t kSamples = 100, kWarmUpCalls = 10;
/// Contents of buffers, which calls take in turns.
constexpr size_t kSets = 4;

/// The contents of buffers before each call, and the call that is judged.
struct Calls {
  std::array<std::vector<Tensor>, kSets> sets;  // by rank
  std::vector<size_t> set_of;                   // each call
  size_t judged = 0;
};

Result<Calls> CallsOf(const CollectiveCase& c, uint64_t seed) {
  core::Numbers drawn(seed);
  Calls calls;
  for (size_t set = 0; set < kSets; ++set) {
    ASSAY_ASSIGN_OR_RETURN(
        calls.sets[set],
        distributed::ContentsOf(c, 0, static_cast<int>(set) * c.what.ranks));
  }
  for (size_t i = 0; i < kWarmUpCalls + kSamples; ++i) {
    calls.set_of.push_back(drawn.Below(kSets));
  }
  calls.judged = kWarmUpCalls + drawn.Below(kSamples);
  return calls;
}

/// The times of a rank's calls, and its buffer after the one that is judged, as
/// bytes.
Result<std::string> RunPart(const CollectiveCase& c, const Calls& calls,
                            Endpoint& mine) {
  const ranks::Collective barrier = {Operation::kBarrier,
                                     ranks::Algorithm::kDissemination,
                                     c.what.ranks, 0, 0};
  const auto rank = static_cast<size_t>(mine.rank());
  ASSAY_ASSIGN_OR_RETURN(Tensor buffer, calls.sets[0][rank].Clone());
  ASSAY_ASSIGN_OR_RETURN(Tensor nothing, Tensor::Allocate(c.type, {0}));
  Tensor judged;
  std::vector<int64_t> ns;
  for (size_t i = 0; i < calls.set_of.size(); ++i) {
    std::ranges::copy(calls.sets[calls.set_of[i]][rank].bytes(),
                      buffer.mutable_data());
    ASSAY_RETURN_IF_ERROR(
        ranks::RunCollective(barrier, c.reduction, mine, &nothing));
    const int64_t start = timing::SteadyNow();
    ASSAY_RETURN_IF_ERROR(ranks::RunOwn(c.what, c.reduction, mine, &buffer));
    ns.push_back(timing::SteadyNow() - start);
    if (i == calls.judged) {
      ASSAY_ASSIGN_OR_RETURN(judged, buffer.Clone());
    }
  }
  std::string text;
  distributed::AppendBytes(std::span<const int64_t>(ns), &text);
  distributed::AppendBytes(judged.bytes(), &text);
  return text;
}

/// The times of the slowest rank of each call, and all buffers.
struct Brought {
  std::vector<double> ns;
  std::vector<Tensor> buffers;
};

Result<Brought> AllBrought(const std::vector<std::string>& found,
                           const Calls& calls) {
  Brought all;
  all.ns.resize(calls.set_of.size());
  for (size_t rank = 0; rank < found.size(); ++rank) {
    Tensor& buffer = all.buffers.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(buffer, calls.sets[0][rank].Clone());
    std::vector<int64_t> ns(all.ns.size());
    std::string_view text = found[rank];
    ASSAY_ASSIGN_OR_RETURN(const std::span<std::byte> bytes,
                           ranks::BytesOf({0, buffer.num_elements()}, &buffer));
    if (!distributed::CutBytes(&text, std::span(ns)) ||
        !distributed::CutBytes(&text, bytes) || !text.empty()) {
      return DataLoss("rank ", rank, " brought ", found[rank].size(),
                      " bytes of its times");
    }
    for (size_t i = 0; i < ns.size(); ++i) {
      all.ns[i] = std::max(all.ns[i], static_cast<double>(ns[i]));
    }
  }
  return all;
}

Phase PhaseOf(std::span<const double> ns) {
  Phase phase = {"warm", "warm", {}};
  phase.samples.ns.assign(ns.begin() + kWarmUpCalls, ns.end());
  phase.samples.warmup_iters = kWarmUpCalls;
  phase.samples.stop_reason = timing::StopReason::kCount;
  return phase;
}

Result<Taken> TakeCalls(const CollectiveCase& c, Ranks& ranks, uint64_t seed,
                        const record::RunFacts& facts) {
  ASSAY_ASSIGN_OR_RETURN(const Calls calls, CallsOf(c, seed));
  ASSAY_ASSIGN_OR_RETURN(
      const distributed::RanRanks ran,
      distributed::RunRanks(
          ranks, c.what.ranks,
          [&](Endpoint& mine) { return RunPart(c, calls, mine); },
          facts.scratch));
  Taken taken = {{}, {}, ran.fault.value_or(distributed::Passes())};
  if (!ran.judges || ran.fault.has_value()) return taken;
  ASSAY_ASSIGN_OR_RETURN(const Brought all, AllBrought(ran.found, calls));
  taken.phase = PhaseOf(all.ns);
  taken.cost = timing::CostOf(timing::SteadyNow);
  const auto& before = calls.sets[calls.set_of[calls.judged]];
  ASSAY_ASSIGN_OR_RETURN(const auto wanted,
                         distributed::WantedOf(c, c.what.root, before));
  distributed::DistributedRow unused;
  if (const auto differs = distributed::JudgeBits(
          all.buffers, wanted, distributed::RankName, &unused)) {
    taken.verdict = *differs;
  }
  taken.verdict = distributed::WithCorrupt(taken.verdict, ran.corrupt);
  return taken;
}

}  // namespace

Judgement JudgeCollective(const record::PlanRow& row, Ranks& ranks,
                          Backend* /*networks*/, const record::RunFacts& facts,
                          record::Record* record) {
  const auto id = CollectiveIdOf(row.test_id);
  if (!id.has_value()) {
    return {record::Outcome::kError, Reason::kReader,
            "no collective that is timed has that name"};
  }
  return JudgeTaken(facts, record, [&] {
    return TakeCalls(CollectiveNamed(*id), ranks, SeedOf(row, facts), facts);
  });
}

}  // namespace assay::times
