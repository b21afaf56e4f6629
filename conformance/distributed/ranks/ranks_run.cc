// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/ranks_run.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/number.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/ranks/wait/wait_report.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// The first rank that failed by itself; the others are cancelled with it.
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

/// True where some ranks declined and none failed otherwise.
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

/// Precedes a rank's message to the first rank: its result, or the reason why
/// it has none.
struct Header {
  StatusCode code = StatusCode::kOk;
  uint64_t size = 0;
  ranks::RankState state;           // the rank's last call
  uint64_t sent = 0, received = 0;  // checksums, which come first
};

constexpr void EachField(Header& header, const auto& visit) {
  ranks::VisitEach(visit, header.code, header.size);
  EachField(header.state, visit);
  ranks::VisitEach(visit, header.sent, header.received);
}

// Bounds the memory that a broken length takes.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

/// The call and the checksums of each rank, after a run.
struct Traces {
  std::vector<ranks::RankState> states;
  std::vector<ranks::MessageSums> sums;
};

Status Send(const Status& end, const std::string& found,
            const ranks::RankState& state, const ranks::MessageSums& sums,
            Endpoint& mine) {
  const std::string& text = end.ok() ? found : end.message();
  std::string header, brought;
  ranks::AppendFields(Header{end.code(), text.size(), state, sums.sent.size(),
                             sums.received.size()},
                      &header);
  for (const auto& each : sums.sent) ranks::AppendFields(each, &brought);
  for (const auto& each : sums.received) ranks::AppendFields(each, &brought);
  brought += text;
  ASSAY_RETURN_IF_ERROR(
      mine.Exchange(0, std::as_bytes(std::span(header)), kNobody, {}));
  return mine.Exchange(0, std::as_bytes(std::span(brought)), kNobody, {});
}

Result<std::string> Receive(int rank, size_t bytes, Endpoint& mine) {
  std::string text(bytes, '\0');
  ASSAY_RETURN_IF_ERROR(mine.Exchange(kNobody, {}, rank,
                                      std::as_writable_bytes(std::span(text))));
  return text;
}

/// Receives the ends of the other ranks, and puts their results and traces into
/// their places.
Result<std::vector<RankEnd>> ReceiveAll(Endpoint& mine,
                                        std::vector<std::string>* found,
                                        Traces* traces) {
  std::vector<RankEnd> ended;
  for (int rank = 1; rank < mine.size(); ++rank) {
    ASSAY_ASSIGN_OR_RETURN(const std::string front,
                           Receive(rank, ranks::kFieldBytes<Header>, mine));
    std::string_view rest = front;
    Header header;
    constexpr uint64_t kMostSums = ranks::SummedEndpoint::kMost;
    if (!ranks::CutFields(&rest, &header) || header.size > kMostBytes ||
        header.sent > kMostSums || header.received > kMostSums) {
      return DataLoss("rank ", rank, " says that it found ", header.size,
                      " bytes, sent ", header.sent, " messages and received ",
                      header.received, ", wanted at most ", kMostBytes, " and ",
                      kMostSums);
    }
    auto& [sent, received] = traces->sums[static_cast<size_t>(rank)];
    sent.resize(header.sent);
    received.resize(header.received);
    ASSAY_ASSIGN_OR_RETURN(
        const std::string brought,
        Receive(rank,
                header.size + (sent.size() + received.size()) *
                                  ranks::kFieldBytes<ranks::MessageSum>,
                mine));
    rest = brought;
    for (auto& each : sent) ranks::CutFields(&rest, &each);
    for (auto& each : received) ranks::CutFields(&rest, &each);
    std::string text(rest);
    if (ranks::CanBe(header.state)) {
      traces->states[static_cast<size_t>(rank)] = header.state;
    }
    RankEnd& end = ended.emplace_back(RankEnd{rank, OkStatus()});
    if (header.code == StatusCode::kOk) {
      (*found)[static_cast<size_t>(rank)] = std::move(text);
    } else {
      end.status = Status(header.code, Reason::kNone, std::move(text));
    }
  }
  return ended;
}

/// The calls of the ranks of one run, during it and after it.
class RunCalls {
 public:
  RunCalls(int count, bool spans, const std::filesystem::path& scratch)
      : run_(NextRun(spans)),
        table_(TableOf(count, scratch)),
        sums_(static_cast<size_t>(count)) {
    if (spans) return;  // each process has a row of its own
    for (int rank = 0; rank < count; ++rank) table_.Write(rank, {});
  }

  Result<std::string> Note(const RankBody& rank, Endpoint& mine) {
    ranks::SummedEndpoint summed(mine);
    ranks::NotedEndpoint noted(summed, &table_, run_,
                               record::SteadyMicroseconds);
    Result<std::string> found = rank(noted);
    if (found.ok()) noted.End();
    const std::lock_guard lock(mutex_);  // a library may run a rank twice
    sums_[static_cast<size_t>(mine.rank())] = summed.sums();
    return found;
  }
  ranks::RankState Of(int rank) const { return table_.Read(rank); }
  const ranks::MessageSums& SumsOf(int rank) const {
    return sums_[static_cast<size_t>(rank)];
  }
  Traces All() const { return {table_.ReadAll(), sums_}; }

  /// Marks ranks as ended, also those that failed in a call.
  void End(const std::vector<RankEnd>& ended) {
    for (const RankEnd& end : ended) {
      if (end.rank < 0 || end.rank >= table_.ranks()) continue;
      ranks::RankState state = table_.Read(end.rank);
      state.where = ranks::Whereabouts::kEnded;
      table_.Write(end.rank, state);
    }
  }

