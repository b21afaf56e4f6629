// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/timed.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/backend/network_interfaces.h"

namespace assay::host {
namespace {

using Clock = std::chrono::steady_clock;

void SetAllBits(std::span<const Value> memory) {
  for (const Value& value : memory) {
    if (value.tensor() == nullptr) continue;
    Tensor tensor = *value.tensor();
    if (tensor.byte_size() == 0) continue;
    std::fill_n(tensor.mutable_data(), tensor.byte_size(), std::byte{0xff});
  }
}

/// Memory that nobody else reads. It stays, so that only once is it made.
std::vector<std::byte>& FlushedMemory() {
  static std::vector<std::byte> memory;
  return memory;
}

/// Writes as many bytes of it, a cache line after the other.
void Flush(int64_t bytes) {
  std::vector<std::byte>& memory = FlushedMemory();
  if (std::ssize(memory) < bytes) memory.resize(static_cast<size_t>(bytes));
  constexpr int64_t kLine = 64;
  for (int64_t i = 0; i < bytes; i += kLine) {
    volatile std::byte& line = memory[static_cast<size_t>(i)];
    line = line ^ std::byte{1};
  }
}

/// The counts without the memory above, which is no backend's.
counts::Counts WithoutFlushed(counts::Counts counts) {
  const int64_t kilobytes = std::ssize(FlushedMemory()) >> 10;
  for (auto* const rss : {&counts.peak_rss_kb, &counts.steady_rss_kb}) {
    if (rss->has_value()) *rss = std::max<int64_t>(**rss - kilobytes, 0);
  }
  return counts;
}

/// Takes the samples of one ask.
class Samples {
 public:
  Samples(Network& network, Binding& binding, const TimedAsk& ask)
      : network_(network),
        binding_(binding),
        ask_(ask),
        differentiable_(network.differentiable()) {}

  Result<Timed> Take() {
    if (ask_.gradients != nullptr && differentiable_ == nullptr) {
      return FailedPrecondition("the network gives no gradients");
    }
    Timed timed;
    timed.samples.reserve(static_cast<size_t>(ask_.samples));
    for (int64_t i = 0; i < ask_.samples; ++i) {
      ASSAY_RETURN_IF_ERROR(Prepare(i));
      std::vector<Value> copies;
      if (i == ask_.watched) {
        ASSAY_ASSIGN_OR_RETURN(copies, CopiesOf(ask_.cleared));
      }
      std::optional<counts::Counter> counter;
      if (ask_.counted) counter.emplace();
      const auto start = Clock::now();
      ASSAY_RETURN_IF_ERROR(CallAll());
      timed.samples.emplace_back(Clock::now() - start);
      if (counter.has_value()) {
        timed.counts = WithoutFlushed(counter->Stop());
      }
      if (i != ask_.watched) continue;
      ASSAY_ASSIGN_OR_RETURN(timed.watched, Watch(std::move(copies)));
    }
    return timed;
  }

 private:
  Status Prepare(int64_t sample) {
    if (const size_t n = ask_.inputs.runs.size(); n > 0) {
      ASSAY_RETURN_IF_ERROR(
          Fill(ask_.inputs.memory,
               ask_.inputs.runs[static_cast<size_t>(sample) % n]));
    }
    SetAllBits(ask_.cleared);
    if (ask_.gradients != nullptr) ASSAY_RETURN_IF_ERROR(Forward());
    Flush(ask_.flushed);
    return OkStatus();
  }

  Status Forward() {
    ASSAY_RETURN_IF_ERROR(network_.Forward(binding_));
    return network_.Synchronize();
  }

  Status CallAll() {
    for (int64_t i = 0; i < ask_.calls; ++i) {
      if (ask_.gradients == nullptr) {
        ASSAY_RETURN_IF_ERROR(Forward());
        continue;
      }
      ASSAY_RETURN_IF_ERROR(differentiable_->RunBackward(*ask_.gradients));
      ASSAY_RETURN_IF_ERROR(network_.Synchronize());
    }
    return OkStatus();
  }

  /// Copies of the results, at once where they fit into `memory`: what a
  /// thread still writes is in none of them.
  Result<std::vector<Value>> Watch(std::vector<Value> memory) const {
    if (Fill(memory, Results()).ok()) return memory;
    return CopiesOf(Results());
  }

  std::span<const Value> Results() const {
    return ask_.gradients == nullptr
               ? std::as_const(binding_).outputs()
               : std::as_const(*ask_.gradients).gradients();
  }

  Network& network_;
  Binding& binding_;
  const TimedAsk& ask_;
  Differentiable* const differentiable_;
};

/// How long it takes to do `what`, whose status is that of the result.
template <class What>
Status Timing(std::chrono::nanoseconds* took, const What& what) {
  const auto start = Clock::now();
  const Status status = what();
  *took = Clock::now() - start;
  return status;
}

Result<Life> LifeOf(const LoadedAs& as, std::span<const Value> inputs) {
  Life life;
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
  ASSAY_RETURN_IF_ERROR(Timing(&life.load, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(network, as.backend.Load(as.model, as.options));
    return network != nullptr ? OkStatus() : Internal("no network was loaded");
  }));
  ASSAY_RETURN_IF_ERROR(Timing(&life.create, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(binding, network->Bind(inputs, {}));
    return binding != nullptr ? OkStatus() : Internal("nothing was bound");
  }));
  ASSAY_RETURN_IF_ERROR(Timing(&life.first, [&]() -> Status {
    ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
    return network->Synchronize();
  }));
  ASSAY_RETURN_IF_ERROR(Timing(&life.destroy, [&] {
    binding.reset();
    network.reset();
    return OkStatus();
  }));
  return life;
}

}  // namespace

Result<Timed> TimeRuns(Network& network, Binding& binding,
                       const TimedAsk& ask) {
  if (auto* const there = dynamic_cast<TimedThere*>(&network)) {
    return there->TimeRuns(binding, ask);
  }
  try {
    return Samples(network, binding, ask).Take();
  } catch (...) {
    return backend::StatusOfException("the backend");
  }
}

Result<std::vector<Life>> TimeLives(const LoadedAs& as, Network& loaded,
                                    std::span<const Value> inputs,
                                    int64_t count) {
  if (auto* const there = dynamic_cast<TimedThere*>(&loaded)) {
    return there->TimeLives(inputs, count);
  }
  std::vector<Life> lives;
  try {
    for (int64_t i = 0; i < count; ++i) {
      ASSAY_ASSIGN_OR_RETURN(lives.emplace_back(), LifeOf(as, inputs));
    }
  } catch (...) {
    return backend::StatusOfException("the backend");
  }
  return lives;
}

}  // namespace assay::host
