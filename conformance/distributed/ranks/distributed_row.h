// SPDX-License-Identifier: Apache-2.0
//
// DistributedRow: a row of distributed.csv, one run of all ranks and its
// results; and the traffic and the losses of the ranks that the row sums up.
// Traffic comes from the requests of ranks to their library, from the count of
// the library, and from a formula: all three must agree. A row also has the
// time that a library simulates.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/fields.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/columns.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {

struct DistributedRow : record::Key {
  std::string scheme, optimizer, collective, transport;
  int64_t ranks = 0;
  record::Integer root;
  std::string topology;
  record::Integer steps;
  std::string mode;
  record::Integer differing_bits;
  record::Number max_ulp;
  std::string hash;
  std::string determinism;
  record::Integer rank_agreement, bytes_sent, bytes_formula, messages,
      messages_formula, staleness_max, staleness_bound;
  record::Number consensus, contraction_err, loss_first, loss_last;
  record::Integer run_us;
  record::Number simulated_us;
  int64_t seed = 0;
};

/// A library's own counts; nothing where it has none.
struct LibraryCount {
  std::optional<Counted> sent;
  std::optional<double> simulated_s;
};

/// Reads Endpoint::counted, which a library may lack, and
/// Endpoint::simulated_seconds.
Result<LibraryCount> CountOf(const Endpoint& mine);

/// A rank's part of a case on the simulated clock that all ranks share.
struct SimulatedPart {
  double began_s = 0, ended_s = 0;
  bool is_simulated = false;  // the library has a clock
};

struct RankSent {
  Traffic asked;
  Counted counted;          // by the library's count
  bool is_counted = false;  // the library has a count
  SimulatedPart simulated = {};
};

constexpr void EachField(RankSent& sent, const auto& visit) {
  ranks::VisitEach(visit, sent.asked.bytes, sent.asked.messages,
                   sent.counted.sent.bytes, sent.counted.sent.messages,
                   sent.counted.collectives, sent.counted.collective_bytes,
                   sent.is_counted, sent.simulated.began_s,
                   sent.simulated.ended_s, sent.simulated.is_simulated);
}

/// The traffic and time between a count and now.
Result<RankSent> SentSince(const LibraryCount& since, const Endpoint& mine,
                           const Traffic& asked);

/// Adds the traffic that all ranks asked for to the row. Null where it is
/// `bytes` and `messages`, if these are given, and where each library that
/// counts has counted the same messages and no collective.
std::optional<measure::Judgement> JudgeTraffic(
    std::span<const RankSent> ranks, int64_t bytes,
    const std::optional<int64_t>& messages, DistributedRow* row);

/// Adds the libraries' own counts to the row, where they include all messages.
void AddCounted(std::span<const RankSent> ranks, DistributedRow* row);

/// Adds the simulated time to the row, where all ranks have it: from the last
/// rank that begins to the last that ends, since formulas let ranks begin
/// together.
void AddSimulated(std::span<const RankSent> ranks, DistributedRow* row);

/// The losses of the first step and of the last that a rank's steps return. A
/// share's loss is weighed as its gradient is, so that the mean over ranks is
/// the loss of the batch.
struct Losses {
  double first = 0, last = 0;
  int64_t steps = 0;

  /// Adds the loss that the next step returned, which is that before the step.
  void Add(double loss);
};

constexpr void EachField(Losses& losses, const auto& visit) {
  ranks::VisitEach(visit, losses.first, losses.last, losses.steps);
}

/// Adds the means over all ranks to the row; none where a rank took no step.
void AddLosses(std::span<const Losses> ranks, DistributedRow* row);

/// Judges the results of all ranks, and adds what it finds to the row; null
/// where nothing is wrong.
using JudgeResults = std::function<Result<std::optional<measure::Judgement>>(
    const std::vector<std::string>& found, DistributedRow* row)>;

/// Runs `rank` as the ranks of the row (RunRanks), and judges them where all
/// came to their end. Adds the row with the time of the run. `where` goes after
/// the message of a fault.
Result<measure::Judgement> RunAndJudge(const RunOf& run, DistributedRow row,
                                       const RankBody& rank,
                                       const JudgeResults& judge,
                                       record::Record* record,
                                       const std::string& where = "");

/// Says for `assay explain` what the rows have about a case.
std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts& facts,
                                  const record::Record& record);

}  // namespace assay::distributed

namespace assay {
template <>
const record::Table& record::TableOf<distributed::DistributedRow>();
}  // namespace assay
