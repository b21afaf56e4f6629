// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/number.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/threads/world.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::ranks {
namespace {

template <class T>
T Both(Reduction reduction, T own, T came, DType type = kDTypeOf<T>) {
  const std::array first = {own};
  Tensor tensor =
      Tensor::FromBytes(type, {1}, std::as_bytes(std::span(first))).value();
  const std::array other = {came};
  EXPECT_TRUE(
      Combine(reduction, std::as_bytes(std::span(other)), {0, 1}, &tensor)
          .ok());
  return tensor.elements<T>()[0];
}

TEST(ReductionTest, CombinesEachType) {
  EXPECT_EQ(Both<float>(Reduction::kSum, 1.5F, 2), 3.5F);
  EXPECT_EQ(Both<double>(Reduction::kProduct, 1.5, 2), 3);
  EXPECT_EQ(Both<int32_t>(Reduction::kMin, -3, 2), -3);
  EXPECT_EQ(Both<int64_t>(Reduction::kMax, -3, 2), 2);
}

TEST(ReductionTest, CombinesFloatsOf16BitsAndBits) {
  // 2048 + 1 and 256 + 1 lie between two numbers of the type: ties to even.
  const auto half = [](Reduction reduction, double a, double b) -> double {
    return Both(reduction, Float16(a), Float16(b), DType::kFloat16);
  };
  const auto brain = [](Reduction reduction, double a, double b) -> double {
    return Both(reduction, BFloat16(a), BFloat16(b), DType::kBFloat16);
  };
  EXPECT_EQ(half(Reduction::kSum, 2048, 1), 2048);
  EXPECT_EQ(half(Reduction::kSum, 2048, 3), 2052);
  EXPECT_EQ(brain(Reduction::kSum, 256, 1), 256);
  EXPECT_EQ(brain(Reduction::kMin, -2, 1), -2);
  const struct {
    Reduction reduction;
    uint8_t both;
  } rows[] = {
      {Reduction::kMax, 0xC2},     {Reduction::kBitAnd, 0x40},
      {Reduction::kBitOr, 0xC3},   {Reduction::kBitXor, 0x83},
      {Reduction::kLogicalAnd, 1}, {Reduction::kLogicalOr, 1},
      {Reduction::kLogicalXor, 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Both<uint8_t>(row.reduction, 0xC2, 0x41), row.both)
        << ToString(row.reduction);
  }
}

// x -> 2 x + 1 after x -> 3 x + 5, and the other way round.
TEST(ReductionTest, FunctionsAreComposedInTheirOrder) {
  constexpr uint64_t kOne = uint64_t{2} << 32 | 1,
                     kOther = uint64_t{3} << 32 | 5;
  EXPECT_EQ(Both(Reduction::kCompose, kOne, kOther), uint64_t{6} << 32 | 11);
  EXPECT_EQ(Both(Reduction::kCompose, kOther, kOne), uint64_t{6} << 32 | 8);
}

TEST(ReductionTest, IntegersWrapAround) {
  constexpr auto kMost = std::numeric_limits<int32_t>::max();
  constexpr auto kMost64 = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Both<int32_t>(Reduction::kSum, kMost, 1),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Both<int64_t>(Reduction::kProduct, kMost64, 2), -2);
}

// Kills: an extreme that is one rank's or the other's, whichever comes first.
TEST(ReductionTest, ExtremesAreTheSameInBothOrders) {
  for (const auto& [a, b] : {std::pair(-0.0F, 0.0F), {0.0F, -0.0F}}) {
    EXPECT_TRUE(std::signbit(Both(Reduction::kMin, a, b)));
    EXPECT_FALSE(std::signbit(Both(Reduction::kMax, a, b)));
  }
  for (const auto& [a, b] : {std::pair(NAN, 1.0F), {1.0F, NAN}}) {
    EXPECT_TRUE(std::isnan(Both(Reduction::kMin, a, b)));
    EXPECT_TRUE(std::isnan(Both(Reduction::kMax, a, b)));
  }
}

