// SPDX-License-Identifier: Apache-2.0
//
// The behaviour of one network when it runs.

#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"

namespace assay::contract {
namespace {

constexpr char kAdd[] =
    "g (float[3] a, float[3] b) => (float[3] c) { c = Add(a, b) }";

/// w, declared first, is of z, which is declared last.
std::string Crossed(const ProbeOperator& probe) {
  return StrCat("g (float[2] x, float[2] z) => (float[2] w, float[2] y) { ",
                probe.Node("y", "x"), " ", probe.Node("w", "z"), " }");
}

/// n, n - 1, ... 1 with alternating signs.
std::vector<float> Ramp(int64_t n) {
  std::vector<float> elements(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    elements[static_cast<size_t>(i)] =
        static_cast<float>(i % 2 == 0 ? n - i : i - n);
  }
  return elements;
}

}  // namespace

Status RunFeedThenFetch(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, Crossed(probe)));
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
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(outputs[0], probe.Values({10, 20}), "output w"));
  return ExpectFloats(outputs[1], probe.Values({-1, 2}), "output y");
}

Status RunRepeat(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, Crossed(probe)));
  const std::vector<Value> inputs = {Floats({-1, 0.1F}), Floats({1e-3F, 3})};
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, {}));
  for (int i = 0; i < 4; ++i) {
    ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
    const auto run = StrCat("run ", i + 1);
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(binding->outputs()[0], probe.Values({1e-3F, 3}), run));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(binding->outputs()[1], probe.Values({-1, 0.1F}), run));
  }
  return OkStatus();
}

Status RunInputsKept(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.TwoNodes()));
  const std::vector<Value> inputs = {Floats({1, -2, 3}), Floats({-4, 5, 6})};
  ASSAY_RETURN_IF_ERROR(RunOnce(*network, inputs).status());
  ASSAY_RETURN_IF_ERROR(ExpectFloats(inputs[0], {1, -2, 3}, "input a"));
  return ExpectFloats(inputs[1], {-4, 5, 6}, "input b");
}

Status RunChangedInput(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.TwoNodes()));
  std::vector<Value> inputs = {Floats({1, 2, 3}), Floats({10, 20, 30})};
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(
      binding->outputs()[1], probe.Values({10, 20, 30}), "the first run"));
  inputs[1].mutable_tensor()->mutable_elements<float>()[2] = -3;
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  return ExpectFloats(binding->outputs()[1], probe.Values({10, 20, -3}),
                      "a run after an input was changed");
}

Status RunCallerOutput(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model("[3]")));
  ASSAY_ASSIGN_OR_RETURN(const Fenced fenced, FencedFloats(3, -7));
  const std::span<float> memory(fenced.memory.get(), 5);
  const Tensor& mine = fenced.tensor;
  const std::vector<Value> inputs = {Floats({1, 2, 3})};
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         network->Bind(inputs, std::vector<Value>{mine}));
  for (int i = 0; i < 2; ++i) {
    ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(mine, probe.Values({1, 2, 3}), "the caller's memory"));
    // After each: twice may undo what once has done.
    if (memory.front() != -7 || memory.back() != -7) {
      return Broken("the memory beside the output was written to");
    }
    memory[2] = -7;
  }
  const Tensor* output = binding->outputs()[0].tensor();
  if (output == nullptr || output->data() != mine.data()) {
    return Broken("outputs() names other memory than the caller's");
  }
  return OkStatus();
}

Status RunKeptOutput(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  Value x = Floats({1, 2});
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         network->Bind(std::vector<Value>{x}, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  const Value kept = binding->outputs()[0];
  x.mutable_tensor()->mutable_elements<float>()[0] = 5;
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(kept, probe.Values({1, 2}), "the kept output"));
  return ExpectFloats(binding->outputs()[0], probe.Values({5, 2}),
                      "the second run");
}

Status RunTwoBindings(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  ASSAY_ASSIGN_OR_RETURN(const auto one,
                         network->Bind(std::vector<Value>{Floats({1, 2})}, {}));
  ASSAY_ASSIGN_OR_RETURN(const auto two,
                         network->Bind(std::vector<Value>{Floats({3, 4})}, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *one));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *two));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(one->outputs()[0], probe.Values({1, 2}),
                                     "the first binding"));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(two->outputs()[0], probe.Values({3, 4}),
                                     "the second binding"));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *one));
  return ExpectFloats(two->outputs()[0], probe.Values({3, 4}),
                      "the second binding, once the first has run again");
}

