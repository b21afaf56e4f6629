// SPDX-License-Identifier: Apache-2.0
//
// The cost of comparing an output: of a small case, which is paid 2,000 times a
// run and belongs to the 100 us a case of the harness, and per element of a
// large one (wanted: 20 ns at most). `differing` is the share of elements that
// are not bitwise equal, in per cent; 0 takes the short cut.
//
//   compare_bench --benchmark_filter=Float32

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "framework/testing/measure/measure.h"

namespace assay::perf {
namespace {

// Patterns near `want`: up to 8 steps away, 4,096 for wide types, so that
// quantiles have something to select from.
template <class Bits>
Tensor Disturbed(const Tensor& want, int64_t percent) {
  Tensor got = *want.Clone();
  const uint64_t steps = sizeof(Bits) > 2 ? 4096 : 8;
  std::mt19937_64 random(7);
  for (Bits& bits : got.mutable_elements<Bits>()) {
    if (static_cast<int64_t>(random() % 100) < percent) {
      bits = static_cast<Bits>(bits + 1 + random() % steps);
    }
  }
  return got;
}

// Finite patterns of both signs whose exponents are not at the ends.
template <class Bits>
Tensor Filled(DType type, int64_t count) {
  Tensor tensor = *Tensor::Allocate(type, {count});
  std::mt19937_64 random(1);
  const int width = BitsOf(type);
  for (Bits& bits : tensor.mutable_elements<Bits>()) {
    const uint64_t sign = random() % 2 << (width - 1);
    const uint64_t quarter = uint64_t{1} << (width - 2);
    bits = static_cast<Bits>(sign | (quarter / 2 + random() % quarter));
  }
  return tensor;
}

template <class Bits, DType kType>
void MeasureOutput(benchmark::State& state) {
  const Tensor want = Filled<Bits>(kType, state.range(0));
  const std::vector<Value> wanted = {want};
  const std::vector<Value> got = {Disturbed<Bits>(want, state.range(1))};
  const std::vector<std::string> names = {"y"};
  const cases::Limit limit = {
      .rtol = 1e-3, .atol = 1e-7, .source = "onnx runner: default"};
  const measure::Observation seen;
  for (auto _ : state) {
    const auto metrics = measure::Measure(got, wanted, names, limit);
    benchmark::DoNotOptimize(measure::Judge(seen, metrics));
  }
  state.counters["per_element"] =
      benchmark::Counter(static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"elements", "differing"});
  for (const int64_t elements : {60, 1000, 1000000}) {
    for (const int64_t differing : {0, 20, 100}) {
      bench->Args({elements, differing});
    }
  }
}

// NOLINTBEGIN(cert-err58-cpp): Google Benchmark registers statically.
BENCHMARK(MeasureOutput<uint32_t, DType::kFloat32>)
    ->Name("Float32")
    ->Apply(Sizes);
BENCHMARK(MeasureOutput<uint64_t, DType::kFloat64>)
    ->Name("Float64")
    ->Apply(Sizes);
BENCHMARK(MeasureOutput<uint16_t, DType::kFloat16>)
    ->Name("Float16")
    ->Apply(Sizes);
BENCHMARK(MeasureOutput<uint8_t, DType::kFloat8E4M3FN>)
    ->Name("Float8E4M3FN")
    ->Apply(Sizes);
BENCHMARK(MeasureOutput<uint64_t, DType::kInt64>)->Name("Int64")->Apply(Sizes);
// NOLINTEND(cert-err58-cpp)

}  // namespace
}  // namespace assay::perf

BENCHMARK_MAIN();
