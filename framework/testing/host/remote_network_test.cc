// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "framework/backend/exact.h"
#include "framework/backend/forwarding_network.h"
#include "framework/backend/function_network.h"
#include "framework/graph/model_text.h"
#include "framework/testing/host/hosted_backend.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::host {
namespace {

using testing::ElementsAre;

/// The calls that reach networks, and how many of these there are.
struct Notes {
  std::vector<std::string> asked;
  int n_networks = 0;
  int n_gradients = 0;
  int n_unheld = 0;                 // runs of gradients that nobody held before
  uint64_t offered = ~uint64_t{0};  // bits of wire::Offered
  Status synchronized;
  bool binds = true;
  std::vector<std::thread::id> threads;  // that ran
};

class NotedGradients : public GradientBinding {
 public:
  explicit NotedGradients(int* count) : count_(*count) { ++count_; }
  ~NotedGradients() override { --count_; }
  std::span<const Value> gradients() const override { return values_; }

 private:
  int& count_;
  std::vector<Value> values_ = {Floats({5}), Floats({6, 7})};
};

/// Offers every interface, or some; passes on what Forward gives.
class Noting : public ForwardingNetwork,
               public Differentiable,
               public Parameters,
               public NativeStep,
               public Draws,
               public Placement,
               public Exact {
 public:
  Noting(std::unique_ptr<Network> inner, Notes* notes)
      : ForwardingNetwork(std::move(inner)), notes_(*notes) {
    ++notes_.n_networks;
  }
  ~Noting() override { --notes_.n_networks; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    if (!notes_.binds) return std::unique_ptr<Binding>();
    return inner().Bind(inputs, outputs);
  }
  Status Forward(Binding& binding) override {
    ++runs_;
    notes_.threads.push_back(std::this_thread::get_id());
    return inner().Forward(binding);
  }
  Status Synchronize() override {
    notes_.asked.emplace_back("synchronize");
    return notes_.synchronized;
  }

  Differentiable* differentiable() override {
    return If(wire::kDifferentiable);
  }
  Parameters* parameters() override { return If(wire::kParameters); }
  NativeStep* native_step() override { return If(wire::kNativeStep); }
  Draws* draws() override { return If(wire::kDraws); }
  Placement* placement() override { return If(wire::kPlacement); }
  Exact* exact() override { return If(wire::kExact); }

  Result<std::vector<Value>> Backward(
      Binding&, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    notes_.asked.push_back(StrCat("backward ", Joined(targets)));
    return std::vector<Value>(targets.size(), cotangents[0]);
  }
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding&, std::span<const Value>, std::span<const std::string> targets,
      std::span<const Value>) override {
    if (targets.size() == 1) return std::unique_ptr<GradientBinding>();
    return std::make_unique<NotedGradients>(&notes_.n_gradients);
  }
  Status RunBackward(GradientBinding& bound) override {
    if (bound.gradients()[0].tensor()->unique()) ++notes_.n_unheld;
    return OkStatus();
  }

  std::vector<std::string> List() const override { return {"w", "b"}; }
  Result<Tensor> Read(std::string_view name) const override {
    if (name != "w") return NotFound("no parameter ", name);
    return Floats({4, 5});
  }
  Status Write(std::string_view name, const Tensor& value) override {
    notes_.asked.push_back(StrCat("write ", name, " ", FloatsOf(value)[1]));
    return name == "w" ? OkStatus() : NotFound("no parameter ", name);
  }

  std::vector<std::string> Optimizers() const override { return {"sgd"}; }
  Status Configure(std::string_view optimizer,
                   const std::map<std::string, double>& numbers) override {
    notes_.asked.push_back(
        StrCat("configure ", optimizer, " ", numbers.at("rate")));
    return optimizer == "sgd" ? OkStatus() : InvalidArgument("not ", optimizer);
  }
  Status Step(Binding& binding, std::string_view loss) override {
    notes_.asked.push_back(StrCat("step ", loss));
    return inner().Forward(binding);
  }

  Status DrawFrom(uint64_t run_seed, int64_t step) override {
    notes_.asked.push_back(StrCat("draw ", run_seed, " ", step));
    return step < 0 ? InvalidArgument("step ", step) : OkStatus();
  }

