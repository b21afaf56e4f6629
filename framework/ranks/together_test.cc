// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;

constexpr Part kOne{0, 1};

Step SendTo(int to, Part out = kOne) { return {.to = to, .out = out}; }
Step ReceiveFrom(int from, Part in = kOne) { return {.from = from, .in = in}; }

/// Each rank has two elements: ten times its number, and one more.
Result<std::vector<Cost>> Ran(const std::vector<Schedule>& schedules,
                              bool is_synchronous,
                              std::vector<Tensor>* left = nullptr) {
  std::vector<Tensor> buffers;
  for (size_t rank = 0; rank < schedules.size(); ++rank) {
    const auto first = static_cast<float>(10 * rank);
    buffers.push_back(
        Tensor::Of<float>({2}, std::vector{first, first + 1}).value());
  }
  auto sent = RunTogether(schedules, buffers,
                          {.seed = 3, .is_synchronous = is_synchronous});
  if (left != nullptr) *left = buffers;
  return sent;
}

TEST(TogetherTest, CountsWhatEachRankSends) {
  std::vector<Tensor> left;
  const auto sent = Ran({{SendTo(1, {0, 2}), SendTo(1, {1, 0})},
                         {ReceiveFrom(0, {0, 2}), ReceiveFrom(0, {2, 0})}},
                        false, &left);
  ASSERT_TRUE(sent.ok()) << sent.status().ToString();
  EXPECT_EQ((*sent)[0], (Cost{2, 2}));
  EXPECT_EQ((*sent)[1], Cost());
  EXPECT_EQ(left[1].elements<float>()[1], 1);
}

// Kills: messages between two ranks that overtake each other.
TEST(TogetherTest, MessagesBetweenTwoRanksKeepTheirOrder) {
  std::vector<Tensor> left;
  const auto sent = Ran({{SendTo(1, {0, 1}), SendTo(1, {1, 1})},
                         {ReceiveFrom(0, {1, 1}), ReceiveFrom(0, {0, 1})}},
                        false, &left);
  ASSERT_TRUE(sent.ok()) << sent.status().ToString();
  EXPECT_EQ(left[1].elements<float>()[0], 1);
  EXPECT_EQ(left[1].elements<float>()[1], 0);
}

TEST(TogetherTest, SaysWhoWaitsForWhom) {
  const auto both = Ran(
      {{ReceiveFrom(1), SendTo(1)}, {ReceiveFrom(0), SendTo(0)}, {}}, false);
  EXPECT_EQ(both.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(both.status().message(),
              HasSubstr("ranks stand still: rank 0 at step 0 waits for rank 1; "
                        "rank 1 at step 0 waits for rank 0"));
  const auto ended = Ran({{}, {}, {ReceiveFrom(1)}}, false);
  EXPECT_THAT(ended.status().message(),
              HasSubstr("rank 2 at step 0 waits for rank 1, which has ended"));
}

// Kills: a run that gives every message room, as small ones have it in MPI.
TEST(TogetherTest, SendingToEachOtherNeedsRoom) {
  const std::vector<Schedule> both = {{SendTo(1), ReceiveFrom(1)},
                                      {SendTo(0), ReceiveFrom(0)}};
  EXPECT_TRUE(Ran(both, false).ok());
  EXPECT_THAT(Ran(both, true).status().message(),
              HasSubstr("rank 0 at step 0 sends to rank 1; "
                        "rank 1 at step 0 sends to rank 0"));
  const std::vector<Schedule> exchange = {
      {{.to = 1, .out = kOne, .from = 1, .in = kOne}},
      {{.to = 0, .out = kOne, .from = 0, .in = kOne}}};
  EXPECT_TRUE(Ran(exchange, true).ok());
}

TEST(TogetherTest, MessagesFitTheirReceivers) {
  const auto cut = Ran({{SendTo(1, {0, 2})}, {ReceiveFrom(0)}}, false);
  EXPECT_EQ(cut.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(
      cut.status().message(),
      HasSubstr("step 0 of rank 1: found 8 bytes from rank 0, wanted 4"));
  const auto lost = Ran({{SendTo(1), SendTo(1)}, {ReceiveFrom(0)}}, false);
  EXPECT_EQ(lost.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(lost.status().message(),
              HasSubstr("nobody received 1 messages from rank 0 to rank 1"));
}

TEST(TogetherTest, NamesWhatIsNoRankAndNoBuffer) {
  EXPECT_THAT(Ran({{SendTo(2)}, {}}, false).status().message(),
              HasSubstr("step 0 of rank 0 names 2, wanted a rank below 2"));
  EXPECT_THAT(Ran({{SendTo(1, {1, 2})}, {}}, false).status().message(),
              HasSubstr("found the elements from 1 to 3"));
  std::vector<Tensor> none;
  const std::vector<Schedule> one(1);
  EXPECT_THAT(RunTogether(one, none, {}).status().message(),
              HasSubstr("found 0 buffers, wanted 1"));
}

}  // namespace
}  // namespace assay::ranks
