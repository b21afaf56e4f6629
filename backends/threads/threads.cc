// SPDX-License-Identifier: Apache-2.0
//
// The library whose ranks are threads of one process: ranks::RunThreads. With
// the setting mutant it is wrong in one way; with the setting schedule its
// ranks take turns in an order that is drawn from that number.

#include "framework/ranks/threads/threads.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/threads/mutants/mutant.h"
#include "framework/backend/communicator.h"
#include "framework/backend/registry.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/threads/world.h"

namespace assay::threads {
namespace {

constexpr int kMostRanks = 1024;

/// Null for a name that no table has.
const Mutant* FindMutant(std::string_view name) {
  for (const std::span<const Mutant> table : MutantTables()) {
    const auto found = std::ranges::find(table, name, &Mutant::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

/// A rank with the mutant's defect. `right` must outlive this.
class MutantEndpoint final : public ranks::ForwardingEndpoint {
 public:
  MutantEndpoint(const Mutant& mutant, Endpoint& right)
      : ForwardingEndpoint(right), mutant_(mutant), rank_{right, 0, {}} {}

  int rank() const override {
    return mutant_.number == nullptr ? rank_.number() : mutant_.number(rank_);
  }
  int size() const override {
    return mutant_.size == nullptr ? rank_.size() : mutant_.size(rank_);
  }
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    ++rank_.exchanges;
    const Exchanged what{to, out, from, in};
    return mutant_.exchange == nullptr ? what.By(inner_)
                                       : mutant_.exchange(rank_, what);
  }
  Result<int> ReceiveAny(std::span<std::byte> in) override {
    return mutant_.receive_any == nullptr ? inner_.ReceiveAny(in)
                                          : mutant_.receive_any(rank_, in);
  }
  Status Collect(const CollectiveCall& call) override {
    return mutant_.collect == nullptr ? inner_.Collect(call)
                                      : mutant_.collect(rank_, call);
  }
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override {
    return mutant_.start == nullptr ? inner_.Start(call)
                                    : mutant_.start(rank_, call);
  }
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override {
    return mutant_.split == nullptr ? inner_.Split(color, key)
                                    : mutant_.split(rank_, color, key);
  }
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override {
    return mutant_.connect == nullptr ? inner_.Connect(to, from)
                                      : mutant_.connect(rank_, to, from);
  }

 private:
  const Mutant& mutant_;
  Rank rank_;
};

/// The settings of an instance.
struct Asked {
  const Mutant* mutant = nullptr;    // null: right
  std::optional<uint64_t> schedule;  // null: as the machine lets ranks run

  friend auto operator<=>(const Asked&, const Asked&) = default;
};

class ThreadRanks final : public Ranks {
 public:
  explicit ThreadRanks(const Asked& asked) : asked_(asked) {}

  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    if (count < 1 || count > kMostRanks) {
      return Unsupported(Reason::kShape, "found ", count,
                         " ranks, wanted 1 to ", kMostRanks);
    }
    const Mutant* const mutant = asked_.mutant;
    if (mutant == nullptr) return RunRight(count, rank);
    const RankBody wrong = [&](Endpoint& mine) {
      MutantEndpoint endpoint(*mutant, mine);
      return rank(endpoint);
    };
    if (mutant->run == nullptr) return RunRight(count, wrong);
    const RunBody right = [this](int ranks, const RankBody& body) {
      return RunRight(ranks, body);
    };
    return mutant->run(right, count, wrong);
  }

 private:
  /// Each run draws anew, so that it does not depend on those before it.
  Result<std::vector<RankEnd>> RunRight(int count, const RankBody& rank) const {
    std::optional<ranks::DrawnChoices> drawn;
    if (asked_.schedule.has_value()) drawn.emplace(*asked_.schedule);
    std::vector<RankEnd> ended;
    for (Status& status : ranks::RunThreads(
             count, rank, drawn.has_value() ? &*drawn : nullptr)) {
      ended.push_back({static_cast<int>(ended.size()), std::move(status)});
    }
    return ended;
  }

  const Asked asked_;
};

std::optional<uint64_t> SeedOf(std::string_view text) {
  uint64_t seed = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return seed;
}

class Threads final : public Communicator {
 public:
  std::string_view name() const override { return "threads"; }
  Result<Probe> Inspect() override { return Probe{ASSAY_VERSION, "cpu"}; }

 private:
  std::vector<std::string> setting_names() const override {
    return {"mutant", "schedule"};
  }

  Result<Ranks*> RanksWith(const Settings& settings) override {
    Asked asked;
    if (const auto named = settings.find("mutant"); named != settings.end()) {
      asked.mutant = FindMutant(named->second);
      if (asked.mutant == nullptr) {
        return InvalidArgument("setting mutant is '", named->second,
                               "', wanted the name of a line of mutants.txt");
      }
    }
    if (const auto set = settings.find("schedule"); set != settings.end()) {
      asked.schedule = SeedOf(set->second);
      if (!asked.schedule.has_value()) {
        return InvalidArgument("setting schedule is '", set->second,
                               "', wanted a whole number from 0 to 2^64 - 1");
      }
    }
    const std::lock_guard lock(mutex_);
    return &ranks_.try_emplace(asked, asked).first->second;
  }

  std::mutex mutex_;
  std::map<Asked, ThreadRanks> ranks_;
};

ASSAY_REGISTER_COMMUNICATOR(Threads);

}  // namespace
}  // namespace assay::threads
