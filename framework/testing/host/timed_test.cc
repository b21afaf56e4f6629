// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/timed.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "framework/backend/forwarding_network.h"
#include "framework/backend/function_network.h"
#include "framework/backend/network_interfaces.h"
#include "framework/graph/model_text.h"
#include "framework/testing/host/hosted_backend.h"
#include "framework/testing/host/timed_wire.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::host {
namespace {

/// How often each call reached the backend.
using Calls = std::map<std::string, int>;

class CountedGradients : public GradientBinding {
 public:
  explicit CountedGradients(Value memory) : values_{std::move(memory)} {}
  std::span<const Value> gradients() const override { return values_; }

 private:
  std::vector<Value> values_;
};

/// Notes its calls; the gradient is the number of backward calls so far.
class Counted : public ForwardingNetwork, public Differentiable {
 public:
  Counted(std::unique_ptr<Network> inner, Calls* calls)
      : ForwardingNetwork(std::move(inner)), calls_(*calls) {}
  ~Counted() override { ++calls_["destroy"]; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ++calls_["bind"];
    return inner().Bind(inputs, outputs);
  }
  Status Forward(Binding& binding) override {
    ++calls_["forward"];
    return inner().Forward(binding);
  }
  Status Synchronize() override {
    ++calls_["synchronize"];
    return OkStatus();
  }

  Differentiable* differentiable() override { return this; }
  Result<std::vector<Value>> Backward(Binding&, std::span<const Value>,
                                      std::span<const std::string>) override {
    return Internal("not asked for");
  }
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding&, std::span<const Value>, std::span<const std::string>,
      std::span<const Value> gradients) override {
    return std::make_unique<CountedGradients>(gradients[0]);
  }
  Status RunBackward(GradientBinding& bound) override {
    Tensor gradient = *bound.gradients()[0].tensor();
    gradient.mutable_elements<float>()[0] =
        static_cast<float>(++calls_["backward"]);
    return OkStatus();
  }

 private:
  Calls& calls_;
};

/// y = 2 x, of a float; no answer for 4. Leaves its memory as it is where x is
/// negative.
StubBackend Doubling(Calls* calls) {
  return StubBackend([calls](auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ++(*calls)["load"];
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    auto network = MakeFunctionNetwork(
        std::move(signature),
        [](std::span<const Value> inputs) -> Result<std::vector<Value>> {
          const float x = FloatsOf(*inputs[0].tensor())[0];
          if (x == 4) return Internal("no fours");
          return std::vector<Value>{Floats({2 * x})};
        });
    return std::make_unique<Counted>(std::move(network), calls);
  });
}

/// A network of one float, bound to inputs and to memory for its output.
struct Bound {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Network> network;
  std::vector<Value> inputs = {Floats({1})};
  std::vector<Value> outputs = {Floats({0})};
  std::unique_ptr<Binding> binding;
};

Bound BindOn(Backend& backend) {
  Bound bound;
  bound.model =
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Abs(x) }");
  bound.network = *backend.Load(bound.model, {});
  bound.binding = *bound.network->Bind(bound.inputs, bound.outputs);
  return bound;
}

/// Calls check(backend, calls) with a backend, and with one in a host.
void ForBoth(const std::function<void(Backend&, Calls&)>& check) {
  Calls here;
  auto backend = Doubling(&here);
  check(backend, here);
  Calls there;
  auto other = Doubling(&there);
  HostedBackend hosted(other);
  check(hosted.backend(), there);
}

float WatchedOf(const Timed& timed) {
  return FloatsOf(*timed.watched[0].tensor())[0];
}

// Kills: samples of one call, calls without Synchronize, a last sample lost.
TEST(TimeRunsTest, EachSampleHasItsCalls) {
  ForBoth([](Backend& backend, Calls& calls) {
    const Bound bound = BindOn(backend);
    calls.clear();
    const auto timed =
        TimeRuns(*bound.network, *bound.binding, {.samples = 3, .calls = 4});
    ASSERT_TRUE(timed.ok()) << timed.status().ToString();
    EXPECT_EQ(timed->samples.size(), 3U);
    EXPECT_TRUE(timed->watched.empty());
    EXPECT_EQ(calls["forward"], 12);
    EXPECT_EQ(calls["synchronize"], 12);
    for (const auto sample : timed->samples) EXPECT_GT(sample.count(), 0);
  });
}

// Kills: inputs of the first sample for all, outputs of another sample.
TEST(TimeRunsTest, SamplesTakeTurnsWithTheInputs) {
  const std::vector<std::vector<Value>> runs = {
      {Floats({5})}, {Floats({6})}, {Floats({7})}};
  ForBoth([&](Backend& backend, Calls&) {
    const Bound bound = BindOn(backend);
    for (const auto& [sample, wanted] :
         std::map<int64_t, float>{{0, 10}, {1, 12}, {2, 14}, {3, 10}}) {
      TimedAsk ask = {.samples = 4};
      ask.inputs = {bound.inputs, runs};
      ask.watched = sample;
      const auto timed = TimeRuns(*bound.network, *bound.binding, ask);
      ASSERT_TRUE(timed.ok()) << timed.status().ToString();
      EXPECT_EQ(WatchedOf(*timed), wanted);
    }
  });
}