TEST(ReductionTest, DeclinesOtherTypesAndParts) {
  Tensor bytes = Tensor::Allocate(DType::kBool, {4}).value();
  const std::array<std::byte, 2> came = {};
  const Status type = Combine(Reduction::kSum, came, {0, 2}, &bytes);
  EXPECT_THAT(type, IsStatus(StatusCode::kUnsupported, "found the type bool"));
  EXPECT_FALSE(IsDefined(Reduction::kBitAnd, DType::kFloat32));
  EXPECT_FALSE(IsDefined(Reduction::kCompose, DType::kInt64));
  EXPECT_THAT(Combine(Reduction::kSum, came, {0, 3}, &bytes),
              Says("found 2 bytes, wanted 3"));
  EXPECT_THAT(Combine(Reduction::kSum, came, {3, 2}, &bytes),
              Says("found the elements from 3 to 5, wanted some of the 4"));
  Tensor nibbles = Tensor::Allocate(DType::kInt4, {4}).value();
  EXPECT_THAT(BytesOf({0, 2}, &nibbles), Says("wanted one of whole bytes"));
}

struct Sum {
  std::array<float, 3> in = {}, out = {};

  CollectiveCall call() {
    return {.operation = Operation::kAllReduce,
            .reduction = Reduction::kSum,
            .type = DType::kFloat32,
            .count = 3,
            .root = 0,
            .in = std::as_bytes(std::span(in)),
            .out = std::as_writable_bytes(std::span(out))};
  }
};

TEST(OwnTest, ABufferFitsItsCollective) {
  Tensor buffer = Tensor::Allocate(DType::kFloat32, {7}).value();
  const Collective gather = {Operation::kGather, Algorithm::kLinear, 4, 2, 1};
  EXPECT_THAT(OwnCallOf(gather, Reduction::kSum, 1, &buffer),
              Says("found a buffer of 7 elements for gather of 2 over 4 ranks, "
                   "wanted 8"));
  buffer = Tensor::Allocate(DType::kFloat32, {8}).value();
  Collective beyond = gather;
  beyond.root = 4;
  EXPECT_EQ(OwnCallOf(beyond, Reduction::kSum, 1, &buffer).status().code(),
            StatusCode::kInvalidArgument);
  const CollectiveCall root =
      OwnCallOf(gather, Reduction::kSum, 1, &buffer).value();
  EXPECT_EQ(root.in.size(), 8U);
  EXPECT_EQ(root.out.size(), 32U);
  EXPECT_EQ(root.in.data(), root.out.data() + 8);
  EXPECT_TRUE(
      OwnCallOf(gather, Reduction::kSum, 2, &buffer).value().out.empty());
}

TEST(ThreadCallTest, MemoryFitsItsCollective) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    Sum sum;
    CollectiveCall call = sum.call();
    call.out = call.out.first(4);
    return mine.Collect(call);
  });
  for (const Status& each : ended) {
    EXPECT_THAT(each, IsStatus(StatusCode::kInvalidArgument,
                               "12 bytes of input and 4 of output"));
  }
}

// Kills: a call whose messages another one takes, one that progresses only when
// it is waited for, and a rank that waits for the first alone.
TEST(ThreadCallTest, CallsAreWaitedForInAnyOrder) {
  const auto rank = [](Endpoint& mine) -> Status {
    std::array<Sum, 3> sums;
    std::vector<std::unique_ptr<Pending>> pending;
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].in.fill(static_cast<float>((i + 1) * 10) +
                      static_cast<float>(mine.rank()));
      ASSAY_ASSIGN_OR_RETURN(pending.emplace_back(),
                             mine.Start(sums[i].call()));
    }
    // A message between, which is none of theirs.
    const int next = (mine.rank() + 1) % mine.size();
    const int last = (mine.rank() + mine.size() - 1) % mine.size();
    std::array<std::byte, 12> in{};
    ASSAY_RETURN_IF_ERROR(
        mine.Exchange(next, std::as_bytes(std::span(sums[0].in)), last, in));
    for (size_t i = 0; i < pending.size(); ++i) {
      const size_t turn =
          (i + static_cast<size_t>(mine.rank())) % pending.size();
      ASSAY_RETURN_IF_ERROR(pending[turn]->Wait());
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto ranks = static_cast<float>(mine.size());
      const float wanted =
          ranks * static_cast<float>((i + 1) * 10) + ranks * (ranks - 1) / 2;
      for (const float each : sums[i].out) {
        if (each != wanted)
          return DataLoss("found ", each, ", wanted ", wanted);
      }
    }
    return OkStatus();
  };
  for (const int ranks : {1, 2, 3, 5, 8}) {
    EXPECT_THAT(RunThreads(ranks, rank), kAllWell) << ranks;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      DrawnChoices choices(seed);
      EXPECT_THAT(RunThreads(ranks, rank, &choices), kAllWell) << seed;
    }
  }
}

