// SPDX-License-Identifier: Apache-2.0
//
// The library whose ranks are threads of one process: dist::RunThreads, as a backend.

#include "framework/dist/threads/threads.h"

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"

namespace assay::threads {
namespace {

constexpr int kMostRanks = 1024;

class ThreadRanks final : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    if (count < 1 || count > kMostRanks) {
      return Unsupported(Reason::kShape, "found ", count,
                         " ranks, wanted 1 to ", kMostRanks);
    }
    std::vector<RankEnd> ended;
    for (Status& status : dist::RunThreads(count, rank)) {
      ended.push_back({static_cast<int>(ended.size()), std::move(status)});
    }
    return ended;
  }
};

class Threads final : public Backend {
 public:
  std::string_view name() const override { return "threads"; }
  Result<Probe> Inspect() override { return Probe{ASSAY_VERSION, "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions&) override {
    return Unsupported(Reason::kOperator,
                       "threads carries messages between ranks and runs no "
                       "model");
  }
  Ranks* ranks() override { return &ranks_; }

 private:
  ThreadRanks ranks_;
};

ASSAY_REGISTER_BACKEND(Threads);

}  // namespace
}  // namespace assay::threads
