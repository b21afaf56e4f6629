// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "framework/backend/executor.h"
#include "framework/backend/forwarding_network.h"
#include "framework/backend/function_network.h"
#include "framework/backend/toy/toy_backend.h"
#include "framework/backend/toy/toy_fixture.h"

namespace assay::backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct NoBinding final : Binding {
  std::span<const Value> outputs() const override { return {}; }
};

/// Offers everything. The interfaces are only handed on, never called.
class Everything final : public Network {
 public:
  std::span<const ValueInfo> inputs() const override { return {infos, 2}; }
  std::span<const ValueInfo> outputs() const override { return {infos, 1}; }
  Result<std::unique_ptr<Binding>> Bind(std::span<const Value>,
                                        std::span<const Value>) override {
    ++binds;
    return std::unique_ptr<Binding>(std::make_unique<NoBinding>());
  }
  Status Forward(Binding&) override { return NotFound("forward"); }
  Status Synchronize() override { return NotFound("synchronize"); }
  Differentiable* differentiable() override { return At<Differentiable>(1); }
  Parameters* parameters() override { return At<Parameters>(2); }
  NativeStep* native_step() override { return At<NativeStep>(3); }
  Placement* placement() override { return At<Placement>(4); }
  Exact* exact() override { return At<Exact>(5); }
  Draws* draws() override { return At<Draws>(6); }

  template <class T>
  T* At(size_t place) {
    return reinterpret_cast<T*>(&places[place]);
  }

  ValueInfo infos[2];
  void* places[7] = {};
  int binds = 0;
};

class Passing final : public ForwardingNetwork {
 public:
  using ForwardingNetwork::ForwardingNetwork;
};

TEST(ForwardingNetwork, KeepsAllThatANetworkOffers) {
  auto owned = std::make_unique<Everything>();
  Everything& all = *owned;
  Passing passing(std::move(owned));
  Network& network = passing;
  EXPECT_EQ(network.inputs().data(), all.infos);
  EXPECT_EQ(network.inputs().size(), 2U);
  EXPECT_EQ(network.outputs().size(), 1U);
  const auto binding = Got(network.Bind({}, {}));
  EXPECT_EQ(all.binds, 1);
  EXPECT_EQ(network.Forward(*binding).message(), "forward");
  EXPECT_EQ(network.Synchronize().message(), "synchronize");
  EXPECT_EQ(network.differentiable(), all.differentiable());
  EXPECT_EQ(network.parameters(), all.parameters());
  EXPECT_EQ(network.native_step(), all.native_step());
  EXPECT_EQ(network.placement(), all.placement());
  EXPECT_EQ(network.exact(), all.exact());
  EXPECT_EQ(network.draws(), all.draws());
}

/// The functions of a class in a header that match the pattern's only group.
std::set<std::string> Functions(const std::string& header,
                                const std::string& name,
                                const std::string& pattern) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/framework/backend/" +
                     header);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text = text.substr(text.find("class " + name + " "));
  text = text.substr(0, text.find("\n};"));
  const std::regex function(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), function), end;
       i != end; ++i) {
    names.insert((*i)[1]);
  }
  return names;
}

/// A new function of Network is one that ForwardingNetwork may forget, and that
/// the test above has to ask for.
TEST(ForwardingNetwork, OverridesEveryVirtualFunction) {
  const auto wanted =
      Functions("backend.h", "Network", R"(virtual\s+[^~;{(]*?(\w+)\()");
  EXPECT_EQ(wanted.size(), 11U);
  EXPECT_EQ(Functions("forwarding_network.h", "ForwardingNetwork",
                      R"((\w+)\([^()]*\)\s*(?:const\s*)?override)"),
            wanted);
}

/// y = 2 * x, of `outputs` outputs.
std::unique_ptr<Network> Doubling(size_t outputs = 1) {
  const auto model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Add(x, x) }");
  return MakeFunctionNetwork(
      *SignatureOf(*model, {}),
      [outputs](std::span<const Value> inputs) -> Result<std::vector<Value>> {
        ASSAY_ASSIGN_OR_RETURN(Tensor y, inputs[0].tensor()->Clone());
        for (float& v : y.mutable_elements<float>()) v *= 2;
        return std::vector<Value>(outputs, y);
      });
}

