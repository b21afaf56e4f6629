// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/collective/collective_run.h"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/collective/judge.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/sent.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/watch.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// The buffers and the traffic of ranks behind a collective, by their numbers.
struct Shares {
  std::vector<Tensor> buffers;
  std::vector<RankSent> sent;
};

/// A rank's part of a collective: what it sent and has, as bytes.
Result<std::string> ShareOf(const CollectiveCase& test_case,
                            const ranks::Collective& what, Endpoint& mine,
                            const Tensor& before) {
  ASSAY_ASSIGN_OR_RETURN(Tensor buffer, before.Clone());
  ranks::WatchedEndpoint watched(mine);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount count, CountOf(mine));
  ASSAY_RETURN_IF_ERROR(
      ranks::RunCollective(what, test_case.reduction, watched, &buffer));
  ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                         SentSince(count, mine, watched.sent()));
  std::string text;
  ranks::AppendFields(sent, &text);
  AppendBytes(buffer.bytes(), &text);
  return text;
}

/// Of each rank, whose buffers are as long as before. Data loss for other bytes.
Result<Shares> SharesOf(const std::vector<std::string>& found,
                        const std::vector<Tensor>& before) {
  Shares shares;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    RankSent& sent = shares.sent.emplace_back();
    Tensor& buffer = shares.buffers.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(buffer, before[rank].Clone());
    ASSAY_ASSIGN_OR_RETURN(const std::span<std::byte> bytes,
                           ranks::BytesOf({0, buffer.num_elements()}, &buffer));
    std::string_view text = found[rank];
    if (!ranks::CutFields(&text, &sent) || !CutBytes(&text, bytes) ||
        !text.empty()) {
      return DataLoss("rank ", rank, " brought ", found[rank].size(),
                      " bytes of its share");
    }
  }
  return shares;
}

/// One root of a case.
Result<Judgement> RunRoot(const CollectiveCase& test_case, int root,
                          const RunOf& run, record::Record* record) {
  ranks::Collective what = test_case.what;
  what.root = root;
  ASSAY_ASSIGN_OR_RETURN(const ranks::Cost cost, ranks::CostOf(what));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Tensor> before,
                         ContentsOf(test_case, run.seed));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted,
                         WantedOf(test_case, root, before));
  DistributedRow row = RowOf(test_case, what, run, ToString(what.algorithm));
  ASSAY_ASSIGN_OR_RETURN(const RanRanks ran,
                         RunRanks(
                             run.ranks, what.ranks,
                             [&](Endpoint& mine) -> Result<std::string> {
                               return ShareOf(
                                   test_case, what, mine,
                                   before[static_cast<size_t>(mine.rank())]);
                             },
                             run.scratch));
  if (!ran.judges) return Passes();
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(const Shares shares, SharesOf(ran.found, before));
    fault = JudgeBits(shares.buffers, wanted, RankName, &row);
    const auto spent =
        JudgeTraffic(shares.sent, cost.elements * BitsOf(test_case.type) / 8,
                     cost.messages, &row);
    AddSimulated(shares.sent, &row);
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  return WithCorrupt(AtRoot(std::move(fault), what), ran.corrupt);
}

}  // namespace

Judgement RunCase(const CollectiveCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(test_case.roots(), record, [&](int root) {
    return RunRoot(test_case, root, run, record);
  });
}

}  // namespace assay::distributed
