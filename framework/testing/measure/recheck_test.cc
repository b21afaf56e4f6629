// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/recheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::measure {
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
  kWritesPastItsInput,
  kWrongWhenRunAgain,
  kReusesHeldMemory,
  kOtherBitsEachTime,
  kErrorWhenRunAgain,
  kTakesNoMemory,
  kTakesTheFirstInputsOnly,
  kTakesOneSecondInputOnly,
  kDeclinesWhenRunAgain,
};

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
    const bool declines =
        (defect_ == Defect::kTakesNoMemory && binding->callers) ||
        (defect_ == Defect::kTakesTheFirstInputsOnly &&
         inputs[0].tensor()->elements<float>()[0] != 1) ||
        (defect_ == Defect::kTakesOneSecondInputOnly &&
         inputs[1].tensor()->elements<float>()[0] != 10) ||
        (defect_ == Defect::kDeclinesWhenRunAgain && runs_ > 2);
    if (declines) return Unsupported(Reason::kLimit, "not these");
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
    if (defect_ == Defect::kWritesPastItsInput) const_cast<float*>(a)[3] = 7;
  }

  const Defect defect_;
  const std::vector<ValueInfo> inputs_ = {{"a", {}}, {"b", {}}};
  const std::vector<ValueInfo> outputs_ = {{"y", {}}};
  Tensor memory_;
  int runs_ = 0;
};

Rechecked Rechecks(Defect defect, bool deterministic) {
  cases::DataSet set;
  set.inputs = {Floats({1, 2, 3}), Floats({10, 20, 30}), Value()};
  set.expected = {Floats({11, 22, 33})};
  SumNetwork network(defect);
  const Observation first = RunLoaded(network, set.inputs, {});
  const cases::Limit limit = {record::Comparator::kTolerance, 1e-4, 0, "test"};
  EXPECT_EQ(
      Judge(first, Measure(first.outputs, set.expected, {}, limit)).outcome,
      record::Outcome::kPass);
  return Recheck(network, set, first, limit, {{0, 1, 2}, {}, deterministic});
}

// Each row but the first is a network that passes once and is wrong.
TEST(RecheckTest, APassStandsOnlyWhereNothingSpeaksAgainstIt) {
  using enum Defect;
  using enum record::Outcome;
  const struct {
    Defect defect;
    bool deterministic;
    record::Outcome outcome;
    const char* message;
    Reason reason = Reason::kNone;
    int64_t distinct_results = 1;
  } rows[] = {
      {kNone, true, kPass, ""},
      {kTakesNoMemory, true, kPass, ""},
      {kTakesTheFirstInputsOnly, true, kPass, ""},
      {kTakesOneSecondInputOnly, true, kPass, ""},
      {kDeclinesWhenRunAgain, false, kError, "run again: not these",
       Reason::kLimit},
      {kIgnoresSecondInput, false, kSuspect, "input b", Reason::kValue},
      {kKeepsFirstResult, false, kFail, "run again", Reason::kValue},
      {kWritesElsewhere, false, kFail, "run again", Reason::kValue},
      {kWritesPastTheEnd, false, kFail, "4 bytes behind its end of output y",
       Reason::kStateChanged},
      {kWritesBeforeTheStart, false, kFail,
       "4 bytes before its start of output y", Reason::kStateChanged},
      {kWritesIntoInput, false, kFail, "input a was written",
       Reason::kStateChanged},
      {kWritesPastItsInput, false, kFail, "4 bytes behind its end of input a",
       Reason::kStateChanged},
      {kWrongWhenRunAgain, false, kFail, "run again", Reason::kValue},
      {kReusesHeldMemory, false, kFail, "still held", Reason::kStateChanged},
      {kOtherBitsEachTime, false, kPass, "", Reason::kNone, 2},
      {kOtherBitsEachTime, true, kFail, "determinism", Reason::kValue, 2},
      {kErrorWhenRunAgain, false, kError, "out of breath"},
  };
  for (const auto& row : rows) {
    const Rechecked seen = Rechecks(row.defect, row.deterministic);
    const Judgement& verdict = seen.verdict;
    const int which = static_cast<int>(row.defect);
    EXPECT_EQ(verdict.reason, row.reason) << which;
    EXPECT_EQ(seen.distinct_results, row.distinct_results) << which;
    EXPECT_EQ(verdict.outcome, row.outcome) << which << verdict.message;
    EXPECT_THAT(verdict.message, HasSubstr(row.message)) << which;
  }
}

