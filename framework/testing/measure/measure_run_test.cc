// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/measure_rows_fixture.h"
#include "framework/testing/support/backends_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

using testing::HasSubstr;

// A backend's act at one stage: nothing, fail or throw.
using Deed = std::function<Status()>;

Status Nothing() { return OkStatus(); }

struct Deeds {
  Deed load = Nothing;
  Deed bind = Nothing;
  Deed forward = Nothing;
  Deed synchronize = Nothing;
  Deed fetch = Nothing;
  std::vector<Value> outputs;
  std::vector<PlacedNode> placed;
  bool no_network = false;
  bool no_binding = false;
};

class FakeBinding : public Binding {
 public:
  explicit FakeBinding(const Deeds& deeds) : deeds_(deeds) {}
  std::span<const Value> outputs() const override {
    if (const Status status = deeds_.fetch(); !status.ok()) return {};
    return deeds_.outputs;
  }

 private:
  const Deeds& deeds_;
};

class FakeNetwork : public Network, public Placement {
 public:
  explicit FakeNetwork(const Deeds& deeds) : deeds_(deeds) {}
  std::span<const ValueInfo> inputs() const override { return {}; }
  std::span<const ValueInfo> outputs() const override { return declared_; }
  Result<std::unique_ptr<Binding>> Bind(std::span<const Value>,
                                        std::span<const Value>) override {
    ASSAY_RETURN_IF_ERROR(deeds_.bind());
    if (deeds_.no_binding) return std::unique_ptr<Binding>();
    return std::make_unique<FakeBinding>(deeds_);
  }
  Status Forward(Binding&) override { return deeds_.forward(); }
  Status Synchronize() override { return deeds_.synchronize(); }
  Placement* placement() override {
    return deeds_.placed.empty() ? nullptr : this;
  }
  std::vector<PlacedNode> Placed() const override { return deeds_.placed; }

 private:
  const Deeds& deeds_;
  std::vector<ValueInfo> declared_ = {{"y", {}}};
};

Observation Ran(const Deeds& deeds) {
  StubBackend backend(
      [&](auto, const LoadOptions&) -> Result<std::unique_ptr<Network>> {
        ASSAY_RETURN_IF_ERROR(deeds.load());
        if (deeds.no_network) return std::unique_ptr<Network>();
        return std::make_unique<FakeNetwork>(deeds);
      });
  return Run(backend, nullptr, {}, {});
}

TEST(RunTest, SaysWhichStageFailed) {
  const Deed fails = [] { return Internal("broken"); };
  const Deed throws = []() -> Status { throw std::runtime_error("broken"); };
  const Deed throws_text = []() -> Status { throw "broken"; };
  const Tensor nowhere = *Tensor::Borrow(DType::kUint8, {1}, nullptr);
  float memory = 0;
  const Tensor device =
      *Tensor::Borrow(DType::kFloat32, {1}, &memory, {Device::Kind::kCuda, 0});
  const ValueType type = ValueType::OfTensor(nowhere);
  const struct {
    Deeds deeds;
    Stage stage;
  } rows[] = {
      {{.load = fails}, Stage::kLoad},
      {{.load = throws}, Stage::kLoad},
      {{.load = throws_text}, Stage::kLoad},
      {{.no_network = true}, Stage::kLoad},
      {{.bind = fails}, Stage::kBind},
      {{.bind = throws}, Stage::kBind},
      {{.no_binding = true}, Stage::kBind},
      {{.forward = fails}, Stage::kForward},
      {{.forward = throws_text}, Stage::kForward},
      {{.synchronize = fails}, Stage::kForward},
      {{.synchronize = throws}, Stage::kForward},
      {{.fetch = throws}, Stage::kFetch},
      {{.outputs = {nowhere}}, Stage::kFetch},
      {{.outputs = {device}}, Stage::kFetch},
      {{.outputs = {Sequence{type, {nowhere}}}}, Stage::kFetch},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Observation seen = Ran(rows[i].deeds);
    EXPECT_FALSE(seen.status.ok()) << i;
    EXPECT_EQ(seen.stage, rows[i].stage) << i;
    EXPECT_TRUE(seen.outputs.empty()) << i;
  }
}

