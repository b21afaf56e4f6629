// SPDX-License-Identifier: Apache-2.0
//
// Ranks for tests: threads whose endpoints change what they carry.
//
//   WrappedRanks ranks(WrapIn<Flipping>());

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/threads/threads.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

using Wrapped = ranks::ForwardingEndpoint;

/// Has a clock, by which each exchange and each collective takes a second.
class Clocked : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    seconds_ += 1;
    return inner_.Exchange(to, out, from, in);
  }
  Status Collect(const CollectiveCall& call) override {
    seconds_ += 1;
    return inner_.Collect(call);
  }
  std::optional<double> simulated_seconds() const override { return seconds_; }

 private:
  double seconds_ = 100;
};

using Wrap = std::function<std::unique_ptr<Endpoint>(Endpoint&)>;

/// Wraps each endpoint in a `Wrapping` of these arguments.
template <class Wrapping>
Wrap WrapIn(auto... arguments) {
  return [=](Endpoint& mine) {
    return std::make_unique<Wrapping>(mine, arguments...);
  };
}

class WrappedRanks : public Ranks {
 public:
  explicit WrappedRanks(Wrap wrap = nullptr) : wrap_(std::move(wrap)) {}

  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    std::vector<RankEnd> ended;
    const auto wrapped = [&](Endpoint& mine) {
      return wrap_ ? rank(*wrap_(mine)) : rank(mine);
    };
    for (const Status& status : ranks::RunThreads(count, wrapped)) {
      ended.push_back({static_cast<int>(ended.size()), status});
    }
    return ended;
  }

 private:
  const Wrap wrap_;
};

struct RanCase {
  measure::Judgement judged;
  std::vector<DistributedRow> rows;
};

template <class Case>
RanCase RanOn(const Case& test_case, const Wrap& wrap = nullptr,
              Backend* networks = nullptr) {
  WrappedRanks ranks(wrap);
  record::Record record;
  RanCase ran;
  ran.judged = RunCase(test_case, {ranks, "threads", 3, networks}, &record);
  ran.rows = record.Rows<DistributedRow>().value();
  return ran;
}

template <class Case>
RanCase PassedOn(const Case& test_case, const Wrap& wrap = nullptr,
                 Backend* networks = nullptr) {
  RanCase ran = RanOn(test_case, wrap, networks);
  EXPECT_EQ(ran.judged.outcome, record::Outcome::kPass)
      << test_case.test_id() << ": " << ran.judged.message;
  return ran;
}

/// Expects a fail of that reason whose message has that text.
inline void ExpectFails(const RanCase& ran, const char* reason,
                        const std::string& said) {
  EXPECT_EQ(ran.judged.reason, record::ReasonCode(reason));
  EXPECT_THAT(ran.judged.message, ::testing::HasSubstr(said));
}

class Idle : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Status Collect(const CollectiveCall&) override { return OkStatus(); }
};

class Late : public Wrapped {
 public:
  Late(Endpoint& inner, int straggler)
      : Wrapped(inner), is_late_(inner.rank() == straggler) {}
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (is_late_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return inner_.Exchange(to, out, from, in);
  }
  Result<int> ReceiveAny(std::span<std::byte> in) override {
    if (is_late_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return inner_.ReceiveAny(in);
  }

 private:
  const bool is_late_;
};

/// Flips a bit of the last byte of one message that rank 1 receives, the third
/// or another.
class Flipping : public Wrapped {
 public:
  explicit Flipping(Endpoint& inner, int which = 3)
      : Wrapped(inner), which_(which) {}
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    const Status status = inner_.Exchange(to, out, from, in);
    if (rank() == 1 && ++received_ == which_ && !in.empty()) {
      in.back() ^= std::byte{1};
    }
    return status;
  }

 private:
  const int which_;
  int received_ = 0;
};

}  // namespace assay::distributed