TEST(ThreadCallTest, ACallThatOthersDoNotComeToStandsStill) {
  const auto ended = RunThreads(3, [](Endpoint& mine) -> Status {
    if (mine.rank() == 2) return OkStatus();
    Sum sum;
    return mine.Collect(sum.call());
  });
  EXPECT_THAT(ended[0], Says("rank 2, which has ended"));
}

// Kills: groups whose messages meet, and ranks in the order of the world.
// Kills: numbers that are combined as they come, or in another order.
TEST(ThreadCallTest, WhatDoesNotCommuteIsCombinedInTheOrderOfRanks) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    const auto number = [](int rank) {
      return static_cast<uint64_t>(rank + 2) << 32 | 7;
    };
    uint64_t wanted = number(0);
    for (int i = 1; i < ranks; ++i) wanted = Composed(wanted, number(i));
    EXPECT_THAT(
        RunThreads(ranks,
                   [&](Endpoint& mine) -> Status {
                     const uint64_t in = number(mine.rank());
                     uint64_t out = 0;
                     const bool is_root = mine.rank() == ranks / 2;
                     std::span<uint64_t> to(&out, is_root ? 1 : 0);
                     ASSAY_RETURN_IF_ERROR(
                         mine.Collect({.operation = Operation::kReduce,
                                       .reduction = Reduction::kCompose,
                                       .type = DType::kUint64,
                                       .count = 1,
                                       .root = ranks / 2,
                                       .in = std::as_bytes(std::span(&in, 1)),
                                       .out = std::as_writable_bytes(to)}));
                     if (!is_root || out == wanted) return OkStatus();
                     return DataLoss("found ", out, ", wanted ", wanted);
                   }),
        kAllWell)
        << ranks;
  }
}

TEST(SplitTest, ARankWithoutAColorHasNoGroup) {
  const auto ended = RunThreads(5, [](Endpoint& mine) -> Status {
    const int color = mine.rank() % 2 == 0 ? 0 : kNoColor;
    ASSAY_ASSIGN_OR_RETURN(const auto group, mine.Split(color, /*key=*/0));
    if (color == kNoColor) {
      return group == nullptr ? OkStatus() : DataLoss("found a group");
    }
    // Equal keys: in the order of ranks.
    if (group->size() == 3 && group->rank() == mine.rank() / 2) {
      return OkStatus();
    }
    return DataLoss("found rank ", group->rank(), " of ", group->size());
  });
  EXPECT_THAT(ended, kAllWell) << ended[1].message();
}

TEST(SplitTest, GroupsAreAmongThemselves) {
  const auto ended = RunThreads(7, [](Endpoint& mine) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto group,
                           mine.Split(mine.rank() % 2, -mine.rank()));
    const int wanted_size = mine.rank() % 2 == 0 ? 4 : 3;
    const int wanted_rank = wanted_size - 1 - mine.rank() / 2;
    if (group->size() != wanted_size || group->rank() != wanted_rank) {
      return DataLoss("found rank ", group->rank(), " of ", group->size());
    }
    Sum sum;
    sum.in.fill(static_cast<float>(mine.rank()));
    ASSAY_RETURN_IF_ERROR(group->Collect(sum.call()));
    const float wanted = mine.rank() % 2 == 0 ? 12 : 9;
    if (sum.out[2] != wanted) return DataLoss("found the sum ", sum.out[2]);
    // A communicator of a communicator, and a message in it from anybody.
    ASSAY_ASSIGN_OR_RETURN(const auto one, group->Split(group->rank(), 0));
    if (one->size() != 1) return DataLoss("found ", one->size(), " ranks");
    const std::array<std::byte, 1> out{};
    std::array<std::byte, 1> in{};
    if (group->rank() > 0) return group->Exchange(0, out, kNobody, {});
    for (int i = 1; i < group->size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const int from, group->ReceiveAny(in));
      if (from < 1 || from >= group->size()) return DataLoss("from ", from);
    }
    return OkStatus();
  });
  EXPECT_THAT(ended, kAllWell) << ended[0].message();
}

