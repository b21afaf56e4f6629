// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/native/communication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/graph/model_text.h"
#include "framework/ranks/model/whole_objective.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/watch.h"
#include "framework/train/rule/optimizers.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;

/// Two operators of float32 tensors of one shape.
class Arithmetic : public OperatorVisitor {
  using OperatorVisitor::Visit;
  Result<Kernel> Visit(const op::Sub& op, LoadContext&) override {
    return Of(op, std::minus());
  }
  Result<Kernel> Visit(const op::Add& op, LoadContext&) override {
    return Of(op, std::plus());
  }
  Result<Kernel> Visit(const op::Mul& op, LoadContext&) override {
    return Of(op, std::multiplies());
  }

  template <class Op, class Combine>
  static Kernel Of(const Op& op, Combine combine) {
    return {[op, combine](KernelContext& run) -> Status {
              const Tensor& a = run.input(op.a);
              ASSAY_ASSIGN_OR_RETURN(Tensor* const c,
                                     run.Output(op.c, a.dtype(), a.shape()));
              std::ranges::transform(
                  a.elements<float>(),
                  run.input(op.b).template elements<float>(),
                  c->template mutable_elements<float>().begin(), combine);
              return OkStatus();
            },
            {},
            {}};
  }
};

class OfRank : public EagerBackend {
 public:
  OfRank(Endpoint& mine, Travel travel) {
    AddFamily(std::make_unique<Arithmetic>());
    AddFamily(std::make_unique<Communication>(mine, travel));
  }
  std::string_view name() const override { return "of_rank"; }
  Result<Probe> Inspect() override { return Probe{}; }
};

/// A step of the rate 1/8 with the velocity as it is in Deep500's paper.
std::string Momentum(int64_t size) {
  const std::string type = StrCat("float[", size, "]");
  return StrCat("step (", type, " x, ", type, " g, ", type, " v, ", type,
                " rate, ", type, " keep) => (", type, " next_x, ", type,
                " next_v) <", type, " mean> {",
                "mean = assay.dist.AllReduceMean(g) "
                "kept = Mul(keep, v) way = Mul(rate, mean) "
                "next_v = Sub(kept, way) next_x = Add(x, next_v) }");
}

Tensor Filled(int64_t size, float with) {
  return Tensor::Of<float>({size},
                           std::vector<float>(static_cast<size_t>(size), with))
      .value();
}

/// A parameter's graph, which writes into its memory.
class Bound {
 public:
  static Result<std::unique_ptr<Bound>> Of(Backend& backend,
                                           const train::Parameter& parameter) {
    const int64_t size = parameter.value.num_elements();
    auto bound = std::make_unique<Bound>();
    bound->gradient_ = Filled(size, 0);
    bound->velocity_ = Filled(size, 0);
    ASSAY_ASSIGN_OR_RETURN(
        bound->network_, backend.Load(graph::ModelOfText(Momentum(size)), {}));
    const std::vector<Value> inputs = {
        Value(parameter.value), Value(bound->gradient_),
        Value(bound->velocity_), Value(Filled(size, 0.125F)),
        Value(Filled(size, 0.5F))};
    ASSAY_ASSIGN_OR_RETURN(bound->binding_, bound->network_->Bind(inputs, {}));
    return bound;
  }

  Status Step(const Tensor& gradient, Tensor* parameter) {
    std::ranges::copy(gradient.bytes(), gradient_.mutable_data());
    ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
    const auto outputs = binding_->outputs();
    std::ranges::copy(outputs[0].tensor()->bytes(), parameter->mutable_data());
    std::ranges::copy(outputs[1].tensor()->bytes(), velocity_.mutable_data());
    return OkStatus();
  }

 private:
  Tensor gradient_, velocity_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Binding> binding_;
};

struct Trained {
  std::vector<float> numbers;
  Traffic sent;
  friend bool operator==(const Trained&, const Trained&) = default;
};

/// What each rank trains in five steps of a step that is made for it.
using MakeStep = std::function<Result<std::function<Status(WholeObjective&)>>(
    Endpoint&, WholeObjective&)>;
