// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/wait_report.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "framework/core/text.h"
#include "framework/ranks/wait/call_table.h"

namespace assay::ranks {
namespace {

constexpr size_t kMostNamed = 16;

/// The ranks that a rank waits for: for all of them, or for any.
struct Awaited {
  std::vector<int> ranks;
  bool is_any = false;
};

class WaitGraph {
 public:
  explicit WaitGraph(std::span<const RankState> states);

  /// A chain of ranks, each of which waits for the next.
  std::vector<int> Chain(bool* is_cycle) const {
    std::vector<int> chain;
    *is_cycle = false;
    for (int at = First(); at != kNobody; at = Next(at)) {
      const auto before = std::ranges::find(chain, at);
      if (before != chain.end()) {
        *is_cycle = true;
        chain.erase(chain.begin(), before);
        return chain;
      }
      chain.push_back(at);
    }
    if (chain.size() == 1) chain.clear();
    return chain;
  }

 private:
  const RankState& At(int rank) const {
    return states_[static_cast<size_t>(rank)];
  }
  bool Has(int rank) const { return rank >= 0 && rank < std::ssize(states_); }
  const Awaited& Of(int rank) const {
    return awaited_[static_cast<size_t>(rank)];
  }
  int Turn(int rank) const { return turns_[static_cast<size_t>(rank)]; }
  bool IsAble(int rank) const { return Turn(rank) > 0; }
  bool IsInCall(int rank) const {
    return At(rank).where == Whereabouts::kInCall;
  }

  /// Null where the rank is not in the group.
  const GroupPlace* PlaceOf(int rank, uint64_t group) const {
    const auto& places = At(rank).groups;
    const auto found =
        std::ranges::find_if(places, [&](const GroupPlace& each) {
          return each.rank != kNobody && each.group == group;
        });
    return found == places.end() ? nullptr : &*found;
  }

  /// The rank among all of the group's rank `member`; kNobody where it is not
  /// known.
  int RankOf(int member, uint64_t group) const {
    if (group == kAllRanks) return Has(member) ? member : kNobody;
    for (int rank = 0; Has(rank); ++rank) {
      const GroupPlace* const place = PlaceOf(rank, group);
      if (place != nullptr && place->rank == member) return rank;
    }
    return kNobody;
  }

  Awaited AwaitedBy(int rank) const {
    Awaited awaited;
    if (!IsInCall(rank)) return awaited;
    const RankCall& call = At(rank).call;
    if (call.kind == CallKind::kExchange) {
      const int member = call.from != kNobody ? call.from : call.to;
      const int other = RankOf(member, call.group);
      if (other != kNobody) awaited.ranks.push_back(other);
      return awaited;
    }
    awaited.is_any = call.kind == CallKind::kReceiveAny;
    for (int other = 0; Has(other); ++other) {
      const GroupPlace* const place = PlaceOf(other, call.group);
      const bool is_member = place != nullptr || call.group == kAllRanks;
      const int64_t come = place == nullptr ? 0 : place->collectives;
      if (other == rank || !is_member) continue;
      if (awaited.is_any || come < call.collective)
        awaited.ranks.push_back(other);
    }
    return awaited;
  }

  /// True where the ranks that it waits for can go on as far as they must.
  bool MayGoOn(int rank) const {
    if (!IsInCall(rank)) return At(rank).where != Whereabouts::kEnded;
    const Awaited& awaited = Of(rank);
    const auto is_able = [&](int other) { return IsAble(other); };
    return awaited.is_any ? std::ranges::any_of(awaited.ranks, is_able)
                          : std::ranges::all_of(awaited.ranks, is_able);
  }

  void FindTurns() {
    turns_.assign(states_.size(), 0);
    int turn = 0;
    for (int before = -1; before < turn;) {
      before = turn;
      for (int rank = 0; Has(rank); ++rank) {
        if (IsAble(rank) || !MayGoOn(rank)) continue;
        turns_[static_cast<size_t>(rank)] = ++turn;
      }
    }
  }

  /// The first rank that can never go on, or else the first that waits for
  /// another.
  int First() const {
    int waits = kNobody;
    for (int rank = 0; Has(rank); ++rank) {
      if (!IsInCall(rank)) continue;
      if (!IsAble(rank)) return rank;
      if (waits == kNobody && !Of(rank).ranks.empty()) waits = rank;
    }
    return waits;
  }