// Kills: a type whose change is none, is infinite or NaN, or is of one part.
TEST(RecheckTest, ChangedGivesEveryElementAnotherValue) {
  using enum DType;
  using Bytes = std::vector<uint8_t>;
  const struct {
    DType type;
    int64_t count;
    Bytes bytes, changed;  // none where it cannot be changed
  } rows[] = {
      {kFloat32, 2, Bytes{0, 0, 0x80, 0x3F, 0, 0, 0, 0},
       Bytes{0, 0, 0xC0, 0xBF, 0, 0, 0x40, 0x80}},
      {kFloat64, 1, Bytes{0, 0, 0, 0, 0, 0, 0xF0, 0x3F},
       Bytes{0, 0, 0, 0, 0, 0, 0xF8, 0xBF}},
      {kComplex64, 1, Bytes{0, 0, 0x80, 0x3F, 0, 0, 0, 0},
       Bytes{0, 0, 0xC0, 0xBF, 0, 0, 0x40, 0x80}},
      {kComplex128, 1,
       Bytes{0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0},
       Bytes{0, 0, 0, 0, 0, 0, 0xF8, 0xBF, 0, 0, 0, 0, 0, 0, 8, 0x80}},
      {kFloat16, 2, {0, 0x3C, 0, 0xC0}, {0, 0xBE, 0, 0x42}},
      {kBFloat16, 1, {0x80, 0x3F}, {0xC0, 0xBF}},
      {kFloat8E4M3FN, 1, {0x38}, {0xBC}},
      {kFloat8E4M3FNUZ, 1, {0x40}, {0xC4}},
      {kFloat8E5M2, 1, {0x3C}, {0xBE}},
      {kFloat8E5M2FNUZ, 1, {0x40}, {0xC2}},
      {kInt64, 2, Bytes{4, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0},
       Bytes{5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0}},
      {kUint8, 2, {4, 7}, {5, 6}},
      {kBool, 2, {0, 1}, {1, 0}},
      {kFloat32, 0, {}, {}},
      {kInt4, 2, {0x21}, {}},
      {kFloat6E2M3, 1, {1}, {}},
  };
  for (const auto& row : rows) {
    const Tensor tensor = *Tensor::FromBytes(
        row.type, {row.count}, std::as_bytes(std::span(row.bytes)));
    const auto changed = Changed(tensor);
    ASSERT_EQ(changed.has_value(), !row.changed.empty()) << row.type;
    if (!changed.has_value()) continue;
    EXPECT_TRUE(std::ranges::equal(changed->bytes(),
                                   std::as_bytes(std::span(row.changed))))
        << row.type;
  }
  EXPECT_FALSE(Changed(Strings({"x"})).has_value());
}

Tensor Packed(uint8_t byte, int64_t count) {
  return *Tensor::FromBytes(DType::kUint4, {count},
                            std::as_bytes(std::span(&byte, 1)));
}

