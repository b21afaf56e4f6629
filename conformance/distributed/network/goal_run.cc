// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/network/goal_run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/distributed/network/student.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/losses.h"
#include "conformance/distributed/ranks/sent.h"
#include "framework/core/text.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/ranks/share/share.h"
#include "framework/ranks/watch.h"
#include "framework/train/data/sampler.h"
#include "framework/train/event/stop.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/trainer.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

constexpr int64_t kBatch = 64, kTestBatch = 200, kEpochs = 6;

/// Takes a rank's steps by a scheme, in which the state is.
class ByScheme : public train::Optimizer {
 public:
  explicit ByScheme(ranks::Scheme& scheme) : scheme_(scheme) {}
  Status Begin(std::span<const train::Parameter>) override {
    return OkStatus();
  }
  Result<double> Step(train::Objective& objective) override {
    ASSAY_ASSIGN_OR_RETURN(const double loss, scheme_.Step(objective));
    losses_.Add(loss);
    return loss;
  }
  std::vector<train::StateTensor> State() override { return {}; }

  const Losses& losses() const { return losses_; }

 private:
  ranks::Scheme& scheme_;
  Losses losses_;
};

/// Where a rank ended.
struct Reached {
  int64_t steps = 0;
  double accuracy = 0;
  RankSent sent;
  Losses losses;
};

constexpr void EachField(Reached& reached, const auto& visit) {
  visit(reached.steps);
  visit(reached.accuracy);
  EachField(reached.sent, visit);
  EachField(reached.losses, visit);
}

/// A rank's shares of batches of all ranks. Their sizes are multiples of the ranks', so that
/// the mean of the ranks' means is that of the batch.
Result<train::Sampler> SharesOf(const train::Dataset& digits, int64_t seed,
                                const Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(
      const train::Sampler whole,
      train::ShuffledSampler({digits.samples(), kBatch, /*drop_last=*/true},
                             static_cast<uint64_t>(seed)));
  return train::Sampler(
      [whole, rank = mine.rank(), ranks = mine.size()](int64_t epoch) {
        std::vector<train::Batch> shares;
        for (const train::Batch& batch : whole(epoch)) {
          shares.push_back(ranks::ShareOf(batch, rank, ranks).samples);
        }
        return shares;
      });
}

Result<Reached> TrainToGoal(const NetworkCase& test_case, const RunOf& run,
                            const train::Split& digits, Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto student,
      Student::Of(test_case.model, *run.backend, digits.train));
  ranks::WatchedEndpoint watched(mine);
  const auto scheme = SchemeOf(test_case.by, watched);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(mine));
  ByScheme optimizer(*scheme);
  train::StopAtAccuracy stop(test_case.goal);
  ASSAY_ASSIGN_OR_RETURN(train::Sampler shares,
                         SharesOf(digits.train, run.seed, mine));
  ASSAY_ASSIGN_OR_RETURN(
      train::Sampler tests,
      train::OrderedSampler({digits.test.samples(), kTestBatch}));
  ASSAY_ASSIGN_OR_RETURN(
      const train::Trained trained,
      train::Train({.objective = student->network(),
                    .optimizer = optimizer,
                    .train = {&digits.train, std::move(shares)},
                    .test = train::Samples{&digits.test, std::move(tests)},
                    .epochs = kEpochs,
                    .targets = train::Targets::kOneHot,
                    .events = {&stop}}));
  ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                         SentSince(before, mine, watched.sent()));
  return Reached{trained.steps, trained.test.accuracy(), sent,
                 optimizer.losses()};
}

/// The first rank that ended behind another step than the first one, or a run that did not
/// come to its accuracy.
std::optional<Judgement> JudgeEnds(const std::vector<Reached>& ends,
                                   double goal) {
  for (size_t rank = 1; rank < ends.size(); ++rank) {
    if (ends[rank].steps == ends[0].steps) continue;
    return Fails(kFailBits,
                 StrCat("rank ", rank, " ended behind step ", ends[rank].steps,
                        ", wanted step ", ends[0].steps, " as rank 0"));
  }
  if (ends[0].accuracy >= goal) return std::nullopt;
  return Fails(kFailNear,
               StrCat("found an accuracy of ", ends[0].accuracy, " behind ",
                      kEpochs, " epochs, wanted ", goal));
}

}  // namespace

Result<Judgement> RunToGoal(const NetworkCase& test_case, const RunOf& run,
                            record::Record* record) {
  ASSAY_ASSIGN_OR_RETURN(const train::Split* const digits, Digits());
  ASSAY_ASSIGN_OR_RETURN(const RanRanks ran,
                         RunRanks(
                             run.ranks, test_case.by.ranks,
                             [&](Endpoint& mine) -> Result<std::string> {
                               ASSAY_ASSIGN_OR_RETURN(
                                   const Reached reached,
                                   TrainToGoal(test_case, run, *digits, mine));
                               std::string bytes;
                               ranks::AppendFields(reached, &bytes);
                               return bytes;
                             },
                             run.scratch));
  if (!ran.judges) return Passes();
  DistributedRow row = RowOf(test_case, run);
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    std::vector<Reached> ends;
    std::vector<RankSent> sent;
    std::vector<Losses> losses;
    for (const std::string& bytes : ran.found) {
      std::string_view rest = bytes;
      if (!ranks::CutFields(&rest, &ends.emplace_back())) {
        return DataLoss("rank ", ends.size() - 1, " brought ", bytes.size(),
                        " bytes of where it ended");
      }
      sent.push_back(ends.back().sent);
      losses.push_back(ends.back().losses);
    }
    AddLosses(losses, &row);
    AddSimulated(sent, &row);
    row.steps = ends[0].steps;
    fault = JudgeEnds(ends, test_case.goal);
    ASSAY_ASSIGN_OR_RETURN(
        const auto student,
        Student::Of(test_case.model, *run.backend, digits->train));
    ASSAY_ASSIGN_OR_RETURN(
        const std::optional<SchemeCost> cost,
        CostOf(test_case.by, student->Sizes(), ends[0].steps));
    std::optional<Judgement> spent;
    if (cost.has_value()) {
      spent = JudgeTraffic(sent, cost->bytes, cost->messages, &row);
    }
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  return WithCorrupt(fault.value_or(Passes()), ran.corrupt);
}

}  // namespace assay::distributed
