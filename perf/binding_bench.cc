// SPDX-License-Identifier: Apache-2.0
//
// The cost of the framework per Forward(Binding) of a one-node network, over a
// call of the same kernel's arithmetic on the same memory.
//
//   build/bin/binding_bench                       # ns, paired in one process
//   perf/binding_instructions.sh build/bin/binding_bench     # under callgrind
//
// The two are run in turn, in short batches, so that both see the same machine;
// the counter is the median of the differences of a pair.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/eager/eager.h"
#include "framework/graph/model_text.h"

namespace {

using namespace assay;

/// The work itself: small, so that what is around it shows.
[[gnu::noinline]] void Relu(const Tensor& x, Tensor& y) {
  std::ranges::transform(x.elements<float>(),
                         y.mutable_elements<float>().begin(),
                         [](float v) { return v < 0 ? 0 : v; });
}

class Family : public OperatorVisitor {
  Result<Kernel> Visit(const op::Relu& op, LoadContext&) override {
    return Kernel{[op](KernelContext& run) -> Status {
                    const Tensor& x = run.input(op.x);
                    ASSAY_ASSIGN_OR_RETURN(
                        Tensor* const y,
                        run.Output(op.y, x.dtype(), x.shape()));
                    Relu(x, *y);
                    return OkStatus();
                  },
                  {},
                  {}};
  }
};

class OneKernel : public EagerBackend {
 public:
  OneKernel() { AddFamily(std::make_unique<Family>()); }
  std::string_view name() const override { return "one_kernel"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }
};

/// The network, its binding, and the same tensors for the direct call.
struct Pair {
  Pair()
      : network(*OneKernel().Load(
            graph::ModelOfText(
                "g (float[1,4] x) => (float[1,4] y) { y = Relu(x) }"),
            {})),
        x(*Tensor::Allocate(DType::kFloat32, {1, 4})),
        y(*Tensor::Allocate(DType::kFloat32, {1, 4})),
        binding(*network->Bind(std::vector<Value>{x}, {})) {}

  std::unique_ptr<Network> network;
  Tensor x;
  Tensor y;
  std::unique_ptr<Binding> binding;
};

[[gnu::noinline]] void CallDirect(Pair& pair, int64_t count) {
  for (int64_t i = 0; i < count; ++i) Relu(pair.x, pair.y);
}

[[gnu::noinline]] bool CallForward(Pair& pair, int64_t count) {
  bool ok = true;
  for (int64_t i = 0; i < count; ++i) {
    ok = pair.network->Forward(*pair.binding).ok() && ok;
  }
  return ok;
}

template <class F>
double Nanoseconds(const F& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> samples) {
  const auto middle = samples.begin() + std::ssize(samples) / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

void FrameworkCost(benchmark::State& state) {
  constexpr int64_t kBatch = 1000;
  Pair pair;
  std::vector<double> direct, forward, difference;
  for (auto unused : state) {
    direct.push_back(Nanoseconds([&] { CallDirect(pair, kBatch); }) / kBatch);
    forward.push_back(Nanoseconds([&] { CallForward(pair, kBatch); }) / kBatch);
    difference.push_back(forward.back() - direct.back());
  }
  state.counters["direct_ns"] = Median(direct);
  state.counters["forward_ns"] = Median(forward);
  state.counters["framework_ns"] = Median(difference);
}
BENCHMARK(FrameworkCost);

void Bind(benchmark::State& state) {
  Pair pair;
  const std::vector<Value> inputs = {pair.x};
  for (auto unused : state) {
    benchmark::DoNotOptimize(pair.network->Bind(inputs, {}));
  }
}
BENCHMARK(Bind);

void LoadOneNode(benchmark::State& state) {
  OneKernel backend;
  const auto model =
      graph::ModelOfText("g (float[1,4] x) => (float[1,4] y) { y = Relu(x) }");
  for (auto unused : state) benchmark::DoNotOptimize(backend.Load(model, {}));
}
BENCHMARK(LoadOneNode);

}  // namespace

/// With `--calls N`: that many calls of each and nothing else, to be counted.
int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--calls") {
    const std::string_view text = argv[2];
    int64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    Pair pair;
    CallDirect(pair, count);
    return CallForward(pair, count) ? 0 : 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
