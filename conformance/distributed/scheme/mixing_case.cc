// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/mixing_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/scheme/async.h"
#include "framework/ranks/scheme/objectives.h"
#include "framework/train/rule/optimizers.h"

namespace assay::distributed {
namespace {

constexpr ranks::Graph kGraphs[] = {
    ranks::Graph::kRing, ranks::Graph::kComplete, ranks::Graph::kExponential,
    ranks::Graph::kOnePeerExponential, ranks::Graph::kTorus};
constexpr std::optional<int64_t> kSlacks[] = {0, 1, 3, std::nullopt};

std::string_view NameOf(const Gossip&) { return "gossip"; }
std::string_view NameOf(const PushSum&) { return "push_sum"; }
std::string_view NameOf(const AdPsgd&) { return "ad_psgd"; }
std::string_view NameOf(const AsyncServer&) { return "async_server"; }

std::string WayOf(const Gossip& gossip) {
  return std::string(ToString(gossip.graph));
}
std::string WayOf(const PushSum& push_sum) {
  return push_sum.graph == ranks::Directed::kOnePeer ? "one_peer" : "uneven";
}
std::string WayOf(const AdPsgd&) { return "ring"; }
std::string WayOf(const AsyncServer& server) {
  return server.slack.has_value() ? StrCat("slack", *server.slack)
                                  : "unbounded";
}

using measure::Judgement;
using ranks::PulledObjective;
using ranks::SteadyObjective;

constexpr double kNear = 1e-12;
constexpr double kRate = 0.125;
constexpr int64_t kWorkerSteps = 6;
// Steps until the remainder of any wave is below a unit of float64.
constexpr int64_t kUnevenSteps = 600;
// Rounds until ranks are together, also where active ranks are served one after
// the other.
constexpr int64_t kPairRounds = 120;
constexpr int64_t kRoundSteps = 5;

std::unique_ptr<train::Optimizer> Descent() {
  return std::move(
      train::MakeOptimizer({"gradient_descent", "paper", "rate=0.125"})
          .value()
          .optimizer);
}

/// A case that may run its ranks several times.
struct Part {
  const RunOf& run;
  int ranks;
  std::optional<Judgement> fault = std::nullopt;  // the first one
  std::string corrupt = {};  // the first text about a message
  std::optional<Status> declined = std::nullopt;  // by the library
  bool judges = true;

  /// The numbers that all ranks return; none where the library declines, since
  /// the other ranks go on.
  Result<std::vector<double>> Do(
      const std::function<Result<std::vector<double>>(Endpoint&)>& rank) {
    const Result<RanRanks> ran = RunRanks(
        run.ranks, ranks,
        [&](Endpoint& mine) -> Result<std::string> {
          ASSAY_ASSIGN_OR_RETURN(const std::vector<double> numbers, rank(mine));
          std::string text;
          AppendBytes(std::span(numbers), &text);
          return text;
        },
        run.scratch);
    std::vector<double> all;
    if (!ran.ok()) {
      if (!declined.has_value()) declined = ran.status();
      return all;
    }
    if (!fault.has_value()) fault = ran->fault;
    if (corrupt.empty()) corrupt = ran->corrupt;
    judges = ran->judges;
    for (const std::string& found : ran->found) {
      std::string_view text = found;
      double number = 0;
      while (CutBytes(&text, std::span(&number, 1))) all.push_back(number);
    }
    return all;
  }

