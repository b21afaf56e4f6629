// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/collective/collective_run.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/hash.h"
#include "framework/core/text.h"
#include "framework/dist/endpoint.h"
#include "framework/dist/watch.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {
namespace {

using measure::Judgement;
using Bytes = std::span<const std::byte>;

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

Bytes BytesOf(const Tensor& buffer, dist::Part part) {
  const auto width = static_cast<size_t>(BitsOf(buffer.dtype()) / 8);
  return buffer.bytes().subspan(static_cast<size_t>(part.begin) * width,
                                static_cast<size_t>(part.count) * width);
}

int64_t DifferingBits(Bytes got, Bytes wanted) {
  int64_t bits = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    bits += std::popcount(std::to_integer<uint8_t>(got[i] ^ wanted[i]));
  }
  return bits;
}

std::string ElementText(const Tensor& buffer, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (buffer.dtype()) {
    case DType::kFloat32:
      return StrCat(buffer.elements<float>()[at]);
    case DType::kFloat64:
      return StrCat(buffer.elements<double>()[at]);
    case DType::kInt32:
      return StrCat(buffer.elements<int32_t>()[at]);
    default:
      return StrCat(buffer.elements<int64_t>()[at]);
  }
}

/// Adds what differs to the row. Null where nothing does.
std::optional<Judgement> JudgeBits(const std::vector<Share>& shares,
                                   const std::vector<Wanted>& wanted,
                                   DistributedRow* row) {
  std::optional<Judgement> first;
  int64_t differing = 0;
  std::string digests;
  for (size_t rank = 0; rank < shares.size(); ++rank) {
    const Tensor& got = shares[rank].buffer;
    for (const dist::Part& part : wanted[rank].judged) {
      const Bytes found = BytesOf(got, part);
      digests += StrCat(core::StableHash(found), " ");
      const int64_t bits =
          DifferingBits(found, BytesOf(wanted[rank].buffer, part));
      differing += bits;
      if (bits == 0 || first.has_value()) continue;
      int64_t i = part.begin;
      while (std::ranges::equal(BytesOf(got, {i, 1}),
                                BytesOf(wanted[rank].buffer, {i, 1}))) {
        ++i;
      }
      first =
          Fails(kFailBits, StrCat("rank ", rank, ", element ", i, ": found ",
                                  ElementText(got, i), ", wanted ",
                                  ElementText(wanted[rank].buffer, i)));
    }
  }
  row->differing_bits = differing;
  row->hash = StrCat(core::StableHash(digests));
  return first;
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
  row->bytes_sent = sent.bytes;
  row->bytes_formula = cost.elements * BitsOf(type) / 8;
  row->messages = sent.messages;
  row->messages_formula = cost.messages;
  if (row->bytes_sent == row->bytes_formula &&
      row->messages == row->messages_formula) {
    return std::nullopt;
  }
  return Fails(kFailCost, StrCat("found ", sent.bytes, " bytes in ",
                                 sent.messages, " messages, wanted ",
                                 *row->bytes_formula, " in ", cost.messages));
}

DistributedRow RowOf(const CollectiveCase& test_case,
                     const dist::Collective& what, const RunOf& run) {
  DistributedRow row;
  row.collective =
      StrCat(ToString(what.operation), "/", ToString(what.algorithm));
  row.transport = run.transport;
  row.ranks = what.ranks;
  if (dist::HasRoot(what.operation)) row.root = what.root;
  row.mode = test_case.numbers == Numbers::kDrawn ? "float" : "exact";
  row.seed = run.seed;
  return row;
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
  DistributedRow row = RowOf(test_case, what, run);
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
    fault = JudgeBits(shares, wanted, &row);
    const auto spent = JudgeCost(shares, cost, test_case.type, &row);
    if (!fault.has_value()) fault = spent;
  }
  record->Add(row);
  if (!fault.has_value()) return Passes();
  if (dist::HasRoot(what.operation)) {
    fault->message += StrCat(", at the root ", root);
  }
  return *fault;
}

}  // namespace

Judgement RunCollectiveCase(const CollectiveCase& test_case, const RunOf& run,
                            record::Record* record) {
  Judgement first = Passes();
  const int64_t began = record::SteadyMicroseconds();
  for (const int root : test_case.roots()) {
    const Result<Judgement> judged = RunRoot(test_case, root, run, record);
    if (!judged.ok()) {
      return {suite::OutcomeOf(judged.status()), judged.status().reason(),
              judged.status().message()};
    }
    if (first.outcome == record::Outcome::kPass) first = *judged;
  }
  record->result.run_us = record::SteadyMicroseconds() - began;
  return first;
}

}  // namespace assay::distributed
