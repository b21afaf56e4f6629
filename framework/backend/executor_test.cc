// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/backend/toy/toy_backend.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() {
    LoadOptions options;
    options.gradient_targets = {"x"};
    network_ = *toy_.Load(
        graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Relu(x) }"),
        options);
    binding_ = *network_->Bind(std::vector<Value>{One()}, {});
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
  struct Row {
    const char* fail_at;
    std::vector<std::string> log;
  };
  const std::vector<Row> rows = {
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
  for (const Row& row : rows) {
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
  const auto network =
      *toy_.Load(graph::ModelOfText(
                     "g (float[1] x) => (float[1] y) { y = test.Refuse(x) }"),
                 {});
  const auto binding = *network->Bind(std::vector<Value>{One()}, {});
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
  const auto gradients = executor.RunBackward(
      *binding_, std::vector<Value>{One()}, std::vector<std::string>{"x"});
  ASSERT_TRUE(gradients.ok()) << gradients.status().ToString();
  EXPECT_EQ((*gradients)[0].tensor()->elements<float>()[0], 1.0F);
  EXPECT_THAT(log_, ElementsAre("a.run0", "a.forward0", "a.done0", "a.back0",
                                "a.gradients10", "a.end1"));
}

TEST_F(ExecutorTest, BackwardNeedsADifferentiableNetwork) {
  const auto network = *toy_.Load(
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Relu(x) }"), {});
  const auto binding = *network->Bind(std::vector<Value>{One()}, {});
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
