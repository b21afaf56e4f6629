// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/recheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "framework/testing/measure/guarded_memory.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Ne;

enum class Defect {
  kNone,
  kIgnoresSecondInput,
  kKeepsFirstResult,
  kWritesElsewhere,
  kWritesPastTheEnd,
  kWritesBeforeTheStart,
  kWritesIntoInput,
  kWrongWhenRunAgain,
  kReusesHeldMemory,
  kOtherBitsEachTime,
  kErrorWhenRunAgain,
};

Tensor Floats(std::vector<float> values) {
  return *Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

class SumBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return {&output, 1}; }
  std::vector<Value> inputs;
  Value output;
  bool callers = false;
};

/// y = a + b of three floats, with one defect.
class SumNetwork : public Network {
 public:
  explicit SumNetwork(Defect defect) : defect_(defect) {}
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    auto binding = std::make_unique<SumBinding>();
    binding->inputs.assign(inputs.begin(), inputs.end());
    binding->callers = !outputs.empty() && outputs[0].present();
    if (binding->callers) binding->output = outputs[0];
    return std::unique_ptr<Binding>(std::move(binding));
  }

  Status Forward(Binding& bound) override {
    auto& binding = static_cast<SumBinding&>(bound);
    ++runs_;
    if (defect_ == Defect::kErrorWhenRunAgain && runs_ > 2) {
      return Internal("out of breath");
    }
    if (!binding.callers || defect_ == Defect::kWritesElsewhere) {
      const bool reuse = defect_ == Defect::kReusesHeldMemory;
      if (!reuse || !memory_.defined()) memory_ = Floats({0, 0, 0});
      binding.output = memory_;
    }
    if (defect_ == Defect::kReusesHeldMemory && memory_.defined()) {
      memory_.mutable_elements<float>()[0] = static_cast<float>(runs_);
    }
    Compute(binding);
    return OkStatus();
  }

 private:
  void Compute(SumBinding& binding) {
    const float* a = binding.inputs[0].tensor()->elements<float>().data();
    const float* b = binding.inputs[1].tensor()->elements<float>().data();
    float* y =
        binding.output.mutable_tensor()->mutable_elements<float>().data();
    static constexpr std::array<float, 3> kSecond = {10, 20, 30};
    if (defect_ == Defect::kIgnoresSecondInput) b = kSecond.data();
    if (defect_ == Defect::kKeepsFirstResult && runs_ > 1) return;
    for (int i = 0; i < 3; ++i) y[i] = a[i] + b[i];
    if (defect_ == Defect::kWrongWhenRunAgain && runs_ > 1) y[1] += 1;
    if (defect_ == Defect::kOtherBitsEachTime) {
      y[2] += 1e-5F * static_cast<float>(runs_);
    }
    if (!binding.callers) return;
    if (defect_ == Defect::kWritesPastTheEnd) y[3] = 7;
    if (defect_ == Defect::kWritesBeforeTheStart) y[-1] = 7;
    if (defect_ == Defect::kWritesIntoInput) const_cast<float*>(a)[0] = 7;
  }

  const Defect defect_;
  const std::vector<ValueInfo> inputs_ = {{"a", {}}, {"b", {}}};
  const std::vector<ValueInfo> outputs_ = {{"y", {}}};
  Tensor memory_;
  int runs_ = 0;
};

Judgement Rechecks(Defect defect, bool deterministic) {
  DataSet set;
  set.inputs = {Floats({1, 2, 3}), Floats({10, 20, 30})};
  set.expected = {Floats({11, 22, 33})};
  SumNetwork network(defect);
  const Observation first = RunLoaded(network, set.inputs, {});
  const Limit limit = {Comparator::kTolerance, 1e-4, 0, "test"};
  EXPECT_EQ(
      Judge(first, Measure(first.outputs, set.expected, {}, limit)).outcome,
      Outcome::kPass);
  return Recheck(network, set, first, limit, {{0, 1}, deterministic}).verdict;
}

