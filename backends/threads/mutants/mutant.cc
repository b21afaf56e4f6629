// SPDX-License-Identifier: Apache-2.0

#include "backends/threads/mutants/mutant.h"

#include <algorithm>

namespace assay::threads {

const Mutant* FindMutant(std::string_view name) {
  for (const auto table :
       {MessageMutants(), ReductionMutants(), CollectiveMutants(),
        NeighborMutants(), LaunchMutants()}) {
    const auto found = std::ranges::find(table, name, &Mutant::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

int MutantEndpoint::rank() const {
  return mutant_.number == nullptr ? rank_.number() : mutant_.number(rank_);
}

int MutantEndpoint::size() const {
  return mutant_.size == nullptr ? rank_.size() : mutant_.size(rank_);
}

Status MutantEndpoint::Exchange(int to, std::span<const std::byte> out,
                                int from, std::span<std::byte> in) {
  ++rank_.exchanges;
  const Exchanged what{to, out, from, in};
  return mutant_.exchange == nullptr ? what.By(rank_.right)
                                     : mutant_.exchange(rank_, what);
}

Result<int> MutantEndpoint::ReceiveAny(std::span<std::byte> in) {
  return mutant_.receive_any == nullptr ? rank_.right.ReceiveAny(in)
                                        : mutant_.receive_any(rank_, in);
}

Status MutantEndpoint::Collect(const CollectiveCall& call) {
  return mutant_.collect == nullptr ? rank_.right.Collect(call)
                                    : mutant_.collect(rank_, call);
}

Result<std::unique_ptr<Pending>> MutantEndpoint::Start(
    const CollectiveCall& call) {
  return mutant_.start == nullptr ? rank_.right.Start(call)
                                  : mutant_.start(rank_, call);
}

Result<std::unique_ptr<Endpoint>> MutantEndpoint::Split(int color, int key) {
  return mutant_.split == nullptr ? rank_.right.Split(color, key)
                                  : mutant_.split(rank_, color, key);
}

Result<std::unique_ptr<Neighbors>> MutantEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  return mutant_.connect == nullptr ? rank_.right.Connect(to, from)
                                    : mutant_.connect(rank_, to, from);
}

}  // namespace assay::threads