TEST(RunTest, KeepsTheMessageOfWhatWasThrown) {
  const Observation seen =
      Ran({.load = []() -> Status { throw std::runtime_error("no memory"); }});
  EXPECT_THAT(seen.status.message(), HasSubstr("no memory"));
}

TEST(RunTest, ARunIsTimed) {
  const Observation seen = Ran({.forward = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OkStatus();
  }});
  EXPECT_GE(seen.run_us, 1000);
}

TEST(RunTest, OutputsAreCopiesOfEveryKind) {
  std::vector<float> memory = {1};
  std::vector<int64_t> numbers = {1};
  const Tensor lent = *Tensor::Borrow(DType::kFloat32, {1}, memory.data());
  const Tensor lent_numbers =
      *Tensor::Borrow(DType::kInt64, {1}, numbers.data());
  const Value value = lent;
  const ValueType type = ValueType::OfTensor(lent);
  const SparseTensor sparse = {lent, lent_numbers, {1}};
  const std::vector<Value> outputs = {
      value,
      sparse,
      Sequence{type, {value}},
      Optional{type, std::make_shared<const Value>(value)},
      Optional{type, nullptr},
      Map{lent_numbers, {value}},
      Value()};
  const Observation seen = Ran({.outputs = outputs});
  ASSERT_TRUE(seen.status.ok()) << seen.status.message();
  ASSERT_EQ(seen.outputs.size(), outputs.size());
  memory[0] = 2;  // as a backend may that goes on using its memory
  numbers[0] = 2;
  const Tensor* copies[] = {seen.outputs[0].tensor(),
                            &seen.outputs[1].sparse()->values,
                            seen.outputs[2].sequence()->items[0].tensor(),
                            seen.outputs[3].optional()->value->tensor(),
                            seen.outputs[5].map()->values[0].tensor()};
  for (const Tensor* copy : copies) EXPECT_EQ(copy->elements<float>()[0], 1);
  for (const Tensor* copy :
       {&seen.outputs[1].sparse()->indices, &seen.outputs[5].map()->keys}) {
    EXPECT_EQ(copy->elements<int64_t>()[0], 1);
  }
  EXPECT_EQ(seen.outputs[1].sparse()->shape, sparse.shape);
  EXPECT_EQ(seen.outputs[2].sequence()->element, type);
  EXPECT_EQ(seen.outputs[4].kind(), ValueKind::kOptional);
  EXPECT_FALSE(seen.outputs[4].optional()->has_value());
  EXPECT_FALSE(seen.outputs[6].present());
  EXPECT_EQ(seen.output_names, std::vector<std::string>{"y"});
}

// Kills: a function that is forgotten where the last node has none.
TEST(RunTest, PlacementNamesEachExecutorOnceAndFunctions) {
  using Nodes = std::vector<PlacedNode>;
  const struct {
    Nodes placed;
    const char* placement;
    bool via_function;
  } rows[] = {
      {{}, "", false},
      {Nodes{{"a", "onednn"}, {"b", "adapter"}, {"c", "onednn"}},
       "onednn+adapter", false},
      {{{"a", "onednn", "Softmax"}, {"b", "onednn"}}, "onednn", true},
  };
  for (const auto& row : rows) {
    const Observation seen = Ran({.placed = row.placed});
    EXPECT_EQ(seen.placement, row.placement);
    EXPECT_EQ(seen.via_function, row.via_function) << row.placement;
  }
}

ExactAnswer Answer(const std::vector<double>& value,
                   const std::vector<double>& tail = {},
                   const std::vector<double>& bound = {}) {
  const std::vector<double> zeros(value.size(), 0);
  return {{Elements(value), Elements(tail.empty() ? zeros : tail),
           Elements(bound.empty() ? zeros : bound)},
          {}};
}

/// The metrics of the only output, y.
std::vector<OutputMetrics> MeasureY(
    const Value& got, const ExactAnswer& answer,
    std::span<const OutputMetrics> judged = {}) {
  return MeasureExact({{got}}, {{answer}}, {{std::string("y")}}, kOnnx,
                      "oracle", judged);
}

