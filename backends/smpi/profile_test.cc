// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_rank/profile.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/smpi/machine.h"
#include "backends/smpi/smpi_ranks.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/own.h"
#include "framework/ranks/watch.h"

namespace assay::smpi {
namespace {

using mpi_rank::CountedOfThisRank;

constexpr int kCount = 3;
constexpr int64_t kBytes = 12;
constexpr int kTag = 4;
using Memory = std::array<int32_t, kCount>;

Counted Since(const Counted& before) {
  const Counted now = CountedOfThisRank();
  return {.sent = {now.sent.bytes - before.sent.bytes,
                   now.sent.messages - before.sent.messages},
          .collectives = now.collectives - before.collectives,
          .collective_bytes = now.collective_bytes - before.collective_bytes};
}

void ExpectAllEnd(int count, const std::function<Status(Endpoint&)>& rank) {
  const std::vector<RankEnd> ended = SmpiRanks().Run(count, rank).value();
  for (const RankEnd& end : ended) {
    EXPECT_TRUE(end.status.ok()) << end.status.message();
  }
}

template <auto call>
void Waits(Memory& out, int to) {
  call(out.data(), kCount, MPI_INT32_T, to, kTag, MPI_COMM_WORLD);
}
template <auto call>
void GoesOn(Memory& out, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  call(out.data(), kCount, MPI_INT32_T, to, kTag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
template <auto call>
void IsStarted(Memory& out, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  call(out.data(), kCount, MPI_INT32_T, to, kTag, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
void IsStartedWithAll(Memory& out, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Send_init(out.data(), kCount, MPI_INT32_T, to, kTag, MPI_COMM_WORLD,
                &request);
  MPI_Startall(1, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
void SendsAndReceives(Memory& out, int to) {
  Memory in{};
  MPI_Sendrecv(out.data(), kCount, MPI_INT32_T, to, kTag, in.data(), kCount,
               MPI_INT32_T, MPI_PROC_NULL, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
void SendsInPlace(Memory& out, int to) {
  MPI_Sendrecv_replace(out.data(), kCount, MPI_INT32_T, to, kTag, MPI_PROC_NULL,
                       kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

constexpr struct {
  const char* name;
  void (*send)(Memory& out, int to);
} kSends[] = {
    {"Send", Waits<MPI_Send>},
    {"Ssend", Waits<MPI_Ssend>},
    {"Rsend", Waits<MPI_Rsend>},
    {"Bsend", Waits<MPI_Bsend>},
    {"Isend", GoesOn<MPI_Isend>},
    {"Issend", GoesOn<MPI_Issend>},
    {"Irsend", GoesOn<MPI_Irsend>},
    {"Ibsend", GoesOn<MPI_Ibsend>},
    {"Send_init", IsStarted<MPI_Send_init>},
    {"Ssend_init", IsStarted<MPI_Ssend_init>},
    {"Rsend_init", IsStarted<MPI_Rsend_init>},
    {"Bsend_init", IsStarted<MPI_Bsend_init>},
    {"Startall", IsStartedWithAll},
    {"Sendrecv", SendsAndReceives},
    {"Sendrecv_replace", SendsInPlace},
};

// Kills: a call that is not counted, is counted twice, or on another rank.
TEST(ProfileTest, EveryCallThatSendsIsAMessageOfItsRank) {
  for (const auto& each : kSends) {
    Machine::Get().Run(2, [&](int rank) {
      const Counted before = CountedOfThisRank();
      Memory memory{};
      if (rank == 1) {
        MPI_Recv(memory.data(), kCount, MPI_INT32_T, 0, kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        EXPECT_EQ(Since(before), Counted()) << each.name;
        return;
      }
      std::array<std::byte, 4096> room{};
      MPI_Buffer_attach(room.data(), room.size());
      each.send(memory, 1);
      EXPECT_EQ(Since(before), (Counted{.sent = {kBytes, 1}})) << each.name;
      void* no_room = nullptr;
      int size = 0;
      MPI_Buffer_detach(static_cast<void*>(&no_room), &size);
    });
  }
}

TEST(ProfileTest, AMessageToOneselfOrToNobodyIsNone) {
  Machine::Get().Run(1, [](int) {
    const Counted before = CountedOfThisRank();
    Memory out{}, in{};
    MPI_Sendrecv(out.data(), kCount, MPI_INT32_T, 0, kTag, in.data(), kCount,
                 MPI_INT32_T, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Waits<MPI_Send>(out, MPI_PROC_NULL);
    EXPECT_EQ(Since(before), Counted());
  });
}

constexpr Operation kOperations[] = {
    Operation::kBarrier,       Operation::kBroadcast, Operation::kReduce,
    Operation::kAllReduce,     Operation::kGather,    Operation::kScatter,
    Operation::kReduceScatter, Operation::kAllGather, Operation::kAllToAll};

TEST(ProfileTest, ACollectiveIsACallWithItsBytes) {
  for (const Operation operation : kOperations) {
    const ranks::Collective what{operation, ranks::Algorithm::kLinear, 2,
                                 operation == Operation::kBarrier ? 0 : kCount,
                                 0};
    const auto collect = [&](Endpoint& mine) -> Status {
      ASSAY_ASSIGN_OR_RETURN(
          Tensor buffer,
          Tensor::Allocate(DType::kInt32, {ranks::ElementsOf(what)}));
      ASSAY_ASSIGN_OR_RETURN(const Counted before, mine.counted());
      ASSAY_RETURN_IF_ERROR(
          ranks::RunOwn(what, Reduction::kSum, mine, &buffer));
      ASSAY_ASSIGN_OR_RETURN(
          const CollectiveCall call,
          ranks::OwnCallOf(what, Reduction::kSum, mine.rank(), &buffer));
      ASSAY_ASSIGN_OR_RETURN(const auto pending, mine.Start(call));
      ASSAY_RETURN_IF_ERROR(pending->Wait());
      EXPECT_EQ(
          Since(before),
          (Counted{.collectives = 2, .collective_bytes = 2 * 4 * what.count}))
          << ToString(operation);
      return OkStatus();
    };
    ExpectAllEnd(2, collect);
  }
}

// Kills: ranks of one process that share a count; a part of the ranks that has
// another.
TEST(ProfileTest, EachRankHasTheCountOfItsMessages) {
  for (const ranks::Algorithm algorithm :
       ranks::AlgorithmsOf(Operation::kAllReduce)) {
    const ranks::Collective what = {
        .algorithm = algorithm, .ranks = 6, .count = 35};
    const auto add = [&](Endpoint& mine) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const auto part, mine.Split(0, -mine.rank()));
      ASSAY_ASSIGN_OR_RETURN(const Counted before, mine.counted());
      ranks::WatchedEndpoint watched(*part);
      ASSAY_ASSIGN_OR_RETURN(Tensor buffer,
                             Tensor::Allocate(DType::kFloat64, {what.count}));
      ASSAY_RETURN_IF_ERROR(
          ranks::RunCollective(what, Reduction::kSum, watched, &buffer));
      EXPECT_EQ(Since(before), (Counted{.sent = watched.sent()}))
          << ranks::ToString(algorithm) << " " << mine.rank();
      EXPECT_EQ(part->counted().value(), mine.counted().value());
      return OkStatus();
    };
    ExpectAllEnd(6, add);
  }
}

}  // namespace
}  // namespace assay::smpi
