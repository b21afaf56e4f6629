// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/delayed_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/schedule.h"
#include "framework/ranks/threads/buffers_fixture.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/together.h"

namespace assay::ranks {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr int64_t kCalls = 4000;

std::vector<int64_t> DelaysOf(const Delays& delays, int rank) {
  std::vector<int64_t> all;
  for (int64_t call = 1; call <= kCalls; ++call) {
    all.push_back(DelayOf(delays, rank, call));
  }
  return all;
}

// Kills: delays that are the same for each call, each rank or each seed.
TEST(DelayOfTest, IsAFunctionOfSeedRankAndCall) {
  const Delays delays{.seed = 1, .fraction = 1, .most_us = 100'000};
  Delays other = delays;
  other.seed = 2;
  const std::vector<int64_t> drawn = DelaysOf(delays, 0);
  EXPECT_EQ(DelaysOf(delays, 0), drawn);
  EXPECT_NE(DelaysOf(delays, 1), drawn);
  EXPECT_NE(DelaysOf(other, 0), drawn);
  EXPECT_GT(std::set<int64_t>(drawn.begin(), drawn.end()).size(), 3000U);
}

// Kills: a straggler that is as quick as the others; delays of all calls, or longer ones.
TEST(DelayOfTest, HasItsFractionItsStragglerAndItsLaw) {
  constexpr int64_t kMost = 1000;
  const struct {
    DelayLaw law;
    double mean_share;  // of the longest
  } rows[] = {{DelayLaw::kConstant, 1},
              {DelayLaw::kUniform, 0.5},
              {DelayLaw::kExponential, 0.2}};
  for (const auto& row : rows) {
    const Delays delays{.seed = 3,
                        .fraction = 0.25,
                        .straggler = 1,
                        .law = row.law,
                        .most_us = kMost};
    for (const int rank : {0, 1}) {
      int64_t delayed = 0;
      int64_t sum = 0;
      for (const int64_t us : DelaysOf(delays, rank)) {
        EXPECT_GE(us, 0);
        EXPECT_LE(us, kMost);
        delayed += us > 0 ? 1 : 0;
        sum += us;
      }
      const double wanted = rank == 1 ? kCalls : kCalls / 4.0;
      // Less those of no whole microsecond.
      EXPECT_NEAR(static_cast<double>(delayed), wanted, 150) << rank;
      EXPECT_NEAR(static_cast<double>(sum) / static_cast<double>(delayed),
                  row.mean_share * kMost, 0.05 * kMost);
    }
  }
}

TEST(DelayedEndpointTest, DelaysThatCannotBeAreDeclined) {
  const struct {
    Delays delays;
    const char* says;
  } rows[] = {
      {{.fraction = 1.5}, "found 1.5 of all calls delayed, wanted 0 to 1"},
      {{.fraction = std::numeric_limits<double>::quiet_NaN()}, "nan"},
      {{.straggler = 1}, "found the straggler 1, wanted a rank below 1"},
      {{.straggler = -2}, "found the straggler -2"},
      {{.most_us = -1}, "found a longest delay of -1 us, wanted 0 to 100000"},
      {{.most_us = 100'001}, "found a longest delay of 100001 us"},
  };
  RunThreads(1, [&](Endpoint& mine) {
    for (const auto& row : rows) {
      const Status status = DelayedEndpoint::Of(mine, row.delays).status();
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(status.message(), HasSubstr(row.says));
    }
    return OkStatus();
  });
}

// Kills: a kind of call that is not delayed; a part of the ranks that begins anew.
TEST(DelayedEndpointTest, EachCallHasItsDelay) {
  const Delays delays{.seed = 5, .fraction = 1, .most_us = 100'000};
  const CollectiveCall barrier = {.operation = Operation::kBarrier};
  std::vector<int64_t> slept;
  const auto ended = RunThreads(1, [&](Endpoint& mine) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto delayed,
                           DelayedEndpoint::Of(mine, delays, [&](int64_t us) {
                             slept.push_back(us);
                           }));
    std::array<std::byte, 2> bytes = {};
    ASSAY_RETURN_IF_ERROR(delayed->Exchange(0, bytes, kNobody, {}));
    ASSAY_RETURN_IF_ERROR(delayed->ReceiveAny(bytes).status());
    ASSAY_RETURN_IF_ERROR(delayed->Collect(barrier));
    ASSAY_ASSIGN_OR_RETURN(const auto begun, delayed->Start(barrier));
    ASSAY_RETURN_IF_ERROR(begun->Wait());
    ASSAY_ASSIGN_OR_RETURN(const auto part, delayed->Split(0, 0));
    ASSAY_RETURN_IF_ERROR(part->Collect(barrier));
    const std::array itself = {0};
    ASSAY_ASSIGN_OR_RETURN(const auto neighbors, part->Connect(itself, itself));
    const std::array sent = {std::byte{7}};
    return neighbors->Exchange(sent, std::span(bytes).first(1));
  });
  EXPECT_TRUE(ended[0].ok()) << ended[0].message();
  std::vector<int64_t> wanted;
  for (int64_t call = 1; call <= 8; ++call) {
    wanted.push_back(DelayOf(delays, 0, call));
  }
  EXPECT_THAT(slept, ElementsAreArray(wanted));
}

// Kills: a result that depends on who comes late, and a delay that takes an exchange apart.
TEST(DelayedEndpointTest, BitsDoNotDependOnWhoComesLate) {
  for (const Operation operation : kOperations) {
    for (const Algorithm algorithm : AlgorithmsOf(operation)) {
      const Collective what{operation, algorithm, 5, 29, 3};
      std::vector<Tensor> wanted = Buffers(what);
      std::vector<Schedule> schedules;
      for (int rank = 0; rank < what.ranks; ++rank) {
        schedules.push_back(ScheduleOf(what, rank).value());
      }
      ASSERT_TRUE(RunTogether(schedules, wanted, {}).ok());
      for (const int straggler : {0, 2}) {
        const Delays delays{.seed = static_cast<uint64_t>(straggler),
                            .fraction = 0.25,
                            .straggler = straggler,
                            .law = DelayLaw::kExponential,
                            .most_us = 500};
        std::vector<Tensor> buffers = Buffers(what);
        const auto ended =
            RunThreads(what.ranks, [&](Endpoint& mine) -> Status {
              ASSAY_ASSIGN_OR_RETURN(const auto delayed,
                                     DelayedEndpoint::Of(mine, delays));
              return RunCollective(what, Reduction::kSum, *delayed,
                                   &buffers[static_cast<size_t>(mine.rank())]);
            });
        for (size_t rank = 0; rank < ended.size(); ++rank) {
          EXPECT_TRUE(ended[rank].ok()) << ended[rank].message();
          EXPECT_TRUE(
              std::ranges::equal(buffers[rank].bytes(), wanted[rank].bytes()))
              << ToString(what) << ", rank " << rank;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::ranks