 private:
  /// Numbers of runs. Processes of one launch count alike; the clock orders
  /// runs of processes that have all ranks.
  static int64_t NextRun(bool spans) {
    static std::atomic<int64_t> runs = 0;
    return spans ? ++runs : record::SteadyMicroseconds();
  }
  /// Without the file the table is in memory: no case fails for that.
  static ranks::CallTable TableOf(int count,
                                  const std::filesystem::path& scratch) {
    if (!scratch.empty()) {
      auto table = ranks::CallTable::InFile(scratch / ranks::kCallsFile, count);
      if (table.ok()) return *std::move(table);
    }
    return ranks::CallTable::InMemory(count);
  }

  const int64_t run_;
  ranks::CallTable table_;
  std::mutex mutex_;
  std::vector<ranks::MessageSums> sums_;
};

std::string WhyOf(const RankEnd& failed) {
  return StrCat("rank ", failed.rank, ": ", failed.status.message());
}

/// Says who waits for whom, where the rank waited in vain.
Judgement FaultOf(const RankEnd& failed,
                  std::span<const ranks::RankState> states) {
  std::string why = WhyOf(failed);
  if (failed.status.code() == StatusCode::kFailedPrecondition &&
      ranks::IsAnyInCall(states)) {
    why += StrCat("; ", ranks::ReportOf(states).text);
  }
  return Fails(kFailRanks, std::move(why));
}

constexpr size_t kGuard = 64;
constexpr std::byte kUntouched{0xA5};

bool IsUntouched(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes,
                             [](std::byte each) { return each == kUntouched; });
}

}  // namespace

Judgement Fails(const char* reason, std::string message) {
  return {record::Outcome::kFail, record::ReasonCode(reason),
          std::move(message)};
}

Judgement Declines(const Status& status) {
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

Judgement WithCorrupt(Judgement judged, const std::string& corrupt) {
  if (corrupt.empty()) return judged;
  if (judged.outcome == record::Outcome::kPass) {
    return Fails(kFailRanks, corrupt);
  }
  judged.message += StrCat("; ", corrupt);
  return judged;
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

Result<RanRanks> RunRanks(Ranks& ranks, int count, const RankBody& rank,
                          const std::filesystem::path& scratch) {
  const bool spans = ranks.spans_processes();
  std::vector<std::atomic<int>> times(static_cast<size_t>(count));
  RunCalls calls(count, spans, scratch);
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
        ASSAY_ASSIGN_OR_RETURN(ran.found[place], calls.Note(rank, mine));
        return OkStatus();
      }));
  ran.us = record::SteadyMicroseconds() - began;
  Traces traces = calls.All();
  if (spans) {
    // In a run of its own: a rank may still wait for a message from anybody.
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<RankEnd> gathered,
        ranks.Run(count, [&](Endpoint& mine) -> Status {
          const auto place = static_cast<size_t>(mine.rank());
          if (place > 0) {
            return Send(ended[0].status, ran.found[place],
                        calls.Of(mine.rank()), calls.SumsOf(mine.rank()), mine);
          }
          ran.judges = true;
          ASSAY_ASSIGN_OR_RETURN(brought,
                                 ReceiveAll(mine, &ran.found, &traces));
          return OkStatus();
        }));
    for (const RankEnd& end : gathered) {
      if (!end.status.ok()) ended[0].status = end.status;
    }
  }
  calls.End(ended);
  ended.insert(ended.end(), brought.begin(), brought.end());
  if (!ran.judges) return ran;
  for (const RankEnd& end : brought) ++times[static_cast<size_t>(end.rank)];
  const RankEnd* const failed = FirstFailed(ended);
  if (failed != nullptr && failed->status.code() == StatusCode::kUnsupported &&
      HaveDeclined(ended)) {
    return Unsupported(Reason::kOperator, WhyOf(*failed));
  }
  ran.fault = failed != nullptr ? FaultOf(*failed, traces.states)
                                : Missing(ended, times);
  ran.corrupt = ranks::CorruptMessage(traces.sums);
  return ran;
}

int64_t DifferingBits(std::span<const std::byte> got,
                      std::span<const std::byte> wanted) {
  if (std::ranges::equal(got, wanted)) return 0;  // as nearly always
  int64_t bits = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    bits += std::popcount(std::to_integer<uint8_t>(got[i] ^ wanted[i]));
  }
  return bits;
}

std::span<const std::byte> PartOf(const Tensor& buffer, ranks::Part part) {
  const auto width = static_cast<size_t>(BitsOf(buffer.dtype()) / 8);
  return buffer.bytes().subspan(static_cast<size_t>(part.begin) * width,
                                static_cast<size_t>(part.count) * width);
}

std::string ElementText(const Tensor& buffer, int64_t i) {
  std::string text;
  ranks::VisitNumber(buffer.dtype(), [&]<class T>(const T&) {
    const T element = buffer.elements<T>()[static_cast<size_t>(i)];
    if constexpr (sizeof(T) == 1) {  // no letter
      text = StrCat(int{element});
    } else {
      text = StrCat(element);
    }
  });
  return text;
}

void HashOfRanks::Add(std::span<const std::byte> bytes) {
  digests_ += StrCat(core::StableHash(bytes), " ");
}

std::string HashOfRanks::text() const {
  return StrCat(core::StableHash(digests_));
}

Guarded::Guarded(size_t bytes) : all_(bytes + 2 * kGuard, kUntouched) {}

std::span<std::byte> Guarded::bytes() {
  return std::span(all_).subspan(kGuard, all_.size() - 2 * kGuard);
}

bool Guarded::is_whole() const {
  const std::span<const std::byte> all = all_;
  return IsUntouched(all.first(kGuard)) && IsUntouched(all.last(kGuard));
}

}  // namespace assay::distributed
