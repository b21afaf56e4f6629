// SPDX-License-Identifier: Apache-2.0
//
// The behaviour of one network when it runs.

#include <cmath>
#include <limits>
#include <numeric>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"

namespace assay::contract {
namespace {

constexpr char kAnyRelu[] = "g (float[N] x) => (float[N] y) { y = Relu(x) }";

std::string AddOf(int64_t n) {
  return StrCat("g (float[", n, "] a, float[", n, "] b) => (float[", n,
                "] c) { c = Add(a, b) }");
}

constexpr char kTwoOutputs[] =
    "g (float[2] x, float[2] z) => (float[2] w, float[2] y) "
    "{ y = Relu(x) w = Add(x, z) }";

/// n, n - 1, ... 1 with alternating signs.
std::vector<float> Ramp(int64_t n) {
  std::vector<float> elements(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    elements[static_cast<size_t>(i)] =
        static_cast<float>(i % 2 == 0 ? n - i : i - n);
  }
  return elements;
}

std::vector<float> ReluOf(std::vector<float> elements) {
  for (float& x : elements) x = x > 0 ? x : 0;
  return elements;
}

}  // namespace

Status RunFeedThenFetch(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kTwoOutputs));
  if (network->inputs().size() != 2 || network->inputs()[0].name != "x" ||
      network->outputs().size() != 2 || network->outputs()[0].name != "w") {
    return Broken("the network declares other names than the graph");
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto outputs,
      Run(*network, {{"z", Floats({10, 20})}, {"x", Floats({-1, 2})}}));
  if (outputs.size() != 2) {
    return Broken("found ", outputs.size(), " outputs, wanted 2");
  }
  ASSAY_RETURN_IF_ERROR(ExpectFloats(outputs[0], {9, 22}, "output w"));
  return ExpectFloats(outputs[1], {0, 2}, "output y");
}

Status RunRepeat(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kTwoOutputs));
  const std::vector<Value> inputs = {Floats({-1, 0.1F}), Floats({1e-3F, 3})};
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, {}));
  for (int i = 0; i < 4; ++i) {
    ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
    const auto run = StrCat("run ", i + 1);
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(binding->outputs()[0], {-1 + 1e-3F, 0.1F + 3}, run));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(binding->outputs()[1], {0, 0.1F}, run));
  }
  return OkStatus();
}

Status RunInputsKept(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kAdd));
  const std::vector<Value> inputs = {Floats({1, -2, 3}), Floats({-4, 5, 6})};
  ASSAY_RETURN_IF_ERROR(RunOnce(*network, inputs).status());
  ASSAY_RETURN_IF_ERROR(ExpectFloats(inputs[0], {1, -2, 3}, "input a"));
  return ExpectFloats(inputs[1], {-4, 5, 6}, "input b");
}

Status RunChangedInput(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kAdd));
  std::vector<Value> inputs = {Floats({1, 2, 3}), Floats({10, 20, 30})};
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(binding->outputs()[0], {11, 22, 33}, "the first run"));
  inputs[1].mutable_tensor()->mutable_elements<float>()[2] = -3;
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  return ExpectFloats(binding->outputs()[0], {11, 22, 0},
                      "a run after an input was changed");
}

Status RunCallerOutput(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kAdd));
  std::vector<float> memory = {-7, -7, -7, -7, -7};
  ASSAY_ASSIGN_OR_RETURN(const Tensor mine, Tensor::Borrow(DType::kFloat32, {3},
                                                           memory.data() + 1));
  const std::vector<Value> inputs = {Floats({1, 2, 3}), Floats({1, 1, 1})};
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         network->Bind(inputs, std::vector<Value>{mine}));
  for (int i = 0; i < 2; ++i) {
    ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(mine, {2, 3, 4}, "the caller's memory"));
    memory[2] = -7;
  }
  if (memory.front() != -7 || memory.back() != -7) {
    return Broken("the memory beside the output was written to");
  }
  const Tensor* output = binding->outputs()[0].tensor();
  if (output == nullptr || output->data() != mine.data()) {
    return Broken("outputs() names other memory than the caller's");
  }
  return OkStatus();
}

Status RunKeptOutput(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kRelu));
  Value x = Floats({1, 2});
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         network->Bind(std::vector<Value>{x}, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  const Value kept = binding->outputs()[0];
  x.mutable_tensor()->mutable_elements<float>()[0] = 5;
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(kept, {1, 2}, "the kept output"));
  return ExpectFloats(binding->outputs()[0], {5, 2}, "the second run");
}

Status RunTwoBindings(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kRelu));
  ASSAY_ASSIGN_OR_RETURN(const auto one,
                         network->Bind(std::vector<Value>{Floats({1, 2})}, {}));
  ASSAY_ASSIGN_OR_RETURN(const auto two,
                         network->Bind(std::vector<Value>{Floats({3, 4})}, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *one));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *two));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(one->outputs()[0], {1, 2}, "the first binding"));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(two->outputs()[0], {3, 4}, "the second binding"));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *one));
  return ExpectFloats(two->outputs()[0], {3, 4},
                      "the second binding, once the first has run again");
}

Status RunInitializer(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend,
           "g (float[2] x) => (float[2] y) <float[2] w = {0.5, -2}> "
           "{ y = Add(x, w) }"));
  if (network->inputs().size() != 1) {
    return Broken("found ", network->inputs().size(), " inputs, wanted x only");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({1, 2})}));
  return ExpectFloats(y[0], {1.5F, 0}, "x + w");
}