// Kills: a kind of value of which one part is not looked at.
TEST(RecheckTest, SameBitsLooksAtKindTypeShapeAndBits) {
  const Tensor x = Floats({1, 2});
  const Tensor y = Floats({1, 3});
  const Tensor i = Int64s({0, 1});
  const Tensor j = Int64s({0, 2});
  const ValueType type = ValueType::OfTensor(x);
  const auto some = [&](const Tensor& tensor) {
    return assay::Optional{type, std::make_shared<const Value>(tensor)};
  };
  const assay::Optional none = {type, nullptr};
  const struct {
    Value a, b;
    bool same;
  } rows[] = {
      {x, Floats({1, 2}), true},
      {x, y, false},
      {x, Floats({1}), false},
      {Floats({0}), Floats({-0.0F}), false},
      {x, *x.Reshape({1, 2}), false},
      {Floats({0, 0}), *Tensor::Allocate(DType::kInt32, {2}), false},
      {x, Value(), false},
      {Value(), Value(), true},
      {Strings({"x"}), Strings({"x"}), true},
      {Strings({"x"}), Strings({"y"}), false},
      {none, some(x), false},
      {some(x), none, false},
      {none, none, true},
      {some(x), some(x), true},
      {some(x), some(y), false},
      {Sequence{type, {x, x}}, Sequence{type, {x, x}}, true},
      {Sequence{type, {x, x}}, Sequence{type, {x}}, false},
      {Sequence{type, {x, x}}, Sequence{type, {x, y}}, false},
      {SparseTensor{x, i, {4}}, SparseTensor{x, i, {4}}, true},
      {SparseTensor{x, i, {4}}, SparseTensor{x, i, {5}}, false},
      {SparseTensor{x, i, {4}}, SparseTensor{x, j, {4}}, false},
      {SparseTensor{x, i, {4}}, SparseTensor{y, i, {4}}, false},
      {assay::Map{i, {x, x}}, assay::Map{i, {x, x}}, true},
      {assay::Map{i, {x, x}}, assay::Map{j, {x, x}}, false},
      {assay::Map{i, {x, x}}, assay::Map{i, {x, y}}, false},
      // The second half of the byte is no element.
      {Packed(0x01, 1), Packed(0xF1, 1), true},
      {Packed(0x01, 2), Packed(0xF1, 2), false},
      {Packed(0x01, 2), Packed(0x02, 2), false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(SameBits(row.a, row.b), row.same) << &row - rows;
  }
}

/// y = x, which notes the memory that it was given last.
class CopyNetwork : public Network {
 public:
  std::span<const ValueInfo> inputs() const override { return declared_; }
  std::span<const ValueInfo> outputs() const override { return declared_; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    const Tensor& x = *inputs[0].tensor();
    input = x.data();
    takes_memory = !outputs.empty() && outputs[0].present();
    auto binding = std::make_unique<SumBinding>();
    binding->output = takes_memory ? outputs[0] : inputs[0];
    if (takes_memory) {
      Tensor y = *outputs[0].tensor();
      std::ranges::copy(x.bytes(), y.mutable_data());
    }
    return std::unique_ptr<Binding>(std::move(binding));
  }
  Status Forward(Binding&) override { return OkStatus(); }

  const std::byte* input = nullptr;
  bool takes_memory = false;

 private:
  const std::vector<ValueInfo> declared_ = {{"x", {}}};
};

// Kills: a tensor of one byte that has no guards; memory for one without bytes.
TEST(RecheckTest, EveryTensorWithBytesIsGuarded) {
  const struct {
    Tensor tensor;
    bool guarded;
  } rows[] = {
      {Floats({1, 2}), true},
      {Packed(0x07, 1), true},
      {Floats({}), false},
      {Strings({"x"}), false},
  };
  for (const auto& row : rows) {
    cases::DataSet set;
    set.inputs = set.expected = {row.tensor};
    CopyNetwork network;
    const Observation first = RunLoaded(network, set.inputs, {});
    const Judgement verdict = Recheck(network, set, first, {}, {}).verdict;
    const std::string name = row.tensor.Signature();
    EXPECT_EQ(verdict.outcome, record::Outcome::kPass) << verdict.message;
    EXPECT_EQ(network.input != row.tensor.data(), row.guarded) << name;
    EXPECT_EQ(network.takes_memory, row.guarded) << name;
  }
}

// Kills: guards too short, alike at two places, as what is often written, or
// not looked at.
TEST(RecheckTest, EveryByteOfTheGuardsIsLookedAt) {
  const struct {
    ptrdiff_t to, from, count;  // from the start of 8 bytes
    const char* damage;
  } rows[] = {
      {0, 8, 8, ""},
      {-64, 0, 1, "1 bytes before its start"},
      {-1, 0, 1, "1 bytes before its start"},
      {-1, -10, 20, "1 bytes before its start and 11 bytes behind its end"},
      {71, 0, 1, "1 bytes behind its end"},
      {9, 8, 60, "60 bytes behind its end"},
  };
  for (const auto& row : rows) {
    const auto guarded = *GuardedTensor::CopyOf(Floats({1, 2}));
    Tensor tensor = guarded.tensor();
    std::byte* const start = tensor.mutable_data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % 64, 0U);
    std::memmove(start + row.to, start + row.from,
                 static_cast<size_t>(row.count));
    EXPECT_EQ(guarded.Damage(), row.damage);
  }
  for (const int byte : {0, 1, 0xFD, 0xFF}) {
    const auto guarded = *GuardedTensor::CopyOf(Floats({1, 2}));
    Tensor tensor = guarded.tensor();
    std::memset(tensor.mutable_data() - 64, byte, 64 + 8 + 64);
    EXPECT_EQ(guarded.Damage(),
              "64 bytes before its start and 64 bytes behind its end");
  }
  for (const DType type : {DType::kString, DType::kUndefined}) {
    EXPECT_THAT(GuardedTensor::Filled(type, {1}),
                Says("wanted one whose elements are bytes"));
  }
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

// Kills: a fault of a second run whose message hides what was run before it.
TEST(RecheckTest, NamesTheInputsThatWereChangedBefore) {
  EXPECT_THAT(Rechecks(Defect::kWrongWhenRunAgain, false).verdict.message,
              HasSubstr("; before it was run with another a, then with "
                        "another b"));
}

// Kills: a setting that is changed to what it may not be.
TEST(RecheckTest, ChangesASettingToWhatItIsGiven) {
  cases::DataSet set;
  set.inputs = {Floats({1, 2, 3}), Floats({10, 20, 30})};
  set.expected = {Floats({11, 22, 33})};
  SumNetwork network(Defect::kNone);
  const Observation first = RunLoaded(network, set.inputs, {});
  // Here it is given what the input was, so that nothing can show.
  const Rechecked again = Recheck(network, set, first, {},
                                  {{1}, {{1, Floats({10, 20, 30})}}, false});
  EXPECT_EQ(again.verdict.outcome, record::Outcome::kSuspect);
}

}  // namespace
}  // namespace assay::measure
