// SPDX-License-Identifier: Apache-2.0
//
// oneCCL's collectives on CPUs, between processes whose messages Open MPI carries: oneCCL
// has no message between two ranks in host memory.
// Source: oneAPI specification 1.4, part oneCCL.

#include <memory>
#include <oneapi/ccl.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/mpi_process/processes.h"
#include "backends/mpi_process/world.h"
#include "backends/oneccl/group.h"
#include "framework/backend/communicator.h"
#include "framework/backend/registry.h"
#include "framework/core/text.h"

namespace assay::oneccl {
namespace {

/// A rank's messages are MPI's, its collectives oneCCL's.
class Rank final : public Endpoint {
 public:
  Rank(Endpoint& messages, Group& group) : messages_(messages), group_(group) {}

  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    return messages_.Exchange(to, out, from, in);
  }
  Result<int> ReceiveAny(std::span<std::byte> in) override {
    return messages_.ReceiveAny(in);
  }
  Status Collect(const CollectiveCall& call) override {
    ASSAY_ASSIGN_OR_RETURN(const auto pending, group_.Start(call));
    return pending->Wait();
  }
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override {
    return group_.Start(call);
  }

 private:
  Endpoint& messages_;
  Group& group_;
};

class OneCcl final : public Communicator {
 public:
  std::string_view name() const override { return "oneccl"; }

  /// Makes the groups, so that what they start is there before the first case.
  Result<Probe> Inspect() override {
    ASSAY_ASSIGN_OR_RETURN(mpi_process::World* const world,
                           mpi_process::World::Get());
    ccl::init();
    for (int count = std::ssize(groups_); count <= world->size(); ++count) {
      auto& group = groups_.emplace_back();
      if (count == 0 || world->First(count) == MPI_COMM_NULL) continue;
      ASSAY_ASSIGN_OR_RETURN(group, Group::Of(world->First(count)));
    }
    const ccl::library_version version = ccl::get_library_version();
    return Probe{StrCat(version.major, ".", version.minor, ".", version.update),
                 "cpu"};
  }

 private:
  std::vector<std::string> setting_names() const override {
    return mpi_process::ProcessRanks::setting_names();
  }
  Result<Ranks*> RanksWith(const Settings& settings) override {
    return ranks_.With(settings);
  }

  std::vector<std::unique_ptr<Group>> groups_;  // by the number of ranks
  mpi_process::ProcessRanks ranks_{
      [this](Endpoint& messages, const auto& rank) {
        Rank mine(messages, *groups_[static_cast<size_t>(messages.size())]);
        return rank(mine);
      }};
};

ASSAY_REGISTER_COMMUNICATOR(OneCcl);

}  // namespace
}  // namespace assay::oneccl