  /// Another one from the second run on.
  std::vector<PlacedNode> Placed() const override {
    return {{"Abs", runs_ < 2 ? "cpu" : "gpu", ""}};
  }
  Result<std::unique_ptr<ExactRun>> At(std::span<const Value>,
                                       std::span<const std::string>) override {
    return Internal("asked for exact answers");
  }

 private:
  Noting* If(wire::Offered interface) {
    return (notes_.offered & interface) != 0 ? this : nullptr;
  }
  Notes& notes_;
  int runs_ = 0;
};

/// A backend of y = [2x[0]] and z = x.
StubBackend Of(Notes* notes) {
  return StubBackend([notes](auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    if (options.exact) return std::unique_ptr<Network>();
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    auto inner = MakeFunctionNetwork(
        std::move(signature),
        [](std::span<const Value> inputs) -> Result<std::vector<Value>> {
          const std::vector<float> x = FloatsOf(inputs[0]);
          return std::vector<Value>{Floats({2 * x[0]}), Floats(x)};
        });
    return std::make_unique<Noting>(std::move(inner), notes);
  });
}

class RemoteNetworkTest : public testing::Test {
 protected:
  RemoteNetworkTest() : backend_(Of(&notes_)), hosted_(backend_) {}

  std::unique_ptr<Network> Load(const LoadOptions& options = {}) {
    return Got(hosted_.backend().Load(
        graph::ModelOfText("g (float[2] x) => (float[1] y, float[2] z) { "
                           "y = ReduceSum(x) z = Identity(x) }"),
        options));
  }

  Notes notes_;
  StubBackend backend_;
  HostedBackend hosted_;
  Tensor x_ = Floats({3, 4});
  std::vector<Value> inputs_ = {x_};
};

// Kills: an interface that is lost, or that stands for another.
TEST_F(RemoteNetworkTest, ItOffersWhatTheNetworkOffers) {
  for (const uint64_t one :
       {wire::kDifferentiable, wire::kParameters, wire::kNativeStep,
        wire::kDraws, wire::kPlacement, wire::kExact}) {
    notes_.offered = one;
    const auto network = Load();
    EXPECT_EQ(network->differentiable() != nullptr,
              one == wire::kDifferentiable);
    EXPECT_EQ(network->parameters() != nullptr, one == wire::kParameters);
    EXPECT_EQ(network->native_step() != nullptr, one == wire::kNativeStep);
    EXPECT_EQ(network->draws() != nullptr, one == wire::kDraws);
    EXPECT_EQ(network->placement() != nullptr, one == wire::kPlacement);
    EXPECT_EQ(network->exact() != nullptr, one == wire::kExact);
  }
}

TEST_F(RemoteNetworkTest, WhatItOffersReachesTheNetwork) {
  const auto network = Load();
  Parameters& parameters = *network->parameters();
  EXPECT_THAT(parameters.List(), ElementsAre("w", "b"));
  EXPECT_THAT(FloatsOf(Got(parameters.Read("w"))), ElementsAre(4, 5));
  EXPECT_THAT(parameters.Read("v"), Says("no parameter v"));
  EXPECT_TRUE(parameters.Write("w", x_).ok());
  EXPECT_THAT(parameters.Write("v", x_), Says("no parameter v"));
  NativeStep& step = *network->native_step();
  EXPECT_THAT(step.Optimizers(), ElementsAre("sgd"));
  EXPECT_TRUE(step.Configure("sgd", {{"rate", 0.5}}).ok());
  EXPECT_THAT(step.Configure("adam", {{"rate", 2}}), Says("not adam"));
  EXPECT_TRUE(network->draws()->DrawFrom(7, 3).ok());
  EXPECT_THAT(network->draws()->DrawFrom(7, -1), Says("step -1"));
  EXPECT_THAT(network->exact()->At({}, {}),
              IsStatus(StatusCode::kFailedPrecondition, "exact answers"));
  EXPECT_THAT(notes_.asked,
              ElementsAre("write w 4", "write v 4", "configure sgd 0.5",
                          "configure adam 2", "draw 7 3", "draw 7 -1"));
}

