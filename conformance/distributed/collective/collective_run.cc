// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/collective/collective_run.h"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/collective/judge.h"
#include "conformance/distributed/ranks/bits.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/dist/endpoint.h"
#include "framework/dist/watch.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// What one rank has behind a collective.
struct Share {
  Tensor buffer;
  dist::Traffic sent;
};

/// A rank's part of a collective: its share, as bytes.
Result<std::string> ShareOf(const CollectiveCase& test_case,
                            const dist::Collective& what, Endpoint& mine,
                            const Tensor& before) {
  ASSAY_ASSIGN_OR_RETURN(Tensor buffer, before.Clone());
  dist::WatchedEndpoint watched(mine);
  ASSAY_RETURN_IF_ERROR(
      dist::RunCollective(what, test_case.reduction, watched, &buffer));
  const dist::Traffic sent = watched.sent();
  std::string text;
  AppendBytes(std::span(&sent, 1), &text);
  AppendBytes(buffer.bytes(), &text);
  return text;
}

/// Of each rank, whose buffers are as long as before. Data loss for other bytes.
Result<std::vector<Share>> SharesOf(const std::vector<std::string>& found,
                                    const std::vector<Tensor>& before) {
  std::vector<Share> shares;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    Share& share = shares.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(share.buffer, before[rank].Clone());
    ASSAY_ASSIGN_OR_RETURN(
        const std::span<std::byte> buffer,
        dist::BytesOf({0, share.buffer.num_elements()}, &share.buffer));
    std::string_view text = found[rank];
    if (!CutBytes(&text, std::span(&share.sent, 1)) ||
        !CutBytes(&text, buffer) || !text.empty()) {
      return DataLoss("rank ", rank, " brought ", found[rank].size(),
                      " bytes of its share");
    }
  }
  return shares;
}

/// Adds what was sent to the row. Null where it is what the formulas say.
std::optional<Judgement> JudgeCost(const std::vector<Share>& shares,
                                   const dist::Cost& cost, DType type,
                                   DistributedRow* row) {
  dist::Traffic sent;
  for (const Share& share : shares) {
    sent.bytes += share.sent.bytes;
    sent.messages += share.sent.messages;
  }
  return JudgeTraffic(sent, cost.elements * BitsOf(type) / 8, cost.messages,
                      row);
}

/// One root of a case.
Result<Judgement> RunRoot(const CollectiveCase& test_case, int root,
                          const RunOf& run, record::Record* record) {
  dist::Collective what = test_case.what;
  what.root = root;
  ASSAY_ASSIGN_OR_RETURN(const dist::Cost cost, dist::CostOf(what));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Tensor> before,
                         ContentsOf(test_case, run.seed));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted,
                         WantedOf(test_case, root, before));
  DistributedRow row = RowOf(test_case, what, run, ToString(what.algorithm));
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(run.ranks, what.ranks,
               [&](Endpoint& mine) -> Result<std::string> {
                 return ShareOf(test_case, what, mine,
                                before[static_cast<size_t>(mine.rank())]);
               }));
  if (!ran.judges) return Passes();
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Share> shares,
                           SharesOf(ran.found, before));
    std::vector<Tensor> got;
    for (const Share& share : shares) got.push_back(share.buffer);
    fault = JudgeBits(got, wanted, RankName, &row);
    const auto spent = JudgeCost(shares, cost, test_case.type, &row);
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  return AtRoot(std::move(fault), what);
}

}  // namespace

Judgement RunCollectiveCase(const CollectiveCase& test_case, const RunOf& run,
                            record::Record* record) {
  return RunRoots(test_case.roots(), record, [&](int root) {
    return RunRoot(test_case, root, run, record);
  });
}

}  // namespace assay::distributed
