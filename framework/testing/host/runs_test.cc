// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/runs.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "framework/backend/function_network.h"
#include "framework/core/tensor.h"
#include "framework/graph/model_text.h"
#include "framework/testing/host/arena.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/server.h"

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

/// The output of each run that was looked at.
Result<std::vector<float>> Seen(Backend& backend, int64_t count,
                                float enough = 0) {
  auto model =
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Abs(x) }");
  ASSAY_ASSIGN_OR_RETURN(auto network, backend.Load(std::move(model), {}));
  ASSAY_ASSIGN_OR_RETURN(Tensor x, Tensor::Of<float>({1}, kZero));
  const std::vector<Value> inputs = {x};
  ASSAY_ASSIGN_OR_RETURN(auto binding, network->Bind(inputs, {}));
  std::vector<float> seen;
  ASSAY_RETURN_IF_ERROR(
      RunMany(*network, *binding, count, [&](std::span<const Value> outputs) {
        seen.push_back(outputs[0].tensor()->elements<float>()[0]);
        return seen.back() != enough;
      }).status());
  return seen;
}

/// As Seen, of a backend in a host.
Result<std::vector<float>> SeenThroughAHost(Backend& backend, int64_t count,
                                            float enough = 0) {
  Arena::Open();
  Server server(backend, nullptr);
  auto ends = Channel::MakePair();
  std::thread host([&, channel = std::move(ends->second)]() mutable {
    server.Serve(&channel);
  });
  Link link;
  link.Attach(std::move(ends->first));
  RemoteBackend remote("counting", link);
  auto seen = Seen(remote, count, enough);
  link.Detach();
  host.join();
  return seen;
}

TEST(RunManyTest, EachRunIsSeenThroughAHostAsWithout) {
  const std::vector<float> all = {1, 2, 3, 4, 5};
  const std::vector<float> some = {1, 2, 3};
  Counting backend;
  for (const auto see : {&Seen, &SeenThroughAHost}) {
    EXPECT_EQ(*see(backend, 5, 0), all);
    EXPECT_EQ(*see(backend, 5, 3), some);
    EXPECT_EQ(*see(backend, 0, 0), std::vector<float>());
  }
}

TEST(RunManyTest, ARunThatFailsIsTheStatus) {
  Counting backend(3);
  for (const auto see : {&Seen, &SeenThroughAHost}) {
    const auto seen = see(backend, 5, 0);
    EXPECT_EQ(seen.status().message(), "run 3");
  }
}

}  // namespace
}  // namespace assay::host