  bool has_ended() const {
    return fault.has_value() || declined.has_value() || !judges;
  }
};

double NormOf(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number * number;
  return std::sqrt(sum);
}

double MeanOf(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

double FarthestFrom(double goal, const std::vector<double>& numbers) {
  double farthest = 0;
  for (const double number : numbers) {
    farthest = std::max(farthest, std::fabs(number - goal));
  }
  return farthest;
}

std::vector<double> Squares(int ranks) {
  std::vector<double> numbers;
  for (int rank = 0; rank < ranks; ++rank) numbers.push_back(rank * rank);
  return numbers;
}

Status Train(ranks::Scheme& scheme, train::Objective& objective,
             int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());
  }
  return scheme.Finish(objective);
}

/// The numbers of all ranks after `steps` of a scheme that is made with `how`.
/// `model` makes a rank's objective.
template <class Made, class How, class Model>
Result<std::vector<double>> TrainedTogether(Part& part, How how, Model model,
                                            int64_t steps) {
  return part.Do([&](Endpoint& mine) -> Result<std::vector<double>> {
    auto objective = model(mine.rank());
    Made scheme(mine, Descent(), how);
    ASSAY_RETURN_IF_ERROR(Train(scheme, objective, steps));
    return std::vector{objective.number()};
  });
}

/// The same for ranks that begin at `before` and that nothing pulls.
template <class Made, class How>
Result<std::vector<double>> Mixed(Part& part, How how,
                                  const std::vector<double>& before,
                                  int64_t steps) {
  const auto still = [&](int rank) {
    return PulledObjective(before[static_cast<size_t>(rank)], /*goal=*/0,
                           /*pull=*/0);
  };
  return TrainedTogether<Made>(part, how, still, steps);
}

Judgement FailsBy(const std::string& what, double found, double wanted) {
  return Fails(kFailMixing, StrCat(what, ": found ", found, ", wanted ", wanted,
                                   " within ", kNear));
}

/// A wave's factor in one mixing, found and by formula.
struct Shrunk {
  ranks::Wave wave;
  double found, factor;
};

Result<Shrunk> ShrunkBy(ranks::Wave wave, ranks::Graph graph, Part& part) {
  std::vector<double> before;
  for (int rank = 0; rank < part.ranks; ++rank) {
    before.push_back(std::cos(ranks::AngleOf(wave, graph, rank, part.ranks)));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> after,
                         Mixed<ranks::GossipScheme>(part, graph, before, 1));
  return Shrunk{wave, NormOf(after) / NormOf(before),
                ranks::FactorOf(wave, graph, part.ranks)};
}

/// All ranks run the whole case, since other processes do not know the
/// judgement of one.
Result<Judgement> Judge(const Gossip& gossip, Part& part, DistributedRow* row) {
  const ranks::Graph graph = gossip.graph;
  const int rows = ranks::RowsOf(graph, part.ranks);
  std::vector<Shrunk> waves;
  for (int k = 1; k < part.ranks; ++k) {
    ASSAY_ASSIGN_OR_RETURN(waves.emplace_back(),
                           ShrunkBy({k % rows, k / rows}, graph, part));
  }
  const double mean = MeanOf(Squares(part.ranks));
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<double> mixed,
      Mixed<ranks::GossipScheme>(part, graph, Squares(part.ranks), 7));
  if (part.has_ended()) return Passes();
  double worst = 0;
  for (const auto& [wave, found, factor] : waves) {
    worst = std::max(worst, std::fabs(found - factor));
    row->contraction_err = worst;
    if (worst <= kNear) continue;
    return FailsBy(StrCat("wave ", wave.along_rows, " by ", wave.along_columns),
                   found, factor);
  }
  row->steps = 7;
  row->consensus = FarthestFrom(MeanOf(mixed), mixed);
  if (std::fabs(MeanOf(mixed) - mean) > kNear * mean) {
    return FailsBy("the mean of all ranks", MeanOf(mixed), mean);
  }
  return Passes();
}

/// Passes where all ranks are within `limit` of the mean.
Judgement JudgeConsensus(double mean, double limit,
                         const std::vector<double>& numbers,
                         DistributedRow* row) {
  row->consensus = FarthestFrom(mean, numbers);
  if (*row->consensus <= limit) return Passes();
  return Fails(kFailMixing,
               StrCat("a rank is ", *row->consensus, " from the mean ", mean,
                      ", wanted at most ", limit));
}

Result<Judgement> Judge(const PushSum& push_sum, Part& part,
                        DistributedRow* row) {
  const bool is_one_peer = push_sum.graph == ranks::Directed::kOnePeer;
  const double mean = MeanOf(Squares(part.ranks));
  // A power of two of ranks is at the mean after log2(ranks) steps (B. Ying et
  // al., "Exponential graph is provably efficient for decentralized deep
  // training", 2021, lemma 1).
  const int64_t steps =
      is_one_peer ? std::countr_zero(static_cast<unsigned>(part.ranks))
                  : kUnevenSteps;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> pushed,
                         Mixed<ranks::PushSumScheme>(
                             part, push_sum.graph, Squares(part.ranks), steps));
  if (part.has_ended()) return Passes();
  row->steps = steps;
  return JudgeConsensus(mean, is_one_peer ? 0 : kNear * mean, pushed, row);
}

/// The numbers of ranks that only average in pairs. A rank that is served first
/// may end before another begins, and learns nothing of it. So there are rounds
/// of a few steps, and all ranks end a round before the next.
Result<std::vector<double>> Paired(Part& part, uint64_t seed,
                                   const std::vector<double>& before) {
  return part.Do([&](Endpoint& mine) -> Result<std::vector<double>> {
    PulledObjective objective(before[static_cast<size_t>(mine.rank())],
                              /*goal=*/0, /*pull=*/0);
    for (int64_t round = 0; round < kPairRounds; ++round) {
      ranks::AdPsgdScheme scheme(mine, Descent(),
                                 {kRoundSteps, core::KeyOf(seed, round)});
      ASSAY_RETURN_IF_ERROR(Train(scheme, objective, kRoundSteps));
    }
    return std::vector{objective.number()};
  });
}

