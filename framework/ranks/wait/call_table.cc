// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/call_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/ranks/collective.h"

namespace assay::ranks {
namespace {

std::string ExchangeText(const RankCall& call) {
  std::vector<std::string> parts;
  if (call.to != kNobody) {
    parts.push_back(StrCat("send ", call.out, " bytes to rank ", call.to));
  }
  if (call.from != kNobody) {
    parts.push_back(
        StrCat("receive ", call.in, " bytes from rank ", call.from));
  }
  return parts.empty() ? "an exchange with nobody" : Joined(parts, " and ");
}

std::string CollectiveText(const RankCall& call) {
  return TextOf(CollectiveCall{.operation = call.operation,
                               .reduction = call.reduction,
                               .type = call.type,
                               .count = call.count,
                               .root = call.root});
}

std::string KindText(const RankCall& call) {
  switch (call.kind) {
    case CallKind::kExchange:
      return ExchangeText(call);
    case CallKind::kReceiveAny:
      return StrCat("receive ", call.in, " bytes from anybody");
    case CallKind::kCollective:
      return CollectiveText(call);
    case CallKind::kWait:
      return StrCat("wait for ", CollectiveText(call));
    case CallKind::kSplit:
    case CallKind::kConnect:
    case CallKind::kNeighbors:
      break;
  }
  return TextOf(call.kind);
}

static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

constexpr size_t kWords = FieldsOf<RankState>();
constexpr int64_t kMostRanks = 1 << 16;
// A rank that is killed while it writes leaves a row that never becomes whole.
constexpr int kTries = 1000;

bool IsRank(int64_t rank, int64_t least) {
  return rank >= least && rank < kMostRanks;
}

class NotedPending final : public Pending {
 public:
  NotedPending(std::unique_ptr<Pending> inner, std::shared_ptr<RankNote> note,
               const RankCall& wait)
      : inner_(std::move(inner)), note_(std::move(note)), wait_(wait) {}

  Status Wait() override {
    return note_->During(wait_, [&] { return inner_->Wait(); });
  }

 private:
  const std::unique_ptr<Pending> inner_;
  const std::shared_ptr<RankNote> note_;
  const RankCall wait_;
};

class NotedNeighbors final : public Neighbors {
 public:
  NotedNeighbors(std::unique_ptr<Neighbors> inner,
                 std::shared_ptr<RankNote> note, uint64_t group)
      : inner_(std::move(inner)), note_(std::move(note)), group_(group) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    RankCall noted{.kind = CallKind::kNeighbors, .group = group_};
    noted.collective = note_->NextCollective(group_);
    return note_->During(noted, [&] { return inner_->Exchange(out, in); });
  }
  Result<std::unique_ptr<Pending>> Start(std::span<const std::byte> out,
                                         std::span<std::byte> in) override {
    RankCall noted{.kind = CallKind::kNeighbors, .group = group_};
    noted.collective = note_->NextCollective(group_);
    std::unique_ptr<Pending> begun;
    ASSAY_RETURN_IF_ERROR(note_->During(noted, [&]() -> Status {
      ASSAY_ASSIGN_OR_RETURN(begun, inner_->Start(out, in));
      return OkStatus();
    }));
    return std::unique_ptr<Pending>(
        std::make_unique<NotedPending>(std::move(begun), note_, noted));
  }

 private:
  const std::unique_ptr<Neighbors> inner_;
  const std::shared_ptr<RankNote> note_;
  const uint64_t group_;
};

}  // namespace

RankCall ExchangeOf(int to, size_t out, int from, size_t in) {
  return {.kind = CallKind::kExchange,
          .to = to,
          .from = from,
          .out = static_cast<int64_t>(out),
          .in = static_cast<int64_t>(in)};
}

RankCall ReceiveAnyOf(size_t in) {
  return {.kind = CallKind::kReceiveAny,
          .from = kAnybody,
          .in = static_cast<int64_t>(in)};
}

RankCall CollectiveOf(CallKind kind, const CollectiveCall& call) {
  return {.kind = kind,
          .operation = call.operation,
          .reduction = call.reduction,
          .type = call.type,
          .root = call.root,
          .count = call.count};
}

std::string TextOf(CallKind kind) {
  if (kind == CallKind::kSplit) return "split";
  return kind == CallKind::kConnect ? "connect with neighbors"
                                    : "exchange with neighbors";
}

std::string TextOf(const CollectiveCall& call) {
  std::string text(ToString(call.operation));
  if (call.operation == Operation::kBarrier) return text;
  text += StrCat(" of ", call.count, " ", ToString(call.type));
  const bool reduces = call.operation == Operation::kReduce ||
                       call.operation == Operation::kAllReduce ||
                       call.operation == Operation::kReduceScatter;
  if (reduces) text += StrCat(" by ", ToString(call.reduction));
  if (HasRoot(call.operation)) text += StrCat(" at the root ", call.root);
  return text;
}