Status RunInitializer(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         Load(backend, probe.WithInitializer()));
  if (network->inputs().size() != 1) {
    return Broken("found ", network->inputs().size(), " inputs, wanted x only");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({3, 4})}));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(y[0], probe.Values({3, 4}), "the output of x"));
  return ExpectFloats(y[1], probe.Values({1, 2}), "the output of w");
}

// "It is an error if any of the index values are out of bounds": Gather.
Status RunIndexOutside(Backend& backend, const ProbeOperator& /*probe*/) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr float kBeside = 7654321;
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend,
           "g (float[4] x, int64[2] i) => (float[2] y) { y = Gather(x, i) }"));
  ASSAY_ASSIGN_OR_RETURN(const auto memory,
                         SharedFloats({kBeside, 1, 2, 3, 4, kBeside}));
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor x, Tensor::Borrow(DType::kFloat32, {4}, memory.get() + 1));
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

Status RunEmpty(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         Load(backend, probe.Model("[0,3]")));
  ASSAY_ASSIGN_OR_RETURN(const auto y,
                         RunOnce(*network, {Floats(Shape{0, 3}, {})}));
  if (y[0].tensor()->shape() != Shape{0, 3}) {
    return Broken("found ", y[0].tensor()->Signature(), ", wanted [0,3]");
  }
  return ExpectFloats(y[0], {}, "no elements");
}

Status RunOneElement(Backend& backend, const ProbeOperator& probe) {
  struct Row {
    const char* extents;
    Shape shape;
  };
  for (const Row& row : {Row{"", Shape{}}, Row{"[1]", Shape{1}},
                         Row{"[1,1,1]", Shape{1, 1, 1}}}) {
    ASSAY_ASSIGN_OR_RETURN(const auto network,
                           Load(backend, probe.Model(row.extents)));
    ASSAY_ASSIGN_OR_RETURN(const auto y,
                           RunOnce(*network, {Floats(row.shape, {3})}));
    if (y[0].tensor()->shape() != row.shape) {
      return Broken("found ", y[0].tensor()->Signature(), ", wanted ",
                    row.shape.ToString());
    }
    ASSAY_RETURN_IF_ERROR(ExpectFloats(
        y[0], probe.Values({3}), StrCat("a shape of ", row.shape.ToString())));
  }
  return OkStatus();
}

Status RunOddSizes(Backend& backend, const ProbeOperator& probe) {
  std::vector<int64_t> extents(67);
  std::iota(extents.begin(), extents.end(), 1);
  extents.push_back(1021);
  for (const int64_t n : extents) {
    ASSAY_ASSIGN_OR_RETURN(const auto network,
                           Load(backend, probe.Model(StrCat("[", n, "]"))));
    ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats(Ramp(n))}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(y[0], probe.Values(Ramp(n)), StrCat("an extent of ", n)));
  }
  return OkStatus();
}

Status RunSymbolicExtent(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model("[N]")));
  for (const int64_t n : {4, 1, 9, 4}) {
    ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats(Ramp(n))}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(y[0], probe.Values(Ramp(n)), StrCat("N = ", n)));
  }
  return OkStatus();
}

Status RunSpecialValues(Backend& backend, const ProbeOperator& /*probe*/) {
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

Status RunUnaligned(Backend& backend, const ProbeOperator& probe) {
  constexpr int64_t kExtent = 19;
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend, probe.TwoNodes(StrCat("[", kExtent, "]"))));
  const std::vector<float> ones(kExtent, 1);
  const std::vector<float> twos(kExtent, 2);
  for (size_t offset = 0; offset < 4; ++offset) {
    std::vector<float> a(kExtent + 3, 1);
    std::vector<float> b(kExtent + 3, 2);
    std::vector<float> c(kExtent + 3, -7);
    std::vector<float> d(kExtent + 3, -7);
    const auto view = [&](std::vector<float>& memory, size_t begin) {
      return *Tensor::Borrow(DType::kFloat32, {kExtent}, memory.data() + begin);
    };
    const std::vector<Value> inputs = {view(a, offset), view(b, 3 - offset)};
    const std::vector<Value> outputs = {view(c, offset), view(d, 3 - offset)};
    ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, outputs));
    ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
    const std::string what = StrCat("addresses ", offset, " elements off");
    ASSAY_RETURN_IF_ERROR(ExpectFloats(outputs[0], probe.Values(ones), what));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(outputs[1], probe.Values(twos), what));
  }
  return OkStatus();
}

}  // namespace assay::contract