// The first field names the defect under which the row would be another.
TEST(MeasureExactTest, TakesTheDistanceFromTheUnroundedNumbers) {
  const double ulp = 0x1p-23;
  const ExactAnswer known = {{Floats({2}), {}, {}}, {}};
  const struct {
    const char* mutant;
    Value got;
    ExactAnswer answer;
    double max_ulp, share, bound;
    int64_t worst;
    const char *want_text, *got_text;
  } rows[] = {
      {"the answer is rounded first", Floats({1, 1}), Answer({1, 1 + ulp / 4}),
       0.25, 1, 0, 1, "1.0000000298023224", "1"},
      {"the tail is left out", Floats({1}), Answer({1}, {ulp / 8}), 0.125, 1, 0,
       0, "1", "1"},
      {"the tail counts twice", Floats({1}), Answer({1 + ulp}, {-ulp}), 0, 1, 0,
       -1, "", ""},
      {"the bound is left out", Floats({1}), Answer({1}, {}, {ulp / 16}), 0, 1,
       1.0 / 16, -1, "", ""},
      {"a bound that proves nothing proves a share", Floats({1}),
       Answer({1 + 8 * ulp}, {}, {100 * ulp}), 8, -1, 100, 0,
       "1.0000009536743164", "1"},
      {"half a unit leaves two neighbours", Floats({1}),
       Answer({1}, {}, {ulp / 2}), 0, -1, 0.5, -1, "", ""},
      {"an answer that is as it is has a bound", Floats({2}), known, 0, 1, -1,
       -1, "", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.mutant);
    const auto metrics = MeasureY(row.got, row.answer);
    ASSERT_EQ(metrics.size(), 1U);
    EXPECT_EQ(metrics[0].reference, "oracle");
    EXPECT_EQ(metrics[0].output_name, "y");
    EXPECT_EQ(metrics[0].max_ulp, row.max_ulp);
    EXPECT_EQ(metrics[0].share_correctly_rounded.value_or(-1), row.share);
    EXPECT_EQ(metrics[0].oracle_bound.value_or(-1), row.bound);
    EXPECT_EQ(metrics[0].worst_index, row.worst);
    EXPECT_EQ(metrics[0].worst_want, row.want_text);
    EXPECT_EQ(metrics[0].worst_got, row.got_text);
  }
}

TEST(MeasureExactTest, SaysWhatDoesNotFitAndLeavesOutWhatIsNotThere) {
  const std::vector<Value> got = {Floats({1, 2}), Int64s({3}), Floats({1})};
  std::vector<ExactAnswer> answers = {Answer({1, 2, 3}),
                                      {{Int64s({4}), {}, {}}, {}}};
  const auto metrics = MeasureExact(got, answers, {}, kOnnx, "oracle");
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].mismatch, "found float32[2], the oracle has [3]");
  EXPECT_FALSE(metrics[0].max_ulp.has_value());
  EXPECT_EQ(metrics[1].out_of_limit, 1);
  // Parts of another size are not read.
  answers[0] = {{Doubles({1, 2}), Doubles({0}), Doubles({0, 0})}, {}};
  EXPECT_NE(MeasureExact(got, answers, {}, kOnnx, "oracle")[0].mismatch, "");
  answers[1].value = Value();  // the oracle does not know
  EXPECT_EQ(MeasureExact(got, answers, {}, kOnnx, "oracle").size(), 1U);
}

TEST(MeasureExactTest, SequencesAndOptionalsAreMeasuredPartByPart) {
  const ValueType type = ValueType::OfTensor(DType::kFloat32, {});
  const Value one = Floats({1});
  const Value held = Optional{
      type, std::make_shared<const Value>(Sequence{type, {one, Floats({2})}})};
  const ValueType wide = ValueType::OfTensor(DType::kFloat64, {});
  ExactAnswer answer;
  answer.value =
      Optional{wide, std::make_shared<const Value>(Sequence{
                         wide, {Doubles({1}), Doubles({2 + 0x1p-23})}})};
  const auto metrics = MeasureY(held, answer);
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].output_name, "y[0]");
  EXPECT_EQ(metrics[0].max_ulp, 0);
  EXPECT_EQ(metrics[1].output_name, "y[1]");
  EXPECT_EQ(metrics[1].max_ulp, 0.5);
}