/// With few steps the sum over ranks is exact: an average halves the grid of
/// the numbers at most, and float64 has enough bits for that.
Result<Judgement> Judge(const AdPsgd&, Part& part, DistributedRow* row) {
  const auto seed = static_cast<uint64_t>(part.run.seed);
  const std::vector<double> starts = Squares(part.ranks);
  double wanted = 0;
  for (int rank = 0; rank < part.ranks; ++rank) {
    wanted += rank * rank - kRate * kWorkerSteps * rank;
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<double> moved,
      TrainedTogether<ranks::AdPsgdScheme>(
          part, ranks::AdPsgdScheme::Options{kWorkerSteps, seed},
          [&](int rank) {
            return SteadyObjective(starts[static_cast<size_t>(rank)], rank);
          },
          kWorkerSteps));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> mixed,
                         Paired(part, seed, starts));
  if (part.has_ended()) return Passes();
  row->steps = kPairRounds * kRoundSteps;
  const double sum = std::accumulate(moved.begin(), moved.end(), 0.0);
  if (sum != wanted) {
    return Fails(kFailMixing,
                 StrCat("the sum of all ranks is ", sum, ", wanted ", wanted));
  }
  const double mean = MeanOf(starts);
  return JudgeConsensus(mean, kNear * mean, mixed, row);
}

Result<Judgement> Judge(const AsyncServer& server, Part& part,
                        DistributedRow* row) {
  const int workers = part.ranks - 1;
  ranks::ServerOptions options{.steps = kWorkerSteps};
  // While a gradient is under way, each other worker makes at most twice the
  // slack and one step more; without a bound, all of its steps.
  int64_t bound = kWorkerSteps * (workers - 1);
  if (server.slack.has_value()) {
    options.slack = *server.slack;
    bound = std::min(bound, (2 * options.slack + 1) * (workers - 1));
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<double> served,
      part.Do([&](Endpoint& mine) -> Result<std::vector<double>> {
        SteadyObjective objective(/*start=*/64, mine.rank());
        if (mine.rank() > 0) {
          ranks::WorkerScheme scheme(mine);
          ASSAY_RETURN_IF_ERROR(Train(scheme, objective, options.steps));
          return std::vector<double>();
        }
        const auto optimizer = Descent();
        ASSAY_ASSIGN_OR_RETURN(
            const ranks::Staleness seen,
            ranks::ServeGradients(mine, *optimizer, objective, options));
        return std::vector{objective.number(),
                           static_cast<double>(seen.updates)};
      }));
  if (part.has_ended()) return Passes();
  const double number = served.at(0);
  const auto updates = static_cast<int64_t>(served.at(1));
  row->steps = kWorkerSteps;
  row->staleness_max = updates;
  row->staleness_bound = bound;
  const int gradients =
      workers * (workers + 1) / 2;  // sum over workers, of one step
  const double wanted = 64 - kRate * kWorkerSteps * gradients;
  if (number != wanted) {
    return Fails(kFailMixing, StrCat("the server ends at ", number, ", wanted ",
                                     wanted, ": each gradient once"));
  }
  if (updates > bound) {
    return Fails(kFailMixing, StrCat("a gradient is ", updates,
                                     " updates old, wanted at most ", bound));
  }
  return Passes();
}

}  // namespace

std::string_view MixingCase::scheme_name() const {
  return std::visit([](const auto& each) { return NameOf(each); }, scheme);
}

std::string MixingCase::way() const {
  return std::visit([](const auto& each) { return WayOf(each); }, scheme);
}

std::string MixingCase::test_id() const {
  return StrCat("distributed/", scheme_name(), "/", way(), "#n", ranks);
}

std::vector<MixingCase> AllMixingCases() {
  std::vector<MixingCase> all;
  for (const ranks::Graph graph : kGraphs) {
    for (const int ranks : {2, 3, 6, 8, 16}) {
      all.push_back({Gossip{graph}, ranks});
    }
  }
  for (const int ranks : {2, 4, 8, 16}) {
    all.push_back({PushSum{ranks::Directed::kOnePeer}, ranks});
  }
  for (const int ranks : {2, 3, 5, 8, 13}) {
    all.push_back({PushSum{ranks::Directed::kUneven}, ranks});
  }
  for (const int ranks : {2, 4, 8}) all.push_back({AdPsgd{}, ranks});
  for (const int ranks : {2, 3, 4, 8}) {
    for (const auto& slack : kSlacks) {
      all.push_back({AsyncServer{slack}, ranks});
    }
  }
  return all;
}

Judgement RunCase(const MixingCase& test_case, const RunOf& run,
                  record::Record* record) {
  Part part{run, test_case.ranks};
  DistributedRow row;
  row.scheme = test_case.scheme_name();
  row.optimizer = "gradient_descent";
  row.transport = run.transport;
  row.ranks = test_case.ranks;
  row.topology = test_case.way();
  row.mode = "float";
  row.seed = run.seed;
  const int64_t began = record::SteadyMicroseconds();
  const Result<Judgement> judged =
      std::visit([&](const auto& scheme) { return Judge(scheme, part, &row); },
                 test_case.scheme);
  row.run_us = record::SteadyMicroseconds() - began;
  record->result.run_us = row.run_us;
  if (!judged.ok()) return Declines(judged.status());
  if (part.declined.has_value()) return Declines(*part.declined);
  if (!part.judges) return Passes();
  record->Add(row);
  // Ranks that did not end make every other rule void.
  return WithCorrupt(part.fault.value_or(*judged), part.corrupt);
}

}  // namespace assay::distributed