TEST(Signature, IsThatOfTheGraphWithExtraOutputs) {
  const auto model = graph::ModelOfText(
      "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> "
      "{ t = Add(x, w) y = Relu(t) }");
  LoadOptions options = {.extra_outputs = {"t"}};
  const auto signature = Got(SignatureOf(*model, options));
  ASSERT_EQ(signature.inputs.size(), 1U);
  EXPECT_EQ(signature.inputs[0].name, "x");
  ASSERT_EQ(signature.outputs.size(), 2U);
  EXPECT_EQ(signature.outputs[0].name, "y");
  EXPECT_EQ(signature.outputs[1].name, "t");
  options.extra_outputs = {"z"};
  EXPECT_EQ(SignatureOf(*model, options).status().code(),
            StatusCode::kNotFound);
}

TEST(FunctionNetwork, WritesIntoTheCallersMemoryAndKeepsWhatItGave) {
  const auto network = Doubling();
  Tensor y = *Tensor::Allocate(DType::kFloat32, {2});
  const auto bound = network->Bind({{Floats({1, 2})}}, {{y}});
  const auto other = network->Bind({{Floats({5, 6})}}, {});
  ASSERT_TRUE(bound.ok() && other.ok());
  EXPECT_TRUE(network->Forward(**bound).ok());
  EXPECT_THAT(y.elements<float>(), ElementsAre(2, 4));
  EXPECT_EQ((*bound)->outputs()[0].tensor()->data(), y.data());
  EXPECT_TRUE(network->Forward(**other).ok());
  const Value kept = (*other)->outputs()[0];
  EXPECT_TRUE(network->Forward(**other).ok());
  EXPECT_NE((*other)->outputs()[0].tensor()->data(), kept.tensor()->data());
  EXPECT_THAT(kept.tensor()->elements<float>(), ElementsAre(10, 12));
}

TEST(FunctionNetwork, RefusesWhatDoesNotFit) {
  const auto network = Doubling();
  EXPECT_EQ(network->Bind({{Floats({1, 2, 3})}}, {}).status().code(),
            StatusCode::kInvalidArgument);
  const auto foreign = Doubling()->Bind({{Floats({1, 2})}}, {});
  EXPECT_EQ(network->Forward(**foreign).code(), StatusCode::kInvalidArgument);
  const auto two = Doubling(2);
  const auto bound = two->Bind({{Floats({1, 2})}}, {});
  EXPECT_THAT(two->Forward(**bound).message(),
              HasSubstr("found 2 outputs, wanted 1"));
}

// A symbolic extent is known only when the function has run.
TEST(FunctionNetwork, RefusesMemoryThatTheResultDoesNotFit) {
  const auto model =
      graph::ModelOfText("g (float[n] x) => (float[m] y) { y = Abs(x) }");
  const auto network = MakeFunctionNetwork(
      *SignatureOf(*model, {}), [](std::span<const Value> inputs) {
        return Result<std::vector<Value>>({inputs[0]});
      });
  const auto bound = Got(network->Bind(
      {{Floats({1, 2})}}, {{*Tensor::Allocate(DType::kFloat32, {3})}}));
  EXPECT_THAT(network->Forward(*bound).message(),
              HasSubstr("output 'y' is float32[2], which does not fit into "
                        "float32[3]"));
}

/// Writes down what it is told; fails or stops where it is asked to.
class Witness : public Event {
 public:
  Witness(std::string name, std::vector<std::string>& log)
      : name_(std::move(name)), log_(log) {}

  Status BeforeRun(const Moment& at) override { return Tell("run", at); }
  Status BeforeForward(const Moment& at) override {
    return Tell("forward", at);
  }
  Status AfterForward(const Moment& at) override { return Tell("done", at); }
  Status BeforeBackward(const Moment& at) override { return Tell("back", at); }
  Status AfterBackward(const Moment& at, std::span<const Value> g) override {
    return Tell(StrCat("gradients", g.size()), at);
  }
  Status AfterRun(const Moment& at) override { return Tell("end", at); }
  bool StopRequested() const override { return told_ == stop_after; }

  std::string fail_at;
  int stop_after = -1;  // counts of "done"

 private:
  Status Tell(const std::string& what, const Moment& at) {
    const std::string entry = StrCat(name_, ".", what, at.iteration);
    log_.push_back(entry);
    if (what == "done") ++told_;
    return what == fail_at ? Cancelled(entry) : OkStatus();
  }

  std::string name_;
  std::vector<std::string>& log_;
  int told_ = 0;
};

