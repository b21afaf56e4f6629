// SPDX-License-Identifier: Apache-2.0
//
// The cost of the framework and the adapter per Forward(Binding) of a one-node
// network of the backend onednn, over dnnl_primitive_execute of the same
// primitive on the same memory: the cheapest call that the library has, its
// arguments made once.
//
//   OMP_NUM_THREADS=1 build/bin/onednn_bench build/lib/assay/onednn.so
//
// Both are run in turn, in short blocks of one process, the one that begins
// exchanged from pair to pair. A row is the median of each, the median of the
// paired differences in ns a call, and the interval that holds the latter
// median with 95 %, from the order statistics of a binomial. `self` pairs the
// direct call with itself: what the procedure alone would report.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dnnl.hpp"
#include "framework/backend/registry.h"
#include "framework/graph/model_text.h"

namespace {

using namespace assay;
using dnnl::memory;

constexpr int kBlock = 2000;
constexpr int kPairs = 500;

/// A call of the primitive with everything made beforehand.
class Direct {
 public:
  Direct(const dnnl::engine& engine, const dnnl::primitive& primitive,
         std::vector<std::pair<int, memory>> arguments)
      : stream_(engine),
        primitive_(primitive),
        arguments_(std::move(arguments)) {
    for (const auto& [name, tensor] : arguments_) {
      given_.push_back({name, tensor.get()});
    }
  }
  /// Works on these, one for each argument.
  void Bind(const std::vector<const std::byte*>& data) {
    for (size_t i = 0; i < data.size(); ++i) {
      arguments_[i].second.set_data_handle(const_cast<std::byte*>(data[i]));
    }
  }
  bool Run() {
    return dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                  static_cast<int>(given_.size()),
                                  given_.data()) == dnnl_success;
  }

 private:
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<std::pair<int, memory>> arguments_;
  std::vector<dnnl_exec_arg_t> given_;
};

memory::desc Vector(int64_t count) {
  return {{count}, memory::data_type::f32, memory::dims{1}};
}

dnnl::primitive_attr Attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

Direct DirectRelu(const dnnl::engine& engine, int64_t count) {
  const memory::desc flat = Vector(count);
  const dnnl::eltwise_forward::primitive_desc desc(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu,
      flat, flat, 0.0F, 0.0F, Attr());
  return {engine,
          dnnl::eltwise_forward(desc),
          {{DNNL_ARG_SRC, {flat, engine}}, {DNNL_ARG_DST, {flat, engine}}}};
}

Direct DirectAdd(const dnnl::engine& engine, int64_t count) {
  const memory::desc flat = Vector(count);
  const dnnl::binary::primitive_desc desc(engine, dnnl::algorithm::binary_add,
                                          flat, flat, flat, Attr());
  return {engine,
          dnnl::binary(desc),
          {{DNNL_ARG_SRC_0, {flat, engine}},
           {DNNL_ARG_SRC_1, {flat, engine}},
           {DNNL_ARG_DST, {flat, engine}}}};
}

double Nanoseconds(const std::function<bool()>& block) {
  const auto start = std::chrono::steady_clock::now();
  if (!block()) {
    std::fputs("a call failed\n", stderr);
    std::exit(1);
  }
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - start).count() / kBlock;
}

struct Spread {
  double median = 0, low = 0, high = 0;
};

/// The median and its 95 % interval: order statistics n/2 -+ 1.96 sqrt(n)/2.
Spread SpreadOf(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto count = static_cast<double>(samples.size());
  const double half = 1.96 * std::sqrt(count) / 2;
  const auto at = [&](double place) {
    return samples[static_cast<size_t>(std::clamp(place, 0.0, count - 1))];
  };
  return {at(count / 2), at(std::floor(count / 2 - half)),
          at(std::ceil(count / 2 + half))};
}

void Report(const std::string& name, const std::function<bool()>& direct,
            const std::function<bool()>& other) {
  std::vector<double> direct_ns, other_ns, difference;
  for (int pair = -20; pair < kPairs; ++pair) {
    double first = 0;
    double second = 0;
    if (pair % 2 == 0) {
      first = Nanoseconds(direct);
      second = Nanoseconds(other);
    } else {
      second = Nanoseconds(other);
      first = Nanoseconds(direct);
    }
    if (pair < 0) continue;  // warming up
    direct_ns.push_back(first);
    other_ns.push_back(second);
    difference.push_back(second - first);
  }
  const Spread cost = SpreadOf(difference);
  std::printf("%-12s %9.1f %9.1f %9.1f  [%.1f, %.1f]\n", name.c_str(),
              SpreadOf(direct_ns).median, SpreadOf(other_ns).median,
              cost.median, cost.low, cost.high);
}

/// Blocks of both ways to run one node over `count` elements.
void Compare(Backend& backend, const std::string& name,
             const std::string& graph, Direct direct, int64_t count,
             size_t inputs) {
  std::shared_ptr<Network> network =
      *backend.Load(graph::ModelOfText(graph), {});
  std::vector<Value> values;
  for (size_t i = 0; i < inputs; ++i) {
    values.emplace_back(*Tensor::Allocate(DType::kFloat32, {count}));
  }
  const std::shared_ptr<Binding> binding = *network->Bind(values, {});
  if (!network->Forward(*binding).ok()) return;  // allocates the output
  std::vector<const std::byte*> data;
  for (const Value& value : values) data.push_back(value.tensor()->data());
  data.push_back(binding->outputs()[0].tensor()->data());
  direct.Bind(data);
  const auto run_direct = [&direct] {
    bool ok = true;
    for (int i = 0; i < kBlock; ++i) ok = direct.Run() && ok;
    return ok;
  };
  const auto run_forward = [&network, &binding] {
    bool ok = true;
    for (int i = 0; i < kBlock; ++i) {
      ok = network->Forward(*binding).ok() && ok;
    }
    return ok;
  };
  Report(name + " self", run_direct, run_direct);
  Report(name, run_direct, run_forward);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: onednn_bench MODULE\n", stderr);
    return 2;
  }
  const auto names = LoadBackendModule(argv[1]);
  if (!names.ok()) {
    std::fprintf(stderr, "%s\n", names.status().ToString().c_str());
    return 2;
  }
  const auto backend = *MakeBackend(names->front());
  if (const auto probe = backend->Inspect(); !probe.ok()) {
    std::fprintf(stderr, "%s\n", probe.status().ToString().c_str());
    return 77;
  }
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::printf("%-12s %9s %9s %9s  %s\n", "ns a call", "direct", "forward",
              "cost", "95 % interval");
  constexpr int64_t kCount = 4;
  Compare(*backend, "Relu", "g (float[4] x) => (float[4] y) { y = Relu(x) }",
          DirectRelu(engine, kCount), kCount, 1);
  Compare(*backend, "Add",
          "g (float[4] a, float[4] b) => (float[4] y) { y = Add(a, b) }",
          DirectAdd(engine, kCount), kCount, 2);
  return 0;
}
