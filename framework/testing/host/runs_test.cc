// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/runs.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "framework/backend/function_network.h"
#include "framework/core/tensor.h"
#include "framework/graph/model_text.h"
#include "framework/testing/host/hosted_backend.h"

namespace assay::host {
namespace {

constexpr float kZero[] = {0};

/// Gives 1, 2, 3, ... in the same memory, and fails at one of its runs.
class Counting : public Backend {
 public:
  explicit Counting(float fails_at = 0) : fails_at_(fails_at) {}
  std::string_view name() const override { return "counting"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    ASSAY_ASSIGN_OR_RETURN(Tensor y, Tensor::Of<float>({1}, kZero));
    return MakeFunctionNetwork(
        std::move(signature),
        [this, y](auto) mutable -> Result<std::vector<Value>> {
          const float run = ++y.mutable_elements<float>()[0];
          if (run == fails_at_) return Internal("run ", run);
          return std::vector<Value>{y};
        });
  }

 private:
  float fails_at_;
};

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
  ASSAY_ASSIGN_OR_RETURN(Tensor x, Tensor::Of<float>({1}, kZero));
  ready.inputs = {x};
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

/// Calls check(backend) with one that counts, and with it in a host.
void ForBoth(float fails_at, const std::function<void(Backend&)>& check) {
  Counting backend(fails_at);
  check(backend);
  HostedBackend hosted(backend);
  check(hosted.backend());
}

TEST(RunManyTest, EachRunIsSeenThroughAHostAsWithout) {
  const std::vector<float> all = {1, 2, 3, 4, 5};
  const std::vector<float> some = {1, 2, 3};
  ForBoth(0, [&](Backend& backend) {
    EXPECT_EQ(*Seen(backend, 5), all);
    EXPECT_EQ(*Seen(backend, 5, 3), some);
    EXPECT_EQ(*Seen(backend, 0), std::vector<float>());
  });
}

TEST(RunManyTest, ARunThatFailsIsTheStatus) {
  ForBoth(3, [](Backend& backend) {
    EXPECT_EQ(Seen(backend, 5).status().message(), "run 3");
  });
}

TEST(BindAndRunTest, TheFirstRunIsSeenThroughAHostAsWithout) {
  ForBoth(2, [](Backend& backend) {
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

}  // namespace
}  // namespace assay::host