constexpr char kOneRelu[] = "g (float[1] x) => (float[1] y) { y = Relu(x) }";

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() {
    network_ = toy::LoadedBy(toy_, kOneRelu, {.gradient_targets = {"x"}});
    binding_ = toy::BoundTo(*network_, {One()});
  }
  static Value One() { return Floats({1}); }

  toy::Toy toy_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Binding> binding_;
  std::vector<std::string> log_;
};

TEST_F(ExecutorTest, EventsNestAroundEachIteration) {
  Witness a("a", log_), b("b", log_);
  Executor executor(*network_);
  executor.Add(&a);
  executor.Add(&b);
  ASSERT_TRUE(executor.Run(*binding_, 2).ok());
  EXPECT_THAT(log_,
              ElementsAre("a.run0", "b.run0", "a.forward0", "b.forward0",
                          "b.done0", "a.done0", "a.forward1", "b.forward1",
                          "b.done1", "a.done1", "b.end2", "a.end2"));
}

TEST_F(ExecutorTest, AStopEndsTheRunWithoutError) {
  Witness a("a", log_);
  a.stop_after = 2;
  Executor executor(*network_);
  executor.Add(&a);
  ASSERT_TRUE(executor.Run(*binding_, 100).ok());
  EXPECT_THAT(log_, ElementsAre("a.run0", "a.forward0", "a.done0", "a.forward1",
                                "a.done1", "a.end2"));
}

TEST_F(ExecutorTest, AFailingEventEndsTheRunAndIsReturned) {
  const struct {
    const char* fail_at;
    std::vector<std::string> log;
  } rows[] = {
      {"run", {"a.run0", "b.run0", "a.end0"}},
      {"forward",
       {"a.run0", "b.run0", "a.forward0", "b.forward0", "b.end0", "a.end0"}},
      {"done",
       {"a.run0", "b.run0", "a.forward0", "b.forward0", "b.done0", "b.end0",
        "a.end0"}},
      {"end",
       {"a.run0", "b.run0", "a.forward0", "b.forward0", "b.done0", "a.done0",
        "b.end1", "a.end1"}},
  };
  for (const auto& row : rows) {
    log_.clear();
    Witness a("a", log_), b("b", log_);
    b.fail_at = row.fail_at;
    Executor executor(*network_);
    executor.Add(&a);
    executor.Add(&b);
    const Status status = executor.Run(*binding_, 1);
    EXPECT_EQ(status.code(), StatusCode::kCancelled) << row.fail_at;
    EXPECT_EQ(log_, row.log) << row.fail_at;
  }
}

TEST_F(ExecutorTest, AFailingForwardIsReturnedAndTheRunEnded) {
  const auto network = toy::LoadedBy(
      toy_, "g (float[1] x) => (float[1] y) { y = test.Refuse(x) }");
  const auto binding = toy::BoundTo(*network, {One()});
  Witness a("a", log_);
  Executor executor(*network);
  executor.Add(&a);
  EXPECT_THAT(executor.Run(*binding).message(), HasSubstr("refused"));
  EXPECT_THAT(log_, ElementsAre("a.run0", "a.forward0", "a.end0"));
}

TEST_F(ExecutorTest, BackwardFollowsOneForward) {
  Witness a("a", log_);
  Executor executor(*network_);
  executor.Add(&a);
  const auto gradients = Got(executor.RunBackward(
      *binding_, std::vector<Value>{One()}, std::vector<std::string>{"x"}));
  EXPECT_EQ(gradients[0].tensor()->elements<float>()[0], 1.0F);
  EXPECT_THAT(log_, ElementsAre("a.run0", "a.forward0", "a.done0", "a.back0",
                                "a.gradients10", "a.end1"));
}

TEST_F(ExecutorTest, BackwardNeedsADifferentiableNetwork) {
  const auto network = toy::LoadedBy(toy_, kOneRelu);
  const auto binding = toy::BoundTo(*network, {One()});
  Executor executor(*network);
  EXPECT_EQ(executor.RunBackward(*binding, {}, {}).status().reason(),
            Reason::kGradient);
}

TEST_F(ExecutorTest, IterationsAreCounted) {
  Executor executor(*network_);
  EXPECT_TRUE(executor.Run(*binding_, 0).ok());
  EXPECT_EQ(executor.Run(*binding_, -1).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay::backend