// Kills: items of a sequence that is none, or of one of another length.
TEST(MeasureExactTest, SequencesThatDoNotMatchAreSaidFirst) {
  const ValueType narrow = ValueType::OfTensor(DType::kFloat32, {});
  const ValueType wide = ValueType::OfTensor(DType::kFloat64, {});
  const Value one = Floats({1});
  const Value wanted = Doubles({1});
  const struct {
    Value got, want;
    bool matches = false;
  } rows[] = {
      {one, Sequence{wide, {wanted}}},
      {Sequence{narrow, {one}}, wanted},
      {Sequence{narrow, {one}}, Sequence{wide, {wanted, wanted}}},
      {Sequence{narrow, {one, one}}, Sequence{wide, {wanted}}},
      {Sequence{narrow, {}}, Sequence{wide, {wanted}}},
      {Sequence{narrow, {one}}, Sequence{wide, {}}},
      {Sequence{narrow, {}}, Sequence{narrow, {}}, true},
  };
  for (const auto& row : rows) {
    ExactAnswer answer;
    answer.value = row.want;
    const auto metrics =
        MeasureExact({{row.got}}, {{answer}}, {}, kOnnx, "oracle");
    ASSERT_FALSE(metrics.empty());
    EXPECT_EQ(metrics[0].output_name, "0");
    EXPECT_EQ(metrics[0].mismatch.empty(), row.matches) << metrics[0].mismatch;
  }
}

// Kills: an output without a place or a type; a limit of an exact case, or one
// that is not held.
TEST(MeasureExactTest, SaysWhichOutputAndHoldsItsLimit) {
  const std::vector<Value> got = {Floats({1}), Floats({1, 3})};
  const std::vector<ExactAnswer> answers = {Answer({1}), Answer({1, 2})};
  const std::vector<std::string> names = {"y"};
  for (const auto& [limit, out] :
       {std::pair(Within(0.5, 0), 0), std::pair(Within(0.25, 0.5), 0),
        std::pair(Within(0.25, 0.25), 1), std::pair(kExactly, 1)}) {
    const auto metrics = MeasureExact(got, answers, names, limit, "oracle");
    ASSERT_EQ(metrics.size(), 2U);
    EXPECT_EQ(metrics[0].output_index, 0);
    EXPECT_EQ(metrics[0].output_name, "y");
    EXPECT_EQ(metrics[1].output_index, 1);
    EXPECT_EQ(metrics[1].output_name, "1");
    EXPECT_EQ(metrics[1].dtype, "float32");
    EXPECT_EQ(metrics[1].shape, "[2]");
    EXPECT_EQ(metrics[1].n_elem, 2);
    EXPECT_EQ(metrics[1].out_of_limit, out);
  }
}

TEST(MeasureExactTest, UnitsAreThoseOfTheType) {
  ExactAnswer answer = Answer({1});
  answer.units = Doubles({8});
  const auto metrics = MeasureY(Floats({1 + 0x1p-21F}), answer);
  EXPECT_EQ(metrics[0].max_unit_err, 1);  // 4 ULP, 8 roundoffs of 8
}

// Kills: the exact numbers of other elements than those that a person looks at,
// or of another output.
TEST(MeasureExactTest, WorstElementsAreThoseThatWereJudged) {
  OutputMetrics other;
  other.output_name = "x";
  other.worst = {{0, "7", "7"}};
  OutputMetrics judged;
  judged.output_name = "y";
  judged.worst = {{2, "9", "3"}, {0, "2", "1"}};
  const std::vector<OutputMetrics> both = {other, judged};
  const auto metrics =
      MeasureY(Floats({1, 2, 3}), Answer({1.5, 2, 3.25}), both);
  ASSERT_EQ(metrics.at(0).worst.size(), 2U);
  EXPECT_EQ(metrics[0].worst[0].index, 2);
  EXPECT_EQ(metrics[0].worst[0].want, "3.25");
  EXPECT_EQ(metrics[0].worst[0].got, "3");
  EXPECT_EQ(metrics[0].worst[1].want, "1.5");
}

}  // namespace
}  // namespace assay::measure