std::string TextOf(const RankCall& call) {
  const std::string text = KindText(call);
  return call.group == kAllRanks ? text
                                 : StrCat(text, " in a part of the ranks");
}

bool CanBe(const RankState& state) {
  const RankCall& call = state.call;
  return state.ranks >= 0 && state.ranks <= kMostRanks &&
         state.where <= Whereabouts::kEnded &&
         call.kind <= CallKind::kNeighbors &&
         call.operation <= Operation::kAllToAll &&
         call.reduction <= Reduction::kCompose &&
         static_cast<int>(call.type) < kDTypeCount &&
         IsRank(call.to, kNobody) && IsRank(call.from, kAnybody);
}

/// `version` is odd while the words are written, as in a seqlock: H. Boehm,
/// "Can seqlocks get along with programming language memory models?", 2012,
/// figure 6, with release and acquire on the words in place of fences.
struct CallTable::Row {
  uint64_t version;
  std::array<uint64_t, kWords> words;
};

CallTable CallTable::InMemory(int ranks) {
  const auto count = static_cast<size_t>(std::max(ranks, 0));
  return {std::shared_ptr<Row>(new Row[count](), std::default_delete<Row[]>()),
          static_cast<int>(count)};
}

Result<CallTable> CallTable::InFile(const std::filesystem::path& file,
                                    int ranks) {
  const size_t size = static_cast<size_t>(std::max(ranks, 1)) * sizeof(Row);
  const file::Descriptor opened(
      open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (opened.get() < 0) {
    return Internal("cannot open ", file.string(), ": ", std::strerror(errno));
  }
  // This does not shorten a file that another process has made longer.
  const int error = posix_fallocate(opened.get(), 0, static_cast<off_t>(size));
  if (error != 0) {
    return Internal("cannot give ", file.string(), " ", size,
                    " bytes: ", std::strerror(error));
  }
  void* const mapped =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0);
  if (mapped == MAP_FAILED) {
    return Internal("cannot map ", file.string(), ": ", std::strerror(errno));
  }
  return CallTable(
      std::shared_ptr<Row>(static_cast<Row*>(mapped),
                           [size](Row* row) { munmap(row, size); }),
      ranks);
}

void CallTable::Write(int rank, const RankState& state) {
  std::array<uint64_t, kWords> words{};
  RankState fields = state;
  size_t at = 0;
  EachField(fields, [&](const auto& field) { words[at++] = WordOf(field); });
  Row& row = rows_.get()[rank];
  std::atomic_ref<uint64_t> version(row.version);
  const uint64_t before = version.load(std::memory_order_relaxed);
  version.store(before | 1U, std::memory_order_relaxed);
  for (size_t i = 0; i < kWords; ++i) {
    std::atomic_ref<uint64_t>(row.words[i])
        .store(words[i], std::memory_order_release);
  }
  version.store((before | 1U) + 1, std::memory_order_release);
}

RankState CallTable::Read(int rank) const {
  Row& row = rows_.get()[rank];
  Row copy{};
  const std::atomic_ref<uint64_t> version(row.version);
  for (int tries = 0; tries < kTries; ++tries) {
    const uint64_t before = version.load(std::memory_order_acquire);
    for (size_t i = 0; i < kWords; ++i) {
      copy.words[i] = std::atomic_ref<uint64_t>(row.words[i])
                          .load(std::memory_order_acquire);
    }
    if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) {
      return StateOf(copy);
    }
    std::this_thread::yield();
  }
  return {};
}

RankState CallTable::StateOf(const Row& row) {
  RankState state;
  bool fits = true;
  size_t at = 0;
  EachField(state, [&](auto& field) {
    fits = FromWord(row.words[at++], &field) && fits;
  });
  return fits && CanBe(state) ? state : RankState();
}

std::vector<RankState> CallTable::ReadAll() const {
  std::vector<RankState> states;
  for (int rank = 0; rank < ranks_; ++rank) states.push_back(Read(rank));
  return states;
}