  /// Chooses one of the ranks that `rank` waits for: one that has ended, one
  /// that can never go on either, or one that is in no call. kNobody where it
  /// waits for none.
  int Next(int rank) const {
    const std::vector<int>& others = Of(rank).ranks;
    const auto find = [&](auto is_it) {
      const auto found = std::ranges::find_if(others, is_it);
      return found == others.end() ? kNobody : *found;
    };
    if (!IsAble(rank)) {
      const int ended = find(
          [&](int other) { return At(other).where == Whereabouts::kEnded; });
      return ended != kNobody ? ended
                              : find([&](int other) { return !IsAble(other); });
    }
    const int free =
        find([&](int other) { return !IsInCall(other) && IsAble(other); });
    if (free != kNobody || others.empty()) return free;
    const auto turn = [&](int other) {
      return IsAble(other) ? Turn(other) : std::numeric_limits<int>::max();
    };
    return *std::ranges::min_element(others, {}, turn);
  }

  std::span<const RankState> states_;
  std::vector<Awaited> awaited_;
  // The turn in which a rank can go on, as far as the rows show: the ranks that
  // it needs have earlier turns. 0: never.
  std::vector<int> turns_;
};

WaitGraph::WaitGraph(std::span<const RankState> states) : states_(states) {
  for (int rank = 0; Has(rank); ++rank) awaited_.push_back(AwaitedBy(rank));
  FindTurns();
}

/// Says what a rank does outside of a call, or in one that waits for nobody.
std::string_view DoesText(const RankState& state) {
  constexpr std::string_view kDoes[] = {"has not begun", "is in no call",
                                        "waits for no rank", "has ended"};
  return kDoes[static_cast<size_t>(state.where)];
}

std::string CallText(int rank, const RankState& state,
                     std::optional<int64_t> now_us) {
  if (state.where == Whereabouts::kBetweenCalls) {
    return StrCat("rank ", rank, " in no call behind its call ", state.number);
  }
  if (state.where != Whereabouts::kInCall) {
    return StrCat("rank ", rank, " ", DoesText(state));
  }
  std::string text = StrCat("rank ", rank, " in ", TextOf(state.call),
                            " (call ", state.number);
  if (now_us.has_value()) {
    text += StrCat(", for ", (*now_us - state.since_us) / 1'000'000, " s");
  }
  return text + ")";
}

/// "rank 0 in barrier (call 3, for 12 s); rank 1 has ended".
std::string CallsText(std::span<const RankState> ranks,
                      std::optional<int64_t> now_us) {
  std::vector<std::string> texts;
  for (const RankState& state :
       ranks.first(std::min(ranks.size(), kMostNamed))) {
    texts.push_back(CallText(static_cast<int>(texts.size()), state, now_us));
  }
  if (ranks.size() > kMostNamed) {
    texts.push_back(StrCat("and ", ranks.size() - kMostNamed, " more"));
  }
  return Joined(texts, "; ");
}

std::string ChainText(const WaitReport& report,
                      std::span<const RankState> ranks) {
  const std::vector<int>& chain = report.chain;
  if (chain.empty()) return "";
  const size_t named = std::min(chain.size(), kMostNamed);
  std::string text = StrCat("rank ", chain[0]);
  for (size_t i = 1; i < named; ++i) {
    text += StrCat(i == 1 ? " waits for rank " : ", which waits for rank ",
                   chain[i]);
  }
  if (named < chain.size()) {
    text += StrCat(", and so on over ", chain.size() - named, " more");
  }
  if (!report.is_cycle) {
    return StrCat(text, ", which ",
                  DoesText(ranks[static_cast<size_t>(chain.back())]));
  }
  return text + (chain.size() == 1
                     ? " waits for itself"
                     : StrCat(", which waits for rank ", chain[0]));
}

}  // namespace

bool IsAnyInCall(std::span<const RankState> ranks) {
  return std::ranges::count(ranks, Whereabouts::kInCall, &RankState::where) > 0;
}

WaitReport ReportOf(std::span<const RankState> ranks,
                    std::optional<int64_t> now_us) {
  WaitReport report;
  report.chain = WaitGraph(ranks).Chain(&report.is_cycle);
  report.text = CallsText(ranks, now_us);
  const std::string chain = ChainText(report, ranks);
  if (!chain.empty()) report.text += StrCat("; ", chain);
  return report;
}

std::string ReportIn(const std::filesystem::path& folder, int64_t now_us) {
  const std::vector<RankState> all = ReadCalls(folder / kCallsFile);
  if (all.empty()) return "";
  const std::vector<RankState> last = StatesOfLastRun(all);
  if (last.empty()) return "no rank has begun";
  if (std::ranges::count(last, Whereabouts::kEnded, &RankState::where) ==
      std::ssize(last)) {
    return "no rank is in a call; the last run has ended";
  }
  return ReportOf(last, now_us).text;
}

}  // namespace assay::ranks