std::vector<Trained> TrainedBy(int ranks, const MakeStep& make) {
  std::vector<Trained> trained(static_cast<size_t>(ranks));
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) -> Status {
    WatchedEndpoint watched(mine);
    WholeObjective objective(mine.rank(), mine.size());
    ASSAY_ASSIGN_OR_RETURN(const auto step, make(watched, objective));
    for (int i = 0; i < 5; ++i) ASSAY_RETURN_IF_ERROR(step(objective));
    trained[static_cast<size_t>(mine.rank())] = {objective.Numbers(),
                                                 watched.sent()};
    return OkStatus();
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  return trained;
}

// Kills: an operator that does something else than the scheme, or sends otherwise.
TEST(CommunicationTest, AGraphTakesTheStepsOfTheScheme) {
  // A tensor at a time, as the graphs do.
  const Travel travel{.algorithm = Algorithm::kRing, .most = 1};
  const MakeStep by_scheme =
      [&](Endpoint& mine,
          WholeObjective&) -> Result<std::function<Status(WholeObjective&)>> {
    ASSAY_ASSIGN_OR_RETURN(
        train::Made made,
        train::MakeOptimizer({"momentum", "paper", "rate=0.125 momentum=0.5"}));
    auto scheme = std::make_shared<AllReduceScheme>(
        mine, std::move(made.optimizer), travel);
    return [scheme](WholeObjective& objective) {
      return scheme->Step(objective).status();
    };
  };
  const MakeStep by_graph = [&](Endpoint& mine, WholeObjective& objective)
      -> Result<std::function<Status(WholeObjective&)>> {
    auto backend = std::make_shared<OfRank>(mine, travel);
    auto bound = std::make_shared<std::vector<std::unique_ptr<Bound>>>();
    for (const train::Parameter& each : objective.parameters()) {
      ASSAY_ASSIGN_OR_RETURN(bound->emplace_back(), Bound::Of(*backend, each));
    }
    return [backend, bound](WholeObjective& trained) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const train::Evaluation at, trained.Evaluate());
      for (size_t i = 0; i < bound->size(); ++i) {
        ASSAY_RETURN_IF_ERROR(
            (*bound)[i]->Step(at.gradients[i], &trained.parameters()[i].value));
      }
      return OkStatus();
    };
  };
  for (const int ranks : {1, 2, 3, 4, 8}) {
    EXPECT_EQ(TrainedBy(ranks, by_graph), TrainedBy(ranks, by_scheme)) << ranks;
  }
}

/// What each rank has of one operator on its own number.
std::vector<float> RanOn(int ranks, const std::string& name) {
  std::vector<float> found(static_cast<size_t>(ranks));
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) -> Status {
    OfRank backend(mine, {.algorithm = Algorithm::kLinear});
    ASSAY_ASSIGN_OR_RETURN(
        const auto network,
        backend.Load(graph::ModelOfText(StrCat("g (float[1] x) => (float[1] y) "
                                               "{ y = assay.dist.",
                                               name, "(x) }")),
                     {}));
    const std::vector<Value> inputs = {
        Value(Filled(1, static_cast<float>(3 * mine.rank() + 1)))};
    ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, {}));
    ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
    const Tensor& y = *binding->outputs()[0].tensor();
    found[static_cast<size_t>(mine.rank())] = y.elements<float>()[0];
    return OkStatus();
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  return found;
}

TEST(CommunicationTest, HasThreeOperators) {
  EXPECT_EQ(RanOn(3, "AllReduceMean"), (std::vector<float>{4, 4, 4}));
  EXPECT_EQ(RanOn(3, "FromRoot"), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(RanOn(3, "MeanAtRoot")[0], 4);
}

TEST(CommunicationTest, DeclinesOthers) {
  RunThreads(1, [](Endpoint& mine) {
    OfRank backend(mine, {});
    for (const char* each : {"assay.dist.Scatter", "test.AllReduceMean"}) {
      const auto loaded = backend.Load(
          graph::ModelOfText(
              StrCat("g (float[1] x) => (float[1] y) { y = ", each, "(x) }")),
          {});
      EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported) << each;
    }
    return OkStatus();
  });
}

}  // namespace
}  // namespace assay::ranks
