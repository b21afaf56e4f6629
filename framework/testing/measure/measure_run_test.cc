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
  struct Row {
    Deeds deeds;
    Stage stage;
  };
  const std::vector<Row> rows = {
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
  for (size_t i = 0; i < rows.size(); ++i) {
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
  const struct {
    std::vector<PlacedNode> placed;
    const char* placement;
    bool via_function;
  } rows[] = {
      {{}, "", false},
      {{{"a", "onednn"}, {"b", "adapter"}, {"c", "onednn"}},
       "onednn+adapter",
       false},
      {{{"a", "onednn", "Softmax"}, {"b", "onednn"}}, "onednn", true},
  };
  for (const auto& row : rows) {
    const Observation seen = Ran({.placed = row.placed});
    EXPECT_EQ(seen.placement, row.placement);
    EXPECT_EQ(seen.via_function, row.via_function) << row.placement;
  }
}

}  // namespace
}  // namespace assay::measure