TEST(TimeRunsTest, ARunThatFailsIsTheStatus) {
  const std::vector<std::vector<Value>> fours = {{Floats({4})}};
  const std::vector<std::vector<Value>> pairs = {{Floats({4, 4})}};
  ForBoth([&](Backend& backend, Calls&) {
    const Bound bound = BindOn(backend);
    TimedAsk ask;
    ask.inputs = {bound.inputs, fours};
    EXPECT_EQ(TimeRuns(*bound.network, *bound.binding, ask).status().message(),
              "no fours");
    ask.inputs = {bound.inputs, pairs};
    EXPECT_EQ(TimeRuns(*bound.network, *bound.binding, ask).status().code(),
              StatusCode::kInvalidArgument);
  });
}

// Kills: memory that keeps the answer of the call before.
TEST(TimeRunsTest, MemoryIsClearedBeforeEachSample) {
  ForBoth([](Backend& backend, Calls&) {
    const Bound bound = BindOn(backend);
    const std::vector<Value> other = {Floats({3})};
    auto binding = bound.network->Bind(bound.inputs, other);
    TimedAsk ask = {.flushed = 4096};
    ask.cleared = other;
    ask.calls = 0;
    ask.watched = 0;
    auto timed = TimeRuns(*bound.network, **binding, ask);
    ASSERT_TRUE(timed.ok()) << timed.status().ToString();
    const float cleared = FloatsOf(*other[0].tensor())[0];
    EXPECT_NE(cleared, cleared);  // a NaN: all bits are set
    ask.calls = 1;
    timed = TimeRuns(*bound.network, **binding, ask);
    EXPECT_EQ(WatchedOf(*timed), 2);
  });
}

// Kills: counts that nobody asked for, or that stay in the host; memory that is
// the harness'.
TEST(TimeRunsTest, CallsAreCountedWhereThatIsAskedFor) {
  ForBoth([](Backend& backend, Calls&) {
    const Bound bound = BindOn(backend);
    TimedAsk ask = {.calls = 2};
    auto timed = TimeRuns(*bound.network, *bound.binding, ask);
    ASSERT_TRUE(timed.ok()) << timed.status().ToString();
    EXPECT_EQ(timed->counts, counts::Counts());
    ask.counted = true;
    timed = TimeRuns(*bound.network, *bound.binding, ask);
    ASSERT_TRUE(timed.ok()) << timed.status().ToString();
    const int64_t before_kb = timed->counts.steady_rss_kb.value_or(0);
    EXPECT_GT(before_kb, 0);
    // Memory that is written to empty caches is none of the backend's.
    constexpr int64_t kFlushed = int64_t{16} << 20;
    ask.flushed = kFlushed;
    timed = TimeRuns(*bound.network, *bound.binding, ask);
    ASSERT_TRUE(timed.ok()) << timed.status().ToString();
    EXPECT_LT(*timed->counts.steady_rss_kb, before_kb + kFlushed / 2048);
  });
}

// Kills: a count that crosses as another, nothing as zero.
TEST(TimedWireTest, EachCountCrossesAsItIs) {
  const Timed some = {.counts = {.allocations = 0,
                                 .allocated_bytes = 7,
                                 .instructions = {},
                                 .peak_rss_kb = 9,
                                 .steady_rss_kb = 8}};
  wire::Writer out;
  PutTimed(some, &out);
  wire::Reader in(out.bytes());
  EXPECT_EQ(ReadTimed(0, &in).counts, some.counts);
  EXPECT_TRUE(in.Fault().ok());
}

// Kills: a forward run that counts, gradients of an earlier call.
TEST(TimeRunsTest, BackwardIsTimedBehindOneForward) {
  ForBoth([](Backend& backend, Calls& calls) {
    const Bound bound = BindOn(backend);
    const std::vector<Value> cotangents = {Floats({1})};
    const std::vector<Value> memory = {Floats({0})};
    const std::vector<std::string> targets = {"x"};
    auto gradients = bound.network->differentiable()->BindBackward(
        *bound.binding, cotangents, targets, memory);
    ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
    calls.clear();
    TimedAsk ask = {.samples = 2, .calls = 3};
    ask.gradients = gradients->get();
    ask.watched = 1;
    const auto timed = TimeRuns(*bound.network, *bound.binding, ask);
    ASSERT_TRUE(timed.ok()) << timed.status().ToString();
    EXPECT_EQ(calls["backward"], 6);
    EXPECT_EQ(calls["forward"], 2);
    EXPECT_EQ(WatchedOf(*timed), 6);
  });
}

// Kills: lives of one network, a network that is not destroyed.
TEST(TimeLivesTest, EachLifeLoadsBindsRunsAndEnds) {
  ForBoth([](Backend& backend, Calls& calls) {
    const Bound bound = BindOn(backend);
    calls.clear();
    const auto lives =
        TimeLives({backend, bound.model, {}}, *bound.network, bound.inputs, 3);
    ASSERT_TRUE(lives.ok()) << lives.status().ToString();
    ASSERT_EQ(lives->size(), 3U);
    for (const char* const call : {"load", "bind", "forward", "destroy"}) {
      EXPECT_EQ(calls[call], 3) << call;
    }
    for (const Life& life : *lives) {
      EXPECT_GT(life.load.count(), 0);
      EXPECT_GT(life.create.count(), 0);
      EXPECT_GT(life.first.count(), 0);
      EXPECT_GT(life.destroy.count(), 0);
    }
  });
}

}  // namespace
}  // namespace assay::host
