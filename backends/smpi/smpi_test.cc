// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include "backends/mpi_rank/handle_fixture.h"
#include "backends/mpi_rank/profile.h"
#include "backends/smpi/machine.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/interception.h"

namespace assay::smpi {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<RankEnd> EndsOf(int count,
                            const std::function<Status(Endpoint&)>& rank) {
  return SmpiRanks().Run(count, rank).value();
}

Status Barrier(Endpoint& mine) {
  return mine.Collect({.operation = Operation::kBarrier});
}

int64_t LinesOf(const char* file) {
  std::ifstream in(file);
  return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

TEST(SmpiTest, AThousandRanksAddUp) {
  const std::vector<RankEnd> ended = EndsOf(1024, [](Endpoint& mine) -> Status {
    const int64_t own = mine.rank();
    int64_t sum = 0;
    ASSAY_RETURN_IF_ERROR(
        mine.Collect({.type = DType::kInt64,
                      .count = 1,
                      .in = std::as_bytes(std::span(&own, 1)),
                      .out = std::as_writable_bytes(std::span(&sum, 1))}));
    return sum == 1023 * 512 ? OkStatus() : Internal("found ", sum);
  });
  ASSERT_EQ(ended.size(), 1024U);
  mpi_rank::ExpectAllEnd(ended);
}

TEST(SmpiTest, RanksThatStandStillAreNamedAndTheNextOnesRun) {
  const std::vector<RankEnd> ended = EndsOf(3, [](Endpoint& mine) -> Status {
    std::byte byte{};
    if (mine.rank() == 2) return OkStatus();
    if (mine.rank() == 0) return Barrier(mine);
    return mine.Exchange(kNobody, {}, 0, std::span(&byte, 1));
  });
  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended[0].status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ended[1].status.message(),
              AllOf(HasSubstr("rank 0 waits in barrier"),
                    HasSubstr("rank 1 waits for rank 0")));
  EXPECT_TRUE(ended[2].status.ok());
  mpi_rank::ExpectAllEnd(EndsOf(3, Barrier));
}

TEST(SmpiTest, AMessageHasNoRoom) {
  const std::vector<RankEnd> ended = EndsOf(2, [](Endpoint& mine) -> Status {
    const int other = 1 - mine.rank();
    std::byte out{}, in{};
    ASSAY_RETURN_IF_ERROR(
        mine.Exchange(other, std::span(&out, 1), kNobody, {}));
    return mine.Exchange(kNobody, {}, other, std::span(&in, 1));
  });
  EXPECT_THAT(ended[0].status.message(),
              AllOf(HasSubstr("rank 0 waits for rank 1 to receive"),
                    HasSubstr("rank 1 waits for rank 0 to receive")));
}

TEST(SmpiTest, TheOthersOfARankThatFailedAreCancelled) {
  const std::vector<RankEnd> ended = EndsOf(2, [](Endpoint& mine) {
    return mine.rank() == 1 ? Internal("broken") : Barrier(mine);
  });
  EXPECT_EQ(ended[0].status.code(), StatusCode::kCancelled);
  EXPECT_THAT(ended[0].status.message(), HasSubstr("rank 1: broken"));
}

TEST(SmpiTest, RunsLeaveNoMemoryMapped) {
  EndsOf(16, Barrier);
  const int64_t before = LinesOf("/proc/self/maps");
  for (int i = 0; i < 50; ++i) EndsOf(16, Barrier);
  // A rank that is kept has its stack and the guard of it.
  EXPECT_LT(LinesOf("/proc/self/maps"), before + 50 * 16);
}

TEST(SmpiTest, SignalsStayTheProcess) {
  struct sigaction handler {};
  EndsOf(1, Barrier);
  ASSERT_EQ(sigaction(SIGINT, nullptr, &handler), 0);
  EXPECT_EQ(handler.sa_handler, SIG_DFL);
}

TEST(SmpiTest, MoreRanksThanThereAreAreDeclined) {
  EXPECT_EQ(SmpiRanks().Run(1025, Barrier).status().code(),
            StatusCode::kUnsupported);
}

// Kills: the communicator of the world in place of a part's.
TEST(SmpiTest, AnEndpointHasItsCommunicator) {
  mpi_rank::ExpectAllEnd(EndsOf(6, [](Endpoint& mine) -> Status {
    mpi_rank::ExpectItsCommunicator(mine);
    ASSAY_ASSIGN_OR_RETURN(const auto part,
                           mine.Split(mine.rank() % 2, -mine.rank()));
    mpi_rank::ExpectItsCommunicator(*part);
    return OkStatus();
  }));
}

TEST(SmpiTest, NeighborsAreDeclined) {
  for (const RankEnd& end : EndsOf(
           2, [](Endpoint& mine) { return mine.Connect({}, {}).status(); })) {
    EXPECT_EQ(end.status.code(), StatusCode::kUnsupported);
  }
}

/// The seconds of an all-reduce on the simulated clock, from the last rank that
/// begins to the last that ends.
double SecondsOf(ranks::Algorithm algorithm, int ranks, int64_t count) {
  const ranks::Collective what = {
      .algorithm = algorithm, .ranks = ranks, .count = count};
  double begun = 0;
  double ended = 0;
  mpi_rank::ExpectAllEnd(EndsOf(ranks, [&](Endpoint& mine) -> Status {
    ASSAY_ASSIGN_OR_RETURN(Tensor buffer,
                           Tensor::Allocate(DType::kFloat32, {count}));
    std::ranges::fill(buffer.mutable_elements<float>(), 1.0F);
    ASSAY_RETURN_IF_ERROR(Barrier(mine));
    begun = std::max(begun, mine.simulated_seconds().value_or(0));
    ASSAY_RETURN_IF_ERROR(
        ranks::RunCollective(what, Reduction::kSum, mine, &buffer));
    ended = std::max(ended, mine.simulated_seconds().value_or(0));
    return OkStatus();
  }));
  return ended - begun;
}

// Sources: Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH" (2005), section 4, without the time of
// additions; for the ring Patarasuk and Yuan (2009).
TEST(SmpiTest, AnAllReduceTakesTheTimeOfItsFormula) {
  constexpr double kLatency = 2 * kLinkSeconds;
  constexpr double kHeader = 16;  // bytes that SMPI 3.32 adds to a message
  constexpr int64_t kCount =
      65536;  // a block of each rank is of the same length
  constexpr double kBytes = 4 * kCount;
  const auto message = [](double bytes) {
    return kLatency + (bytes + kHeader) / kLinkBytesPerSecond;
  };
  for (const int ranks : {4, 16, 64}) {
    const double n = ranks;
    const double rounds = std::log2(n);
    double halves = 0;  // sent there and back
    for (int i = 1; i <= rounds; ++i) {
      halves += 2 * message(kBytes / std::exp2(i));
    }
    const struct {
      ranks::Algorithm algorithm;
      double seconds;
    } rows[] = {
        {ranks::Algorithm::kRing, 2 * (n - 1) * message(kBytes / n)},
        {ranks::Algorithm::kRecursiveDoubling, rounds * message(kBytes)},
        {ranks::Algorithm::kRabenseifner, halves},
    };
    for (const auto& [algorithm, seconds] : rows) {
      EXPECT_NEAR(SecondsOf(algorithm, ranks, kCount), seconds, 1e-6 * seconds)
          << ranks::ToString(algorithm) << " " << ranks;
    }
  }
}

constexpr int kCount = 3;
constexpr int64_t kBytes = 12;
constexpr int kTag = 4;
using Memory = std::array<int32_t, kCount>;

Counted Since(const Counted& before) {
  const Counted now = mpi_rank::CountedOfThisRank();
  return {.sent = {now.sent.bytes - before.sent.bytes,
                   now.sent.messages - before.sent.messages},
          .collectives = now.collectives - before.collectives,
          .collective_bytes = now.collective_bytes - before.collective_bytes};
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
      const Counted before = mpi_rank::CountedOfThisRank();
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
    const Counted before = mpi_rank::CountedOfThisRank();
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
    mpi_rank::ExpectAllEnd(EndsOf(2, collect));
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
    mpi_rank::ExpectAllEnd(EndsOf(6, add));
  }
}

}  // namespace
}  // namespace assay::smpi
