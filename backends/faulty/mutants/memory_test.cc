// SPDX-License-Identifier: Apache-2.0
//
// Mutants of memory and repetition do what they say; under a plain backend none
// of it is seen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "backends/faulty/faulty_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::faulty {
namespace {

constexpr char kNeg[] = "g (float[2] x) => (float[2] y) { y = Neg(x) }";

Tensor Pair(float a, float b) { return Floats({a, b}); }

/// y = -x, loaded under a mutant.
class Subject {
 public:
  explicit Subject(const std::string& mutant)
      : network_(*LoadWith(mutant, kNeg)) {}

  std::unique_ptr<Binding> Bind(const Value& x, const Value& y = {}) {
    auto binding = network_->Bind({&x, 1}, {&y, 1});
    EXPECT_TRUE(binding.ok()) << binding.status().ToString();
    return *std::move(binding);
  }
  Value Run(Binding& binding) {
    EXPECT_TRUE(network_->Forward(binding).ok());
    return binding.outputs()[0];
  }
  Value RunOn(const Value& x) {
    held_.push_back(Bind(x));
    return Run(*held_.back());
  }
  Network& network() { return *network_; }

 private:
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Binding>> held_;
};

/// A sign that something is amiss with a network under a mutant.
struct Sign {
  const char* mutant;
  std::function<bool(const std::string& mutant)> seen;
};

bool SeesOtherInputsInSecondRun(const std::string& mutant) {
  Subject subject(mutant);
  subject.RunOn(Pair(1, 2));
  return FloatsOf(subject.RunOn(Pair(3, 4))) != std::vector<float>{-3, -4};
}

bool SeesOtherResultInSecondForward(const std::string& mutant) {
  Subject subject(mutant);
  const auto binding = subject.Bind(Pair(1, 2));
  const auto first = FloatsOf(subject.Run(*binding));
  return FloatsOf(subject.Run(*binding)) != first;
}

bool SeesInputsChange(const std::string& mutant) {
  Subject subject(mutant);
  const Value x = Pair(1, 2);
  subject.RunOn(x);
  return FloatsOf(x) != std::vector<float>{1, 2};
}

bool SeesCallersMemoryWrong(const std::string& mutant) {
  Subject subject(mutant);
  const Value y = Pair(7, 7);
  const auto binding = subject.Bind(Pair(1, 2), y);
  subject.Run(*binding);
  return FloatsOf(y) != std::vector<float>{-1, -2};
}

/// Writes around the caller's two elements, which lie between guards.
bool SeesGuardsTouched(const std::string& mutant) {
  Subject subject(mutant);
  std::array<float, 4> memory = {5, 0, 0, 5};
  const Value y = *Tensor::Borrow(DType::kFloat32, {2}, &memory[1]);
  const auto binding = subject.Bind(Pair(1, 2), y);
  subject.Run(*binding);
  EXPECT_EQ(memory[1], -1);
  return memory[0] != 5 || memory[3] != 5;
}

bool SeesHeldOutputChange(const std::string& mutant) {
  Subject subject(mutant);
  const Value held = subject.RunOn(Pair(1, 2));
  subject.RunOn(Pair(3, 4));
  return FloatsOf(held) != std::vector<float>{-1, -2};
}

bool SeesRunsDiffer(const std::string& mutant) {
  Subject subject(mutant);
  const auto first = FloatsOf(subject.RunOn(Pair(1, 2)));
  for (int run = 0; run < 20; ++run) {
    if (FloatsOf(subject.RunOn(Pair(1, 2))) != first) return true;
  }
  return false;
}

bool SeesInputReadEarly(const std::string& mutant) {
  Subject subject(mutant);
  Tensor x = Pair(1, 2);
  const auto binding = subject.Bind(x);
  x.mutable_elements<float>()[0] = 9;
  return FloatsOf(subject.Run(*binding))[0] != -9;
}

template <class Make>
auto Accepts(Make make) {
  return [make](const std::string& mutant) {
    Subject subject(mutant);
    const std::vector<Value> inputs = make();
    return subject.network().Bind(inputs, {}).ok();
  };
}

const Sign kSigns[] = {
    {"first_run_shown_again", SeesOtherInputsInSecondRun},
    {"run_before_shown", SeesOtherInputsInSecondRun},
    {"first_inputs_kept", SeesOtherInputsInSecondRun},
    {"second_run_of_network", SeesOtherInputsInSecondRun},
    {"second_run_of_binding", SeesOtherResultInSecondForward},
    {"inputs_overwritten", SeesInputsChange},
    {"last_input_byte_cleared", SeesInputsChange},
    {"output_in_input_memory", SeesInputsChange},
    {"callers_memory_unwritten", SeesCallersMemoryWrong},
    {"callers_memory_added_to", SeesCallersMemoryWrong},
    {"writes_past_end", SeesGuardsTouched},
    {"writes_before_begin", SeesGuardsTouched},
    {"held_output_overwritten", SeesHeldOutputChange},
    {"last_bit_flips", SeesRunsDiffer},
    {"noise_below_tolerance", SeesRunsDiffer},
    {"inputs_read_at_bind", SeesInputReadEarly},
    {"any_shape_accepted", Accepts([] {
       return std::vector<Value>{*Pair(1, 2).Reshape({2, 1})};
     })},
    {"any_type_accepted", Accepts([] {
       return std::vector<Value>{*Tensor::Allocate(DType::kInt64, {2})};
     })},
    {"absent_input_accepted", Accepts([] { return std::vector<Value>(1); })},
    {"too_many_inputs_accepted",
     Accepts([] { return std::vector<Value>(2, Pair(1, 2)); })},
};

TEST(MemoryMutants, AreSeenByWhoLooksThere) {
  for (const Sign& sign : kSigns) {
    EXPECT_TRUE(sign.seen(sign.mutant)) << sign.mutant;
    EXPECT_FALSE(sign.seen("")) << sign.mutant;
  }
}

TEST(MemoryMutants, ShareOrSwapOutputs) {
  const char* const split =
      "g (float[4] x) => (float[2] a, float[2] b) "
      "{ a, b = Split<num_outputs = 2>(x) }";
  const auto outputs = [&](const char* mutant) {
    return *RunWith(mutant, split, {reference::F({4}, {1, 2, 3, 4})});
  };
  EXPECT_EQ(FloatsOf(outputs("outputs_share_memory")[0]),
            (std::vector<float>{3, 4}));
  EXPECT_EQ(FloatsOf(outputs("outputs_swapped")[1]),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(FloatsOf(outputs("")[0]), (std::vector<float>{1, 2}));
}

TEST(LenienceMutants, LoadWhatMustBeRefused) {
  const auto loads = [](const char* mutant, const char* graph,
                        const LoadOptions& options) {
    return LoadWith(mutant, graph, options).ok();
  };
  const char* const unknown =
      "g (float[2] x) => (float[2] y) { y = test.Nothing(x) }";
  const LoadOptions setting = {.settings = {{"no_such", "1"}}};
  const LoadOptions extra = {.extra_outputs = {"no_such"}};
  EXPECT_TRUE(loads("any_setting_accepted", kNeg, setting));
  EXPECT_TRUE(loads("any_extra_output_accepted", kNeg, extra));
  EXPECT_TRUE(loads("any_operator_accepted", unknown, {}));
  EXPECT_FALSE(loads("", kNeg, setting));
  EXPECT_FALSE(loads("", kNeg, extra));
  EXPECT_FALSE(loads("", unknown, {}));
}

}  // namespace
}  // namespace assay::faulty
