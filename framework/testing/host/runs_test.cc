// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/runs.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "framework/backend/forwarding_network.h"
#include "framework/backend/function_network.h"
#include "framework/backend/network_interfaces.h"
#include "framework/core/tensor.h"
#include "framework/graph/model_text.h"
#include "framework/testing/host/hosted_backend.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::host {
namespace {

/// Gives 1, 2, 3, ... in the same memory, and fails at one of its runs.
StubBackend Counting(float fails_at = 0) {
  return StubBackend([fails_at](auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    Tensor y = Floats({0});
    return MakeFunctionNetwork(
        std::move(signature),
        [fails_at, y](auto) mutable -> Result<std::vector<Value>> {
          const float run = ++y.mutable_elements<float>()[0];
          if (run == fails_at) return Internal("run ", run);
          return std::vector<Value>{y};
        });
  });
}

/// A network from one float to one, and what it is bound to.
struct Ready {
  std::unique_ptr<Network> network;
  std::vector<Value> inputs;
};

Result<Ready> Load(Backend& backend) {
  auto model =
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Abs(x) }");
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.network, backend.Load(std::move(model), {}));
  ready.inputs = {Floats({0})};
  return ready;
}

float Only(std::span<const Value> outputs) {
  return outputs[0].tensor()->elements<float>()[0];
}

/// The output of each run that was looked at.
Result<std::vector<float>> Seen(Backend& backend, int64_t count,
                                float enough = 0) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, Load(backend));
  Network& network = *ready.network;
  ASSAY_ASSIGN_OR_RETURN(auto binding, network.Bind(ready.inputs, {}));
  std::vector<float> seen;
  ASSAY_RETURN_IF_ERROR(
      RunMany(network, *binding, count, [&](std::span<const Value> outputs) {
        seen.push_back(Only(outputs));
        return seen.back() != enough;
      }).status());
  return seen;
}

/// Calls check(backend) with a backend, and with it in a host.
void ForBoth(Backend&& backend, const std::function<void(Backend&)>& check) {
  check(backend);
  HostedBackend hosted(backend);
  check(hosted.backend());
}

TEST(RunManyTest, EachRunIsSeenThroughAHostAsWithout) {
  const std::vector<float> all = {1, 2, 3, 4, 5};
  const std::vector<float> some = {1, 2, 3};
  ForBoth(Counting(0), [&](Backend& backend) {
    EXPECT_EQ(*Seen(backend, 5), all);
    EXPECT_EQ(*Seen(backend, 5, 3), some);
    EXPECT_EQ(*Seen(backend, 0), std::vector<float>());
  });
}

TEST(RunManyTest, ARunThatFailsIsTheStatus) {
  ForBoth(Counting(3), [](Backend& backend) {
    EXPECT_EQ(Seen(backend, 5).status().message(), "run 3");
  });
}

/// Gives its input, doubled.
StubBackend Doubling() {
  return StubBackend([](auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    return MakeFunctionNetwork(
        std::move(signature),
        [](std::span<const Value> inputs) -> Result<std::vector<Value>> {
          const float doubled = 2 * Only(inputs);
          if (doubled == 8) return Internal("no eights");
          return std::vector<Value>{Floats({doubled})};
        });
  });
}

/// The outputs that RunEach shows for these inputs, three at most.
Result<std::vector<float>> SeenOf(Backend& backend,
                                  const std::vector<float>& inputs) {
  ASSAY_ASSIGN_OR_RETURN(const Ready ready, Load(backend));
  ASSAY_ASSIGN_OR_RETURN(auto binding, ready.network->Bind(ready.inputs, {}));
  std::vector<std::vector<Value>> runs;
  for (const float x : inputs) runs.push_back({Floats({x})});
  std::vector<float> seen;
  ASSAY_RETURN_IF_ERROR(RunEach(*ready.network, *binding, {ready.inputs, runs},
                                [&](std::span<const Value> outputs) {
                                  seen.push_back(Only(outputs));
                                  return seen.size() < 3;
                                }));
  EXPECT_EQ(binding->outputs().size(), 1U);
  return seen;
}

TEST(RunEachTest, EachRunHasItsInputsThroughAHostAsWithout) {
  ForBoth(Doubling(), [](Backend& backend) {
    EXPECT_EQ(*SeenOf(backend, {1, 3, 2}), std::vector<float>({2, 6, 4}));
    EXPECT_EQ(*SeenOf(backend, {1, 3, 2, 5}), std::vector<float>({2, 6, 4}));
    EXPECT_EQ(SeenOf(backend, {1, 4, 2}).status().message(), "no eights");
  });
}

