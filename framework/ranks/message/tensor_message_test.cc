// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/message/tensor_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/threads/choices.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/watch.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::ranks {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Property;

const auto kAllWell = Each(Property(&Status::ok, true));
constexpr TensorKey kWanted = {.id = 7, .version = 3};

/// Receives a push of tensor 7, of three float32, from rank 1.
Result<int64_t> Take(Endpoint& mine, Tensor* into) {
  ASSAY_ASSIGN_OR_RETURN(const TensorNotice notice, ReceiveNotice(1, mine));
  return TakePushed(notice, kWanted, into, mine);
}

TEST(PushTest, ATensorComesWithItsVersion) {
  const auto ended = RunThreads(2, [](Endpoint& mine) -> Status {
    if (mine.rank() == 1) {
      return Push({.id = 7, .version = 5}, Floats({1, 2, 3}), 0, mine);
    }
    Tensor into = Floats({0, 0, 0});
    ASSAY_ASSIGN_OR_RETURN(const TensorNotice notice,
                           ReceiveNotice(kAnybody, mine));
    EXPECT_EQ(notice.kind, TensorNotice::Kind::kPush);
    EXPECT_EQ(notice.from, 1);
    EXPECT_EQ(notice.key.id, 7);
    EXPECT_EQ(notice.type, DType::kFloat32);
    EXPECT_EQ(notice.elements, 3);
    EXPECT_EQ(TakePushed(notice, kWanted, &into, mine).value(), 5);
    EXPECT_EQ(into.elements<float>()[2], 3);
    return OkStatus();
  });
  EXPECT_THAT(ended, kAllWell) << ended[0].message();
}

TEST(PushTest, TypesMayBeNarrowerThanAByteAndTensorsEmpty) {
  for (const int64_t elements : {0, 3}) {
    const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
      Tensor tensor = Tensor::Allocate(DType::kUint4, {elements}).value();
      if (mine.rank() == 0) {
        ASSAY_RETURN_IF_ERROR(Take(mine, &tensor).status());
        EXPECT_TRUE(elements == 0 || tensor.bytes()[1] == std::byte{5});
        return OkStatus();
      }
      if (elements > 0) tensor.mutable_data()[1] = std::byte{5};
      return Push(kWanted, tensor, 0, mine);
    });
    EXPECT_THAT(ended, kAllWell) << ended[0].message();
  }
}

// Kills: a tensor, version, type or number of elements that nobody looks at; one that is
// not wanted and is taken for the next one.
TEST(PushTest, WhatIsNotWantedIsDataLossAndTheNextOneComes) {
  const Tensor doubles = Tensor::Allocate(DType::kFloat64, {3}).value();
  const struct {
    TensorKey key;
    Tensor tensor;
    const char* says;
  } rows[] = {
      {{8, 3},
       Floats({1, 2, 3}),
       "found tensor 8 from rank 1, wanted tensor 7"},
      {{7, 2},
       Floats({1, 2, 3}),
       "found version 2 of tensor 7 from rank 1, wanted version 3 or later"},
      {{7, 3},
       doubles,
       "found float64 in tensor 7 from rank 1, wanted float32"},
      {{7, 3},
       Floats({1, 2, 3, 4}),
       "found 4 elements of tensor 7 from rank 1, wanted 3"},
      {{7, 3},
       Floats({}),
       "found 0 elements of tensor 7 from rank 1, wanted 3"},
  };
  for (const auto& row : rows) {
    const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
      if (mine.rank() == 1) {
        ASSAY_RETURN_IF_ERROR(Push(row.key, row.tensor, 0, mine));
        return Push(kWanted, Floats({4, 5, 6}), 0, mine);
      }
      Tensor into = Floats({9, 9, 9});
      const Status other = Take(mine, &into).status();
      EXPECT_EQ(other.code(), StatusCode::kDataLoss);
      EXPECT_THAT(other.message(), HasSubstr(row.says));
      EXPECT_EQ(into.elements<float>()[0], 9);
      ASSAY_RETURN_IF_ERROR(Take(mine, &into).status());
      EXPECT_EQ(into.elements<float>()[0], 4);
      return OkStatus();
    });
    EXPECT_THAT(ended, kAllWell) << row.says << ": " << ended[0].message();
  }
}

/// Changes one of the messages that a rank sends.
class Altering : public WatchedEndpoint {
 public:
  using Change = std::function<void(std::vector<std::byte>& message)>;
  Altering(Endpoint& inner, int which, Change change)
      : WatchedEndpoint(inner), which_(which), change_(std::move(change)) {}
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    std::vector<std::byte> other(out.begin(), out.end());
    if (to != kNobody && ++sent_ == which_) change_(other);
    return WatchedEndpoint::Exchange(to, other, from, in);
  }

 private:
  const int which_;
  const Change change_;
  int sent_ = 0;
};

Altering::Change Word(size_t place, int64_t value) {
  return [=](std::vector<std::byte>& message) {
    std::memcpy(message.data() + place * sizeof value, &value, sizeof value);
  };
}
Altering::Change Length(size_t bytes) {
  return [=](std::vector<std::byte>& message) { message.resize(bytes); };
}