// Kills: traffic that counts what a rank sends to itself, or what nobody got.
TEST(WatchedEndpointTest, CountsWhatTheFormulaSays) {
  for (const Operation operation :
       {Operation::kAllReduce, Operation::kAllToAll}) {
    for (const Algorithm algorithm : AlgorithmsOf(operation)) {
      const Collective what{operation, algorithm, 6, 35, 0};
      std::array<Traffic, 6> sent;
      const auto ended = RunThreads(6, [&](Endpoint& mine) {
        WatchedEndpoint watched(mine);
        Tensor buffer =
            Tensor::Allocate(DType::kFloat64, {ElementsOf(what)}).value();
        const Status status =
            RunCollective(what, Reduction::kSum, watched, &buffer);
        sent[static_cast<size_t>(mine.rank())] = watched.sent();
        EXPECT_EQ(watched.counted().value(), (Counted{.sent = watched.sent()}));
        return status;
      });
      Traffic all;
      for (const Traffic& each : sent) {
        all.bytes += each.bytes;
        all.messages += each.messages;
      }
      const Cost cost = CostOf(what).value();
      EXPECT_EQ(all, (Traffic{8 * cost.elements, cost.messages}))
          << ToString(what);
    }
  }
}

// Kills: an exchange that is counted although it failed.
TEST(WatchedEndpointTest, CountsWhatWasSentAlone) {
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    WatchedEndpoint watched(mine);
    std::array<std::byte, 4> out = {};
    std::array<std::byte, 4> in = {};
    const int other = 1 - mine.rank();
    EXPECT_TRUE(watched.Exchange(other, out, other, in).ok());
    if (mine.rank() == 1) return OkStatus();
    EXPECT_TRUE(watched.Exchange(other, out, kNobody, {}).ok());
    EXPECT_FALSE(watched.Exchange(other, out, other, in).ok());
    EXPECT_EQ(watched.sent(), (Traffic{8, 2}));
    return OkStatus();
  });
  EXPECT_TRUE(ended[0].ok());
}

// The CRC-32 of "123456789" is its check value (R. Williams, "A painless guide
// to CRC error detection algorithms", 1993).
TEST(SummedEndpointTest, KeepsBothEndsOfAMessage) {
  constexpr uint32_t kCheck = 0xCBF43926;
  constexpr std::string_view kDigits = "123456789";
  std::vector<MessageSums> sums(2);
  const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
    SummedEndpoint summed(mine);
    std::array<std::byte, kDigits.size()> in = {};
    if (mine.rank() == 0) {
      const auto out = std::as_bytes(std::span(kDigits));
      ASSAY_RETURN_IF_ERROR(summed.Exchange(1, out, kNobody, {}));
      ASSAY_RETURN_IF_ERROR(summed.Exchange(1, {}, kNobody, {}));
    } else {
      ASSAY_RETURN_IF_ERROR(summed.ReceiveAny(in).status());
      ASSAY_RETURN_IF_ERROR(summed.Exchange(kNobody, {}, 0, {}));
    }
    sums[static_cast<size_t>(mine.rank())] = summed.sums();
    return OkStatus();
  });
  EXPECT_THAT(ended, kAllWell);
  EXPECT_TRUE(sums[0].received.empty());
  EXPECT_TRUE(sums[1].sent.empty());
  const std::vector<MessageSum>* const ends[] = {&sums[0].sent,
                                                 &sums[1].received};
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ends[i]->size(), 2U);
    EXPECT_EQ(ends[i]->at(0).peer, i == 0 ? 1 : 0);
    EXPECT_EQ(ends[i]->at(0).sum, kCheck);
    EXPECT_EQ(ends[i]->at(0).bytes, kDigits.size());
    EXPECT_EQ(ends[i]->at(1).bytes, 0U);
  }
  EXPECT_EQ(CorruptMessage(sums), "");
}