TEST(RunEachTest, WhatDoesNotFitIsRefused) {
  ForBoth(Doubling(), [](Backend& backend) {
    const auto ready = Load(backend);
    auto binding = ready->network->Bind(ready->inputs, {});
    for (const std::vector<Value>& inputs :
         {std::vector<Value>(), {Floats({1, 2})}, {Value()}}) {
      const std::vector<std::vector<Value>> runs = {inputs};
      const Status status =
          RunEach(*ready->network, **binding, {ready->inputs, runs},
                  [](std::span<const Value>) { return true; });
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    }
  });
}

TEST(BindAndRunTest, TheFirstRunIsSeenThroughAHostAsWithout) {
  ForBoth(Counting(2), [](Backend& backend) {
    const auto ready = Load(backend);
    const auto first = BindAndRun(*ready->network, ready->inputs, {});
    ASSERT_TRUE(first.ok() && first->status.ok());
    EXPECT_EQ(Only(first->binding->outputs()), 1);
    // The run that fails is told from Bind.
    const auto second = BindAndRun(*ready->network, ready->inputs, {});
    ASSERT_TRUE(second.ok());
    EXPECT_NE(second->binding, nullptr);
    EXPECT_EQ(second->status.message(), "run 2");
    EXPECT_EQ(BindAndRun(*ready->network, {}, {}).status().code(),
              StatusCode::kInvalidArgument);
  });
}

/// Gives as gradient the cotangent times 1, 2, 3, ..., and fails at one of its
/// runs, by an exception.
class Pulling : public ForwardingNetwork, public Differentiable {
 public:
  Pulling(std::unique_ptr<Network> inner, float fails_at)
      : ForwardingNetwork(std::move(inner)), fails_at_(fails_at) {}
  Differentiable* differentiable() override { return this; }
  Result<std::vector<Value>> Backward(
      Binding&, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    const float run = ++runs_;
    if (run == fails_at_) throw std::runtime_error(StrCat("pull ", run));
    std::vector<Value> gradients;
    for (size_t i = 0; i < targets.size(); ++i) {
      std::vector<float> numbers = FloatsOf(cotangents[0]);
      for (float& number : numbers) number *= run;
      gradients.emplace_back(Floats(numbers));
    }
    return gradients;
  }

 private:
  float fails_at_;
  float runs_ = 0;
};

StubBackend PullingBackend(float fails_at) {
  return StubBackend([fails_at](auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(auto inner,
                           Counting().Load(std::move(model), options));
    return std::make_unique<Pulling>(std::move(inner), fails_at);
  });
}

/// Asks for the gradients of as many cotangents of `count` ones, without a host
/// and with one.
void ForBothPulled(
    float fails_at, int64_t count, size_t asked,
    const std::function<void(const std::vector<Pulled>&)>& check) {
  const std::vector<Value> dy = {
      Floats(std::vector<float>(static_cast<size_t>(count), 1))};
  const std::vector<std::string> targets = {"x", "x"};
  const std::vector<BackwardAsk> asks(asked, {dy, targets});
  ForBoth(PullingBackend(fails_at), [&](Backend& backend) {
    const auto ready = Load(backend);
    auto binding = ready->network->Bind(ready->inputs, {});
    check(BackwardEach(*ready->network, **binding, asks));
  });
}

// The gradients of three fill more than one answer.
TEST(BackwardEachTest, EachIsAnsweredThroughAHostAsWithout) {
  for (const int64_t count : {1, 400'000}) {
    ForBothPulled(0, count, 3, [count](const std::vector<Pulled>& all) {
      ASSERT_EQ(all.size(), 3U);
      for (size_t i = 0; i < all.size(); ++i) {
        ASSERT_TRUE(all[i].gradients.ok());
        ASSERT_EQ(all[i].gradients->size(), 2U);
        const Tensor& dx = *(*all[i].gradients)[1].tensor();
        EXPECT_EQ(dx.num_elements(), count);
        EXPECT_EQ(dx.elements<float>().back(), i + 1);
        EXPECT_GT(all[i].took.count(), 0);
      }
    });
  }
}

TEST(BackwardEachTest, TheFirstThatFailsIsTheLast) {
  ForBothPulled(2, 1, 3, [](const std::vector<Pulled>& all) {
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(all[0].gradients.ok());
    EXPECT_NE(all[1].gradients.status().message().find("pull 2"),
              std::string::npos)
        << all[1].gradients.status().ToString();
  });
}

TEST(BackwardEachTest, ANetworkWithoutGradientsSaysSo) {
  ForBoth(Counting(0), [](Backend& backend) {
    const auto ready = Load(backend);
    auto binding = ready->network->Bind(ready->inputs, {});
    const BackwardAsk ask;
    const auto all = BackwardEach(*ready->network, **binding, {&ask, 1});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].gradients.status().code(),
              StatusCode::kFailedPrecondition);
  });
}

}  // namespace
}  // namespace assay::host