// Kills: a length that is not that of the elements; a message that is taken for another.
TEST(PushTest, BrokenMessagesAreDataLoss) {
  constexpr int kNotice = 1, kTensor = 2;
  const struct {
    int which;
    Altering::Change change;
    const char* says;
  } rows[] = {
      {kNotice, Word(0, 5), "found the mark 5 and the kind 0 from rank 1"},
      {kNotice, Word(1, 2), "and the kind 2 from rank 1, wanted the notice"},
      {kNotice, Word(4, 29), "found the type 29 of tensor 7 from rank 1"},
      {kNotice, Word(4, -1), "found the type -1 of tensor 7 from rank 1"},
      {kNotice, Word(4, 8), "found the type 8 of tensor 7 from rank 1"},
      {kNotice, Word(5, -1), "found -1 elements of tensor 7 from rank 1"},
      {kNotice, Word(5, int64_t{1} << 40), "elements of tensor 7 from rank 1"},
      {kNotice, Word(6, 8),
       "found 8 bytes for 3 elements of float32 of tensor 7 from rank 1, "
       "wanted 12"},
      {kNotice, Length(40), "found 40 bytes from rank 1, wanted 56"},
      {kTensor, Length(8),
       "tensor 7 from rank 1: rank 0: found 8 bytes from rank 1, wanted 12"},
      {kTensor, Length(16), "found 16 bytes from rank 1, wanted 12"},
  };
  for (const auto& row : rows) {
    const auto ended = RunThreads(2, [&](Endpoint& mine) -> Status {
      if (mine.rank() == 1) {
        Altering altering(mine, row.which, row.change);
        return Push(kWanted, Floats({1, 2, 3}), 0, altering);
      }
      Tensor into = Floats({0, 0, 0});
      return Take(mine, &into).status();
    });
    EXPECT_EQ(ended[0].code(), StatusCode::kDataLoss) << row.says;
    EXPECT_THAT(ended[0].message(), HasSubstr(row.says));
  }
}

TEST(PushTest, StringsAndTheRankItselfAreDeclined) {
  const Tensor strings = Tensor::FromStrings({1}, {"a"}).value();
  const auto ended = RunThreads(1, [&](Endpoint& mine) {
    EXPECT_EQ(Push(kWanted, strings, 0, mine).code(), StatusCode::kUnsupported);
    Tensor into = Floats({0});
    EXPECT_EQ(Pull(kWanted, 0, &into, mine).status().code(),
              StatusCode::kInvalidArgument);
    return Push(kWanted, into, 0, mine);
  });
  EXPECT_THAT(ended[0].message(), HasSubstr("found the rank 0 itself"));
}

/// Adds up what is pushed to tensor 0, and answers who pulls, until all have.
Status Serve(Endpoint& mine) {
  Tensor sum = Floats({0});
  int64_t version = 0;
  for (int pulls = 0; pulls < mine.size() - 1;) {
    ASSAY_ASSIGN_OR_RETURN(const TensorNotice notice,
                           ReceiveNotice(kAnybody, mine));
    if (notice.kind == TensorNotice::Kind::kPull) {
      ++pulls;
      ASSAY_RETURN_IF_ERROR(Push({0, version}, sum, notice.from, mine));
      continue;
    }
    Tensor pushed = Floats({0});
    ASSAY_RETURN_IF_ERROR(TakePushed(notice, {0, 0}, &pushed, mine).status());
    sum.mutable_elements<float>()[0] += pushed.elements<float>()[0];
    ++version;
  }
  return OkStatus();
}

/// The sum has at least the rank's own pushes, which the version counts.
Status PushThreeAndPull(Endpoint& mine) {
  const auto own = static_cast<float>(mine.rank());
  for (int64_t step = 0; step < 3; ++step) {
    ASSAY_RETURN_IF_ERROR(Push({0, step}, Floats({own}), 0, mine));
  }
  Tensor sum = Floats({0});
  ASSAY_ASSIGN_OR_RETURN(const int64_t version, Pull({0, 3}, 0, &sum, mine));
  const int64_t all = 3 * (mine.size() - 1);
  if (version > all) return DataLoss("found version ", version, " of ", all);
  const float found = sum.elements<float>()[0];
  return found >= 3 * own ? OkStatus() : DataLoss("found the sum ", found);
}

TEST(PullTest, AServerTakesPushesAndAnswersPullsInAnyOrder) {
  const auto rank = [](Endpoint& mine) {
    return mine.rank() == 0 ? Serve(mine) : PushThreeAndPull(mine);
  };
  for (uint64_t seed = 0; seed < 100; ++seed) {
    DrawnChoices choices(seed);
    EXPECT_THAT(RunThreads(4, rank, &choices), kAllWell) << seed;
  }
}

TEST(PullTest, AnOlderTensorIsDataLoss) {
  const auto ended = RunThreads(2, [](Endpoint& mine) -> Status {
    if (mine.rank() == 0) return Serve(mine);
    Tensor sum = Floats({0});
    return Pull({0, 2}, 0, &sum, mine).status();
  });
  EXPECT_TRUE(ended[0].ok()) << ended[0].message();
  EXPECT_EQ(ended[1].code(), StatusCode::kDataLoss);
  EXPECT_THAT(ended[1].message(),
              HasSubstr("found version 0 of tensor 0 from rank 0, wanted "
                        "version 2 or later"));
}

TEST(PullTest, APullIsNoAnswerToAPull) {
  const auto ended = RunThreads(2, [](Endpoint& mine) -> Status {
    Tensor into = Floats({0});
    return Pull({mine.rank(), 0}, 1 - mine.rank(), &into, mine).status();
  });
  EXPECT_THAT(ended[0].message(),
              HasSubstr("found a pull of tensor 1 from rank 1, wanted a push "
                        "of tensor 0"));
}

}  // namespace
}  // namespace assay::ranks