// Each row but the first is a network that passes once and is wrong.
TEST(RecheckTest, APassStandsOnlyWhereNothingSpeaksAgainstIt) {
  const struct {
    Defect defect;
    bool deterministic;
    Outcome outcome;
    const char* message;
  } rows[] = {
      {Defect::kNone, true, Outcome::kPass, ""},
      {Defect::kIgnoresSecondInput, false, Outcome::kSuspect, "input b"},
      {Defect::kKeepsFirstResult, false, Outcome::kFail, "run again"},
      {Defect::kWritesElsewhere, false, Outcome::kFail, "run again"},
      {Defect::kWritesPastTheEnd, false, Outcome::kFail,
       "4 bytes behind its end of output y"},
      {Defect::kWritesBeforeTheStart, false, Outcome::kFail,
       "4 bytes before its start of output y"},
      {Defect::kWritesIntoInput, false, Outcome::kFail, "input a was written"},
      {Defect::kWrongWhenRunAgain, false, Outcome::kFail, "run again"},
      {Defect::kReusesHeldMemory, false, Outcome::kFail, "still held"},
      {Defect::kOtherBitsEachTime, false, Outcome::kPass, ""},
      {Defect::kOtherBitsEachTime, true, Outcome::kFail, "determinism"},
      {Defect::kErrorWhenRunAgain, false, Outcome::kError, "out of breath"},
  };
  for (const auto& row : rows) {
    const Judgement verdict = Rechecks(row.defect, row.deterministic);
    const int which = static_cast<int>(row.defect);
    EXPECT_EQ(verdict.outcome, row.outcome) << which << verdict.message;
    EXPECT_THAT(verdict.message, HasSubstr(row.message)) << which;
  }
}

TEST(RecheckTest, ChangedGivesEveryElementAnotherValue) {
  const Tensor floats = Floats({1, -2, 0});
  const auto changed = Changed(floats);
  ASSERT_TRUE(changed.has_value());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NE(changed->elements<float>()[i], floats.elements<float>()[i]);
  }
  EXPECT_EQ(changed->elements<float>()[0], -1.5F);
  const auto odd =
      Changed(*Tensor::Of<int64_t>({2}, std::vector<int64_t>{4, 7}));
  ASSERT_TRUE(odd.has_value());
  EXPECT_THAT(odd->elements<int64_t>(), testing::ElementsAre(5, 6));
  EXPECT_FALSE(Changed(Floats({})).has_value());
  EXPECT_FALSE(Changed(*Tensor::Allocate(DType::kInt4, {3})).has_value());
  EXPECT_FALSE(Changed(*Tensor::FromStrings({1}, {"x"})).has_value());
}

TEST(RecheckTest, SameBitsLooksAtKindTypeShapeAndBits) {
  const Value x = Floats({1, 2});
  EXPECT_TRUE(SameBits(x, Floats({1, 2})));
  EXPECT_FALSE(SameBits(x, Floats({1, 3})));
  EXPECT_FALSE(SameBits(x, Floats({1})));
  EXPECT_FALSE(SameBits(Floats({0}), Floats({-0.0F})));
  EXPECT_FALSE(SameBits(x, *x.tensor()->Reshape({1, 2})));
  EXPECT_FALSE(SameBits(x, Value()));
  const Value none = assay::Optional{x.Type(), nullptr};
  const Value some = assay::Optional{x.Type(), std::make_shared<Value>(x)};
  EXPECT_FALSE(SameBits(none, some));
  EXPECT_TRUE(SameBits(some, some));
  const Value two = Sequence{x.Type(), {x, x}};
  EXPECT_FALSE(SameBits(two, Sequence{x.Type(), {x}}));
  // The second half of the byte is no element.
  Tensor low = *Tensor::Allocate(DType::kUint4, {1});
  Tensor high = *Tensor::Allocate(DType::kUint4, {1});
  high.mutable_data()[0] = std::byte{0xF0};
  EXPECT_TRUE(SameBits(low, high));
}

// Kills: memory in which an output that is never written looks right, as zeros
// or ones do.
TEST(RecheckTest, MemoryForOutputsHoldsWhatNoCaseExpects) {
  for (const DType type : {DType::kFloat32, DType::kInt64, DType::kBool}) {
    const auto guarded = GuardedTensor::Filled(type, Shape({4}));
    ASSERT_TRUE(guarded.ok()) << guarded.status().message();
    for (const std::byte byte : guarded->tensor().bytes()) {
      EXPECT_THAT(std::to_integer<int>(byte), AllOf(Ne(0), Ne(1), Ne(0xFF)));
    }
  }
}

}  // namespace
}  // namespace assay