// Kills: asking an interface that is gone.
TEST_F(RemoteNetworkTest, AnInterfaceThatIsGoneIsAnError) {
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  notes_.offered = 0;
  EXPECT_TRUE(network->parameters()->List().empty());
  EXPECT_THAT(network->parameters()->Read("w"),
              IsStatus(StatusCode::kInternal, "no parameters any more"));
  EXPECT_THAT(network->native_step()->Step(*binding, "y"),
              Says("no optimizer any more"));
  EXPECT_THAT(network->native_step()->Configure("sgd", {}),
              Says("no optimizer any more"));
  EXPECT_THAT(network->draws()->DrawFrom(1, 1), Says("no seed is taken"));
  const std::vector<std::string> targets = {"x"};
  EXPECT_THAT(network->differentiable()->Backward(*binding, {}, targets),
              Says("no gradients any more"));
}

// Kills: an output that is lost, or stands in the place of another.
TEST_F(RemoteNetworkTest, OutputsComeInTheirPlaces) {
  const auto network = Load();
  for (const bool first : {true, false}) {
    Tensor given = first ? Floats({0}) : Floats({0, 0});
    std::vector<Value> outputs(2);
    outputs[first ? 0 : 1] = given;
    auto binding = Got(network->Bind(inputs_, outputs));
    ASSERT_TRUE(network->Forward(*binding).ok());
    ASSERT_EQ(binding->outputs().size(), 2U);
    EXPECT_THAT(FloatsOf(binding->outputs()[0]), ElementsAre(6));
    EXPECT_THAT(FloatsOf(binding->outputs()[1]), ElementsAre(3, 4));
    EXPECT_EQ(binding->outputs()[first ? 0 : 1].tensor()->data(), given.data());
    EXPECT_EQ(given.elements<float>()[0], first ? 6 : 3);
  }
}

TEST_F(RemoteNetworkTest, AStepRunsAndGivesOutputs) {
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  ASSERT_TRUE(network->native_step()->Step(*binding, "y").ok());
  EXPECT_THAT(FloatsOf(binding->outputs()[0]), ElementsAre(6));
  EXPECT_THAT(notes_.asked, ElementsAre("step y", "synchronize"));
}

// Kills: outputs of a run that stay when others come.
TEST_F(RemoteNetworkTest, SeveralRunsDropTheOutputsBefore) {
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  ASSERT_TRUE(network->Forward(*binding).ok());
  float seen = 0;
  ASSERT_TRUE(RunMany(*network, *binding, 2, [&](std::span<const Value> all) {
                seen += FloatsOf(all[0])[0];
                return true;
              }).ok());
  EXPECT_EQ(seen, 12);
  EXPECT_FALSE(binding->outputs()[0].present());
}

// Kills: a status of synchronizing that is lost, or given twice.
TEST_F(RemoteNetworkTest, ARunSynchronizesOnce) {
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  notes_.synchronized = Internal("lost");
  ASSERT_TRUE(network->Forward(*binding).ok());
  notes_.synchronized = OkStatus();
  EXPECT_EQ(notes_.asked.size(), 1U);
  EXPECT_THAT(network->Synchronize(), Says("lost"));
  EXPECT_EQ(notes_.asked.size(), 1U);
  EXPECT_TRUE(network->Synchronize().ok());
  EXPECT_EQ(notes_.asked.size(), 2U);
  ASSERT_TRUE(network->Forward(*binding).ok());
  ASSERT_TRUE(RunMany(*network, *binding, 1, [](auto) { return true; }).ok());
  const size_t before = notes_.asked.size();
  EXPECT_TRUE(network->Synchronize().ok());
  EXPECT_EQ(notes_.asked.size(), before + 1);
}

TEST_F(RemoteNetworkTest, WhereNodesRanIsToldWhenItChanges) {
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  for (const std::string_view executor : {"cpu", "cpu", "gpu", "gpu"}) {
    const auto placed = network->placement()->Placed();
    ASSERT_EQ(placed.size(), 1U);
    EXPECT_EQ(placed[0].executor, executor);
    ASSERT_TRUE(network->Forward(*binding).ok());
  }
}

