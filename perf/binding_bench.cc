// SPDX-License-Identifier: Apache-2.0
//
// The cost of the framework per Forward(Binding) of a one-node network, and per
// node of RunBackward(GradientBinding) of a chain of them, over calls of the
// same kernel's arithmetic on the same memory.
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
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
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

[[gnu::noinline]] void ReluBackward(const Tensor& x, const Tensor& dy,
                                    Tensor& dx) {
  std::ranges::transform(x.elements<float>(), dy.elements<float>(),
                         dx.mutable_elements<float>().begin(),
                         [](float v, float d) { return v < 0 ? 0 : d; });
}

class Family : public OperatorVisitor {
  Result<Kernel> Visit(const op::Relu& op, LoadContext&) override {
    return Kernel{
        [op](KernelContext& run) -> Status {
          const Tensor& x = run.input(op.x);
          ASSAY_ASSIGN_OR_RETURN(Tensor* const y,
                                 run.Output(op.y, x.dtype(), x.shape()));
          Relu(x, *y);
          return OkStatus();
        },
        [op](GradientContext& run) -> Status {
          const Tensor* const dy = run.cotangent(op.y);
          if (dy == nullptr || !run.wanted(op.x)) return OkStatus();
          ASSAY_ASSIGN_OR_RETURN(Tensor* const dx, run.GradientToWrite(op.x));
          ReluBackward(run.input(op.x), *dy, *dx);
          return OkStatus();
        }};
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

/// A chain of nodes with its gradients bound, and tensors for the direct calls:
/// each node reads and writes memory of its own, as in the network.
struct Chain {
  static constexpr int64_t kNodes = 16;

  Chain() {
    LoadOptions options;
    options.gradient_targets = {"v0"};
    std::string nodes;
    for (int64_t i = 0; i < kNodes; ++i) {
      nodes += StrCat("v", i + 1, " = Relu(v", i, ") ");
    }
    network = *OneKernel().Load(
        graph::ModelOfText(StrCat("g (float[1,4] v0) => (float[1,4] v", kNodes,
                                  ") { ", nodes, "}")),
        options);
    for (int64_t i = 0; i < 2 * kNodes + 1; ++i) {
      memory.push_back(*Tensor::Allocate(DType::kFloat32, {1, 4}));
    }
    const std::vector<Value> x = {*Tensor::Allocate(DType::kFloat32, {1, 4})};
    binding = *network->Bind(x, {});
    if (!network->Forward(*binding).ok()) std::abort();
    gradients = *network->differentiable()->BindBackward(
        *binding, x, options.gradient_targets, {});
  }

  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
  std::unique_ptr<GradientBinding> gradients;
  std::vector<Tensor> memory;
};

[[gnu::noinline]] void CallBackwardDirect(Chain& chain, int64_t nodes) {
  for (int64_t i = 0; i < nodes; i += Chain::kNodes) {
    for (size_t k = 0; k < 2 * Chain::kNodes; k += 2) {
      ReluBackward(chain.memory[k + 1], chain.memory[k], chain.memory[k + 2]);
    }
  }
}

[[gnu::noinline]] bool CallBackwardBound(Chain& chain, int64_t nodes) {
  Differentiable& differentiable = *chain.network->differentiable();
  bool ok = true;
  for (int64_t i = 0; i < nodes; i += Chain::kNodes) {
    ok = differentiable.RunBackward(*chain.gradients).ok() && ok;
  }
  return ok;
}

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

/// The medians of a call of each, and of the differences.
template <class Direct, class Framework>
void Compare(benchmark::State& state, int64_t batch, const Direct& direct,
             const Framework& framework) {
  std::vector<double> direct_ns, framework_ns, difference;
  const auto calls = static_cast<double>(batch);
  for (auto unused : state) {
    direct_ns.push_back(Nanoseconds(direct) / calls);
    framework_ns.push_back(Nanoseconds(framework) / calls);
    difference.push_back(framework_ns.back() - direct_ns.back());
  }
  state.counters["direct_ns"] = Median(direct_ns);
  state.counters["bound_ns"] = Median(framework_ns);
  state.counters["framework_ns"] = Median(difference);
}

void ForwardCost(benchmark::State& state) {
  constexpr int64_t kBatch = 1000;
  Pair pair;
  Compare(
      state, kBatch, [&] { CallDirect(pair, kBatch); },
      [&] { CallForward(pair, kBatch); });
}
BENCHMARK(ForwardCost);

/// Per node.
void BackwardCost(benchmark::State& state) {
  constexpr int64_t kBatch = 100 * Chain::kNodes;
  Chain chain;
  Compare(
      state, kBatch, [&] { CallBackwardDirect(chain, kBatch); },
      [&] { CallBackwardBound(chain, kBatch); });
}
BENCHMARK(BackwardCost);

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

/// With `--calls N`: that many calls, or nodes, of each and nothing else, to be
/// counted.
int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--calls") {
    const std::string_view text = argv[2];
    int64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    Pair pair;
    CallDirect(pair, count);
    Chain chain;
    CallBackwardDirect(chain, count);
    const bool forward = CallForward(pair, count);
    return CallBackwardBound(chain, count) && forward ? 0 : 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