// "It is an error if any of the index values are out of bounds": Gather.
Status RunIndexOutside(Backend& backend) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr float kBeside = 7654321;
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend,
           "g (float[4] x, int64[2] i) => (float[2] y) { y = Gather(x, i) }"));
  std::vector<float> memory = {kBeside, 1, 2, 3, 4, kBeside};
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor x, Tensor::Borrow(DType::kFloat32, {4}, memory.data() + 1));
  const auto indices = [](int64_t first, int64_t second) {
    return *Tensor::Of<int64_t>({2}, {{first, second}});
  };
  for (const int64_t index : {int64_t{4}, int64_t{-5}, kMost, -kMost - 1}) {
    const Value y = Floats({0, 0});
    const std::vector<Value> inputs = {x, indices(0, index)};
    const auto binding = network->Bind(inputs, std::vector<Value>{y});
    const Status run =
        binding.ok() ? RunBound(*network, **binding) : binding.status();
    ASSAY_RETURN_IF_ERROR(
        ExpectRefused(run, StrCat("index ", index, " of 4 elements")));
    if (y.tensor()->elements<float>()[1] == kBeside) {
      return Broken("index ", index, " gave what lies beside the 4 elements");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {x, indices(-4, 3)}));
  return ExpectFloats(y[0], {1, 4}, "the first and the last");
}

Status RunEmpty(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend, "g (float[0,3] x) => (float[0,3] y) { y = Relu(x) }"));
  ASSAY_ASSIGN_OR_RETURN(const auto y,
                         RunOnce(*network, {Floats(Shape{0, 3}, {})}));
  if (y[0].tensor()->shape() != Shape{0, 3}) {
    return Broken("found ", y[0].tensor()->Signature(), ", wanted [0,3]");
  }
  return ExpectFloats(y[0], {}, "no elements");
}

Status RunOneElement(Backend& backend) {
  struct Row {
    const char* text;
    Shape shape;
  };
  for (const Row& row :
       {Row{"g (float x) => (float y) { y = Relu(x) }", Shape{}},
        Row{"g (float[1] x) => (float[1] y) { y = Relu(x) }", Shape{1}},
        Row{"g (float[1,1,1] x) => (float[1,1,1] y) { y = Relu(x) }",
            Shape{1, 1, 1}}}) {
    ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, row.text));
    ASSAY_ASSIGN_OR_RETURN(const auto y,
                           RunOnce(*network, {Floats(row.shape, {3})}));
    if (y[0].tensor()->shape() != row.shape) {
      return Broken("found ", y[0].tensor()->Signature(), ", wanted ",
                    row.shape.ToString());
    }
    ASSAY_RETURN_IF_ERROR(ExpectFloats(y[0], {3}, row.text));
  }
  return OkStatus();
}

Status RunOddSizes(Backend& backend) {
  std::vector<int64_t> extents(67);
  std::iota(extents.begin(), extents.end(), 1);
  extents.push_back(1021);
  for (const int64_t n : extents) {
    const std::vector<float> a = Ramp(n);
    std::vector<float> b(a.size(), 0.5F);
    std::vector<float> want = a;
    for (float& x : want) x += 0.5F;
    ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, AddOf(n)));
    ASSAY_ASSIGN_OR_RETURN(const auto c,
                           RunOnce(*network, {Floats(a), Floats(b)}));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(c[0], want, StrCat("an extent of ", n)));
  }
  return OkStatus();
}

Status RunSymbolicExtent(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kAnyRelu));
  for (const int64_t n : {4, 1, 9, 4}) {
    ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats(Ramp(n))}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(y[0], ReluOf(Ramp(n)), StrCat("N = ", n)));
  }
  return OkStatus();
}

Status RunSpecialValues(Backend& backend) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kAdd));
  ASSAY_ASSIGN_OR_RETURN(auto c, RunOnce(*network, {Floats({kNan, kInf, kInf}),
                                                    Floats({1, 1, -kInf})}));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(c[0], {kNan, kInf, kNan}, "nan+1, inf+1, inf-inf"));
  ASSAY_ASSIGN_OR_RETURN(
      c, RunOnce(*network, {Floats({-0.F, -0.F, 1}), Floats({-0.F, 0, -1})}));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(c[0], {0, 0, 0}, "sums that are zero"));
  const auto zeros = c[0].tensor()->elements<float>();
  if (!std::signbit(zeros[0]) || std::signbit(zeros[1]) ||
      std::signbit(zeros[2])) {
    return Broken("found a zero of the wrong sign, wanted -0, +0, +0");
  }
  return OkStatus();
}

Status RunUnaligned(Backend& backend) {
  constexpr int64_t kExtent = 19;
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, AddOf(kExtent)));
  for (size_t offset = 0; offset < 4; ++offset) {
    std::vector<float> a(kExtent + offset, 1);
    std::vector<float> b(kExtent + 3, 2);
    std::vector<float> c(kExtent + 3, -7);
    const auto view = [&](std::vector<float>& memory, size_t begin) {
      return *Tensor::Borrow(DType::kFloat32, {kExtent}, memory.data() + begin);
    };
    const std::vector<Value> inputs = {view(a, offset), view(b, 3 - offset)};
    const std::vector<Value> outputs = {view(c, offset)};
    ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, outputs));
    ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(
        outputs[0], std::vector<float>(static_cast<size_t>(kExtent), 3),
        StrCat("addresses ", offset, " elements off")));
  }
  return OkStatus();
}

}  // namespace assay::contract