// Kills: a network or a gradient that its host keeps for ever, or too short.
TEST_F(RemoteNetworkTest, WhatIsClosedEndsInTheHost) {
  auto network = Load();
  const auto other = Load();
  EXPECT_EQ(notes_.n_networks, 2);
  auto binding = Got(network->Bind(inputs_, {}));
  ASSERT_TRUE(network->Forward(*binding).ok());
  const std::vector<Value> dy = {Floats({1})};
  const std::vector<std::string> targets = {"x", "y"};
  auto bound =
      Got(network->differentiable()->BindBackward(*binding, dy, targets, {}));
  ASSERT_TRUE(network->differentiable()->RunBackward(*bound).ok());
  ASSERT_TRUE(network->differentiable()->RunBackward(*bound).ok());
  EXPECT_EQ(notes_.n_unheld, 2);
  ASSERT_EQ(bound->gradients().size(), 2U);
  EXPECT_THAT(FloatsOf(bound->gradients()[1]), ElementsAre(6, 7));
  EXPECT_EQ(notes_.n_gradients, 1);
  bound.reset();
  static_cast<void>(other->parameters()->List());
  EXPECT_EQ(notes_.n_gradients, 0);
  binding.reset();
  network.reset();
  static_cast<void>(other->parameters()->List());
  EXPECT_EQ(notes_.n_networks, 1);
}

TEST_F(RemoteNetworkTest, NothingIsNothingThere) {
  LoadOptions options;
  options.exact = true;
  EXPECT_EQ(Load(options), nullptr);
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  const std::vector<std::string> targets = {"x"};
  EXPECT_EQ(
      Got(network->differentiable()->BindBackward(*binding, {}, targets, {})),
      nullptr);
  notes_.binds = false;
  EXPECT_EQ(Got(network->Bind(inputs_, {})), nullptr);
  const auto first = Got(BindAndRun(*network, inputs_, {}));
  EXPECT_EQ(first.binding, nullptr);
}

// Kills: a thread of the caller's that has none in the host.
TEST_F(RemoteNetworkTest, AThreadCallsInAThreadOfItsOwn) {
  const auto network = Load();
  auto binding = Got(network->Bind(inputs_, {}));
  const auto run = [&] { EXPECT_TRUE(network->Forward(*binding).ok()); };
  run();
  std::thread([&] {
    run();
    run();
  }).join();
  run();
  const auto& threads = notes_.threads;
  ASSERT_EQ(threads.size(), 4U);
  EXPECT_NE(threads[0], threads[1]);
  EXPECT_EQ(threads[1], threads[2]);
  EXPECT_EQ(threads[3], threads[0]);
}

struct OneBinding : Binding {
  std::span<const Value> outputs() const override { return {&y, 1}; }
  Value y;
};

/// Gives its one tensor again where nobody holds it any more.
class Reusing : public ForwardingNetwork {
 public:
  Reusing(std::unique_ptr<Network> inner, int* reused)
      : ForwardingNetwork(std::move(inner)), reused_(*reused) {}
  Result<std::unique_ptr<Binding>> Bind(std::span<const Value>,
                                        std::span<const Value>) override {
    return std::make_unique<OneBinding>();
  }
  Status Forward(Binding& binding) override {
    Value& y = static_cast<OneBinding&>(binding).y;
    y = Value();
    if (memory_.defined() && memory_.unique()) {
      ++reused_;
    } else {
      memory_ = Floats({1});
    }
    y = memory_;
    return OkStatus();
  }

 private:
  Tensor memory_;
  int& reused_;
};

// Kills: outputs of a run that are held until the next one has ended.
TEST(RemoteOutputsTest, TheirMemoryMayBeUsedAgainUnlessSomebodyHoldsIt) {
  int reused = 0;
  StubBackend backend([&](auto model, const LoadOptions& options)
                          -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    return std::make_unique<Reusing>(
        MakeFunctionNetwork(std::move(signature), nullptr), &reused);
  });
  HostedBackend hosted(backend);
  const auto network = Got(hosted.backend().Load(
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Abs(x) }"), {}));
  const std::vector<Value> inputs = {Floats({0})};
  auto binding = Got(network->Bind(inputs, {}));
  ASSERT_TRUE(network->Forward(*binding).ok());
  ASSERT_TRUE(network->Forward(*binding).ok());
  EXPECT_EQ(reused, 1);
  const Value held = binding->outputs()[0];
  ASSERT_TRUE(network->Forward(*binding).ok());
  EXPECT_EQ(reused, 1);
}