std::vector<RankState> ReadCalls(const std::filesystem::path& file) {
  const file::Descriptor opened(
      open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info = {};
  if (opened.get() < 0 || fstat(opened.get(), &info) != 0 ||
      !S_ISREG(info.st_mode)) {
    return {};
  }
  std::vector<RankState> states;
  CallTable::Row row{};
  while (std::ssize(states) < kMostRanks &&
         read(opened.get(), &row, sizeof row) == ssize_t{sizeof row}) {
    states.push_back(CallTable::StateOf(row));
  }
  return states;
}

std::vector<RankState> StatesOfLastRun(std::span<const RankState> all) {
  const auto last = std::ranges::max_element(all, {}, &RankState::run);
  if (last == all.end() || last->run <= 0) return {};
  const auto ranks = static_cast<size_t>(last->ranks);
  const auto own = all.first(std::min(ranks, all.size()));
  return {own.begin(), own.end()};
}

RankNote::RankNote(CallTable* table, int rank, int64_t run,
                   MicrosecondClock clock)
    : table_(*table),
      rank_(rank),
      clock_(clock ? std::move(clock) : [] { return int64_t{0}; }) {
  state_.run = run;
  state_.ranks = table_.ranks();
  state_.where = Whereabouts::kBetweenCalls;
  Join(kAllRanks, rank);
}

Status RankNote::During(const RankCall& call,
                        const std::function<Status()>& make) {
  state_.where = Whereabouts::kInCall;
  state_.number += 1;
  state_.since_us = clock_();
  state_.call = call;
  table_.Write(rank_, state_);
  const Status status = make();
  if (status.ok()) state_.where = Whereabouts::kBetweenCalls;
  table_.Write(rank_, state_);
  return status;
}

int64_t RankNote::NextCollective(uint64_t group) {
  const auto place =
      std::ranges::find(state_.groups, group, &GroupPlace::group);
  return place == state_.groups.end() ? 0 : ++place->collectives;
}

void RankNote::Join(uint64_t group, int rank) {
  // The first entry stays that of all ranks.
  const size_t others = state_.groups.size() - 1;
  const size_t at = joined_ == 0 ? 0 : 1 + (joined_ - 1) % others;
  ++joined_;
  state_.groups[at] = {group, rank, 0};
  table_.Write(rank_, state_);
}

void RankNote::End() {
  state_.where = Whereabouts::kEnded;
  table_.Write(rank_, state_);
}

Status NotedEndpoint::Note(RankCall call,
                           const std::function<Status()>& make) const {
  call.group = group_;
  return note_->During(call, make);
}

Status NotedEndpoint::Exchange(int to, std::span<const std::byte> out, int from,
                               std::span<std::byte> in) {
  return Note(ExchangeOf(to, out.size(), from, in.size()),
              [&] { return inner_.Exchange(to, out, from, in); });
}

Result<int> NotedEndpoint::ReceiveAny(std::span<std::byte> in) {
  int sender = kNobody;
  ASSAY_RETURN_IF_ERROR(Note(ReceiveAnyOf(in.size()), [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(sender, inner_.ReceiveAny(in));
    return OkStatus();
  }));
  return sender;
}

Status NotedEndpoint::Collect(const CollectiveCall& call) {
  RankCall noted = CollectiveOf(CallKind::kCollective, call);
  noted.collective = note_->NextCollective(group_);
  return Note(noted, [&] { return inner_.Collect(call); });
}

Result<std::unique_ptr<Pending>> NotedEndpoint::Start(
    const CollectiveCall& call) {
  RankCall noted = CollectiveOf(CallKind::kCollective, call);
  noted.group = group_;
  noted.collective = note_->NextCollective(group_);
  std::unique_ptr<Pending> begun;
  ASSAY_RETURN_IF_ERROR(Note(noted, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(begun, inner_.Start(call));
    return OkStatus();
  }));
  noted.kind = CallKind::kWait;
  return std::unique_ptr<Pending>(
      std::make_unique<NotedPending>(std::move(begun), note_, noted));
}

Result<std::unique_ptr<Endpoint>> NotedEndpoint::Split(int color, int key) {
  RankCall noted{.kind = CallKind::kSplit};
  noted.collective = note_->NextCollective(group_);
  std::unique_ptr<Endpoint> part;
  ASSAY_RETURN_IF_ERROR(Note(noted, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(part, inner_.Split(color, key));
    return OkStatus();
  }));
  if (part == nullptr) return part;
  // Ranks of one part compute the same number, and those of no other part.
  const uint64_t group =
      core::KeyOf(core::KeyOf(group_, noted.collective), color);
  note_->Join(group, part->rank());
  Endpoint& inner = *part;
  return std::unique_ptr<Endpoint>(
      new NotedEndpoint(inner, std::move(part), note_, group));
}

Result<std::unique_ptr<Neighbors>> NotedEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  RankCall noted{.kind = CallKind::kConnect};
  noted.collective = note_->NextCollective(group_);
  std::unique_ptr<Neighbors> neighbors;
  ASSAY_RETURN_IF_ERROR(Note(noted, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(neighbors, inner_.Connect(to, from));
    return OkStatus();
  }));
  return std::unique_ptr<Neighbors>(
      std::make_unique<NotedNeighbors>(std::move(neighbors), note_, group_));
}

}  // namespace assay::ranks
