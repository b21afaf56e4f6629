// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/ranks_run.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// The rank that failed first: the others are cancelled with it.
const RankEnd* FirstFailed(const std::vector<RankEnd>& ended) {
  const RankEnd* first = nullptr;
  for (const RankEnd& end : ended) {
    if (end.status.ok()) continue;
    if (first == nullptr || (first->status.code() == StatusCode::kCancelled &&
                             end.status.code() != StatusCode::kCancelled)) {
      first = &end;
    }
  }
  return first;
}

/// True where ranks decline, and none fails otherwise.
bool HaveDeclined(const std::vector<RankEnd>& ended) {
  return std::ranges::all_of(ended, [](const RankEnd& end) {
    return end.status.ok() || end.status.code() == StatusCode::kUnsupported ||
           end.status.code() == StatusCode::kCancelled;
  });
}

/// Null where each rank was run once, and ended.
std::optional<Judgement> Missing(const std::vector<RankEnd>& ended,
                                 const std::vector<std::atomic<int>>& times) {
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 1) continue;
    return Fails(kFailRanks, StrCat("found ", times[i].load(),
                                    " ranks of number ", i, ", wanted one"));
  }
  if (ended.size() == times.size()) return std::nullopt;
  return Fails(kFailRanks, StrCat("found ", ended.size(),
                                  " ranks that ended, wanted ", times.size()));
}

/// What goes to the first rank in front of what was found, or of why nothing was.
struct Header {
  StatusCode code = StatusCode::kOk;
  uint64_t size = 0;
};

// So that a broken length takes no memory.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

Status Send(const Status& end, const std::string& found, Endpoint& mine) {
  const std::string& text = end.ok() ? found : end.message();
  const Header header{end.code(), text.size()};
  ASSAY_RETURN_IF_ERROR(
      mine.Exchange(0, std::as_bytes(std::span(&header, 1)), kNobody, {}));
  return mine.Exchange(0, std::as_bytes(std::span(text)), kNobody, {});
}

/// How the other ranks ended. What they found goes to its place.
Result<std::vector<RankEnd>> ReceiveAll(Endpoint& mine,
                                        std::vector<std::string>* found) {
  std::vector<RankEnd> ended;
  for (int rank = 1; rank < mine.size(); ++rank) {
    Header header;
    ASSAY_RETURN_IF_ERROR(mine.Exchange(
        kNobody, {}, rank, std::as_writable_bytes(std::span(&header, 1))));
    if (header.size > kMostBytes) {
      return DataLoss("rank ", rank, " says that it found ", header.size,
                      " bytes, wanted at most ", kMostBytes);
    }
    std::string text(header.size, '\0');
    ASSAY_RETURN_IF_ERROR(mine.Exchange(
        kNobody, {}, rank, std::as_writable_bytes(std::span(text))));
    RankEnd& end = ended.emplace_back(RankEnd{rank, OkStatus()});
    if (header.code == StatusCode::kOk) {
      (*found)[static_cast<size_t>(rank)] = std::move(text);
    } else {
      end.status = Status(header.code, Reason::kNone, std::move(text));
    }
  }
  return ended;
}

}  // namespace

Judgement Fails(const char* reason, std::string message) {
  return {record::Outcome::kFail, record::ReasonCode(reason),
          std::move(message)};
}

Judgement Declines(const Status& status) {
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

Judgement RunRoots(std::span<const int> roots, record::Record* record,
                   const std::function<Result<Judgement>(int root)>& run) {
  Judgement first = Passes();
  const int64_t began = record::SteadyMicroseconds();
  for (const int root : roots) {
    const Result<Judgement> judged = run(root);
    if (first.outcome != record::Outcome::kPass) continue;
    first = judged.ok() ? *judged : Declines(judged.status());
  }
  record->result.run_us = record::SteadyMicroseconds() - began;
  return first;
}

Result<RanRanks> RunRanks(Ranks& ranks, int count, const RankBody& rank) {
  const bool spans = ranks.spans_processes();
  std::vector<std::atomic<int>> times(static_cast<size_t>(count));
  RanRanks ran;
  ran.found.resize(static_cast<size_t>(count));
  ran.judges = !spans;
  std::vector<RankEnd> brought;  // from other processes
  const int64_t began = record::SteadyMicroseconds();
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<RankEnd> ended,
      ranks.Run(count, [&](Endpoint& mine) -> Status {
        if (mine.rank() < 0 || mine.rank() >= count || mine.size() != count) {
          return Internal("found rank ", mine.rank(), " of ", mine.size(),
                          ", wanted one of ", count);
        }
        const auto place = static_cast<size_t>(mine.rank());
        ++times[place];
        Result<std::string> found = rank(mine);
        if (!found.ok()) return found.status();
        ran.found[place] = *std::move(found);
        return OkStatus();
      }));
  ran.us = record::SteadyMicroseconds() - began;
  if (spans) {
    // In a run of its own: a rank may still wait for a message from anybody.
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<RankEnd> gathered,
        ranks.Run(count, [&](Endpoint& mine) -> Status {
          const auto place = static_cast<size_t>(mine.rank());
          if (place > 0) return Send(ended[0].status, ran.found[place], mine);
          ran.judges = true;
          ASSAY_ASSIGN_OR_RETURN(brought, ReceiveAll(mine, &ran.found));
          return OkStatus();
        }));
    ended.insert(ended.end(), brought.begin(), brought.end());
    for (const RankEnd& end : gathered) {
      if (!end.status.ok()) ended[0].status = end.status;
    }
  }
  if (!ran.judges) return ran;
  for (const RankEnd& end : brought) ++times[static_cast<size_t>(end.rank)];
  if (const RankEnd* const failed = FirstFailed(ended)) {
    const std::string why =
        StrCat("rank ", failed->rank, ": ", failed->status.message());
    if (failed->status.code() == StatusCode::kUnsupported &&
        HaveDeclined(ended)) {
      return Unsupported(Reason::kOperator, why);
    }
    ran.fault = Fails(kFailRanks, why);
  } else {
    ran.fault = Missing(ended, times);
  }
  return ran;
}

}  // namespace assay::distributed
