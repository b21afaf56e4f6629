// SPDX-License-Identifier: Apache-2.0
//
// The library whose ranks are threads of one process: dist::RunThreads, as a backend.
// With the setting mutant it is wrong in one way.

#include "framework/dist/threads/threads.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/threads/mutants/mutant.h"
#include "framework/backend/communicator/communicator_backend.h"
#include "framework/backend/registry.h"

namespace assay::threads {
namespace {

constexpr int kMostRanks = 1024;

Result<std::vector<RankEnd>> RunRight(int count, const RankBody& rank) {
  std::vector<RankEnd> ended;
  for (Status& status : dist::RunThreads(count, rank)) {
    ended.push_back({static_cast<int>(ended.size()), std::move(status)});
  }
  return ended;
}

class ThreadRanks final : public Ranks {
 public:
  explicit ThreadRanks(const Mutant* mutant) : mutant_(mutant) {}

  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    if (count < 1 || count > kMostRanks) {
      return Unsupported(Reason::kShape, "found ", count,
                         " ranks, wanted 1 to ", kMostRanks);
    }
    if (mutant_ == nullptr) return RunRight(count, rank);
    const RankBody wrong = [&](Endpoint& mine) {
      MutantEndpoint endpoint(*mutant_, mine);
      return rank(endpoint);
    };
    return mutant_->run == nullptr ? RunRight(count, wrong)
                                   : mutant_->run(RunRight, count, wrong);
  }

 private:
  const Mutant* const mutant_;  // null: right
};

class Threads final : public CommunicatorBackend {
 public:
  std::string_view name() const override { return "threads"; }
  Result<Probe> Inspect() override { return Probe{ASSAY_VERSION, "cpu"}; }

 private:
  std::vector<std::string> setting_names() const override { return {"mutant"}; }

  Result<Ranks*> RanksWith(const Settings& settings) override {
    const Mutant* mutant = nullptr;
    if (const auto named = settings.find("mutant"); named != settings.end()) {
      mutant = FindMutant(named->second);
      if (mutant == nullptr) {
        return InvalidArgument("setting mutant is '", named->second,
                               "', wanted the name of a line of mutants.txt");
      }
    }
    const std::lock_guard lock(mutex_);
    return &ranks_.try_emplace(mutant, mutant).first->second;
  }

  std::mutex mutex_;
  std::map<const Mutant*, ThreadRanks> ranks_;
};

ASSAY_REGISTER_BACKEND(Threads);

}  // namespace
}  // namespace assay::threads