// Kills: memory that grows with the length of a training.
TEST(SummedEndpointTest, KeepsTheFirstMessages) {
  RunThreads(1, [](Endpoint& mine) -> Status {
    SummedEndpoint summed(mine);
    for (size_t i = 0; i < SummedEndpoint::kMost + 10; ++i) {
      ASSAY_RETURN_IF_ERROR(summed.Exchange(0, {}, 0, {}));
    }
    EXPECT_EQ(summed.sums().sent.size(), SummedEndpoint::kMost);
    EXPECT_EQ(summed.sums().received.size(), SummedEndpoint::kMost);
    return OkStatus();
  });
}

// Kills: messages that are compared by sum or by length alone, with those of
// another rank, or in the order of all.
TEST(CorruptMessageTest, IsTheFirstOneBetweenTwoRanks) {
  // Rank 0 and rank 2 send two messages each to rank 1, which come in turns.
  std::vector<MessageSums> ranks(3);
  ranks[0].sent = {{1, 10, 4}, {1, 11, 4}};
  ranks[2].sent = {{1, 20, 4}, {0, 99, 4}, {1, 21, 4}};
  ranks[1].received = {{2, 20, 4}, {0, 10, 4}, {2, 21, 4}, {0, 11, 4}};
  EXPECT_EQ(CorruptMessage(ranks), "");
  std::vector<MessageSums> other_sum = ranks;
  other_sum[1].received[2].sum = 22;
  EXPECT_EQ(CorruptMessage(other_sum),
            "rank 1 received message 2 from rank 2 other than it was sent: "
            "found 4 bytes with the checksum 22, wanted 4 with 21");
  std::vector<MessageSums> shorter = ranks;
  shorter[1].received[1].bytes = 3;
  EXPECT_EQ(CorruptMessage(shorter),
            "rank 1 received message 1 from rank 0 other than it was sent: "
            "found 3 bytes with the checksum 10, wanted 4 with 10");
}

TEST(CorruptMessageTest, WhatOneOfTheRanksDidNotKeepIsNone) {
  std::vector<MessageSums> ranks(2);
  ranks[0].sent = {{1, 10, 4}};
  ranks[1].received = {{0, 10, 4}, {0, 11, 4}, {7, 1, 1}, {-1, 1, 1}};
  EXPECT_EQ(CorruptMessage(ranks), "");
}

enum class Color : uint8_t { kRed, kBlue };

struct Sample {
  int32_t small = 0;
  int64_t large = 0;
  uint64_t bits = 0;
  double number = 0;
  Color color = Color::kRed;
  bool is_set = false;

  friend bool operator==(const Sample&, const Sample&) = default;
};

constexpr void EachField(Sample& sample, const auto& visit) {
  VisitEach(visit, sample.small, sample.large, sample.bits, sample.number,
            sample.color, sample.is_set);
}

static_assert(FieldsOf<Sample>() == 6);

const Sample kSample = {-2,           std::numeric_limits<int64_t>::min(),
                        ~uint64_t{0}, -0.125,
                        Color::kBlue, true};

// Kills: a sign that is lost, a field that stands in another's place.
TEST(FieldsTest, ComeBackAsTheyWere) {
  std::string text = "x";
  AppendFields(kSample, &text);
  AppendFields(Sample(), &text);
  EXPECT_EQ(text.size(), 1 + 2 * kFieldBytes<Sample>);
  // -2 as a word, the least significant byte first.
  EXPECT_EQ(text.substr(1, 8), std::string("\xfe\xff\xff\xff\xff\xff\xff\xff"));
  std::string_view rest = text;
  rest.remove_prefix(1);
  Sample first, second = kSample;
  EXPECT_TRUE(CutFields(&rest, &first));
  EXPECT_TRUE(CutFields(&rest, &second));
  EXPECT_EQ(first, kSample);
  EXPECT_EQ(second, Sample());
  EXPECT_TRUE(rest.empty());
}

// Kills: a word that is cut to a number of fewer bits.
TEST(FieldsTest, WhatATypeHasNotIsRefused) {
  std::string text;
  AppendFields(kSample, &text);
  Sample read;
  std::string_view rest = std::string_view(text).substr(1);
  EXPECT_FALSE(CutFields(&rest, &read));
  for (const size_t field : {size_t{0}, size_t{4}, size_t{5}}) {
    std::string wrong = text;
    wrong[8 * field + 4] ^= 1;
    rest = wrong;
    EXPECT_FALSE(CutFields(&rest, &read)) << field;
  }
}

}  // namespace
}  // namespace assay::ranks