/// A server with an end of the case, and a link to it.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    wire::Arena::Open();
    auto ends = Got(wire::Channel::MakePair());
    thread_ = std::thread([this, own = std::move(ends.second)]() mutable {
      server_.Serve(&own);
    });
    link_.Attach(std::move(ends.first));
  }
  ~ServerTest() override {
    link_.Detach();
    thread_.join();
  }
  template <class... Items>
  Result<Answer> Ask(wire::Call call, const Items&... items) {
    return Answer::To(link_, call, wire::Written(items...));
  }

  Notes notes_;
  StubBackend backend_ = Of(&notes_);
  Server server_{backend_, [] { return CaseEnd{"a file", 3, true, 77}; }};
  Link link_;
  std::thread thread_;
};

TEST_F(ServerTest, TheEndOfTheCaseIsTold) {
  auto answer = Got(Ask(wire::Call::kCaseEnd, uint64_t{0}));
  EXPECT_EQ(answer.in().Text(), "a file");
  EXPECT_EQ(answer.in().Number(), 3U);
  EXPECT_TRUE(answer.in().Flag());
  EXPECT_EQ(answer.in().Number(), 77U);
  EXPECT_TRUE(answer.End().ok());
}

// Kills: serving what is not there, or what cannot be read.
TEST_F(ServerTest, WhatItDoesNotKnowIsRefused) {
  const uint64_t number = 9;
  EXPECT_THAT(Ask(wire::Call::kForward, number, number),
              IsStatus(StatusCode::kFailedPrecondition,
                       "there is no network of the number 9"));
  EXPECT_THAT(Ask(wire::Call::kSynchronize, number), Says("no network"));
  for (const wire::Call call :
       {wire::Call::kInspect, wire::Call::kLoad, wire::Call::kForward}) {
    EXPECT_FALSE(Ask(call, std::string_view("x")).ok());
  }
  EXPECT_FALSE(link_.is_gone());
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[1] y, float[2] z) { "
      "y = ReduceSum(x) z = Identity(x) }");
  const ModelCrossing crossing = Got(ModelCrossing::Of(*model));
  wire::Writer load = crossing.Call();
  load.Put(number);
  crossing.Put(&load);
  load.Put(LoadOptions());
  ASSERT_TRUE(Answer::To(link_, wire::Call::kLoad, load).ok());
  EXPECT_THAT(Ask(wire::Call::kForward, number, number),
              Says("there is no binding of the number 9"));
  EXPECT_THAT(Ask(wire::Call::kRunBackward, number, number),
              Says("there is no bound gradient of the number 9"));
  EXPECT_THAT(Ask(static_cast<wire::Call>(99), number),
              IsStatus(StatusCode::kDataLoss, "found the call 99"));
  for (const wire::Call call : {wire::Call::kSynchronize, wire::Call::kDrawFrom,
                                wire::Call::kWriteParameter,
                                wire::Call::kConfigure, wire::Call::kBind}) {
    EXPECT_THAT(Ask(call, number, std::string_view("x")),
                IsStatus(StatusCode::kDataLoss, ""))
        << static_cast<uint64_t>(call);
  }
  const std::vector<Value> x = {Floats({1, 2})};
  const std::vector<Value> none;
  ASSERT_TRUE(Ask(wire::Call::kBind, number, number, x, none).ok());
  using enum wire::Call;
  for (const auto call : {kForward, kForwardMany, kForwardEach, kBackward,
                          kBackwardEach, kBindBackward, kRunBackward}) {
    EXPECT_THAT(Ask(call, number, number, std::string_view("x")),
                IsStatus(StatusCode::kDataLoss, ""));
  }
}

}  // namespace
}  // namespace assay::host
