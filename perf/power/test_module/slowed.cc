// SPDX-License-Identifier: Apache-2.0
//
// The backend `slowed`: the reference, with a cost planted in each of its
// kernels, so that it is known what a comparison of times has to find.
//
//   slowed.so+spin=3        takes 3 % of its own time more
//   slowed.so+spin=0        looks at the clock as often, and spins for no time
//   slowed.so+copy=1        copies its first input once more
//   slowed.so+allocation=1  allocates as many bytes once more

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/families.h"
#include "framework/backend/registry.h"

namespace assay::test_module {
namespace {

using ForwardFunction = std::function<Status(KernelContext&)>;
using Clock = std::chrono::steady_clock;

double NanosecondsFrom(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Spins for a share of the time that the kernel takes. Parts that are too
/// short for the clock are saved up.
ForwardFunction Spinning(ForwardFunction forward, double share) {
  constexpr double kLeastNs = 500;
  return [forward = std::move(forward), share,
          owed_ns = 0.0](KernelContext& run) mutable -> Status {
    const auto start = Clock::now();
    Status status = forward(run);
    owed_ns += share * NanosecondsFrom(start);
    if (owed_ns < kLeastNs) return status;
    const auto end = Clock::now();
    double spun_ns = 0;
    while (spun_ns < owed_ns) spun_ns = NanosecondsFrom(end);
    owed_ns -= spun_ns;
    return status;
  };
}

std::span<const std::byte> FirstInput(const KernelContext& run) {
  const Tensor& input = run.input(Input{0});
  return input.data() == nullptr ? std::span<const std::byte>() : input.bytes();
}

/// Keeps a compiler from leaving out what nobody reads.
void Keep(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

ForwardFunction Copying(ForwardFunction forward) {
  return [forward = std::move(forward),
          kept = std::vector<std::byte>()](KernelContext& run) mutable {
    const auto bytes = FirstInput(run);
    kept.resize(bytes.size());
    std::ranges::copy(bytes, kept.begin());
    Keep(kept.data());
    return forward(run);
  };
}

ForwardFunction Allocating(ForwardFunction forward) {
  return [forward = std::move(forward)](KernelContext& run) {
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::malloc(FirstInput(run).size() + 1), &std::free);
    Keep(memory.get());
    return forward(run);
  };
}

class Slowed final : public reference::ReferenceBackend {
 public:
  std::string_view name() const override { return "slowed"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }

 protected:
  std::vector<std::string> Settings() const override {
    auto names = ReferenceBackend::Settings();
    names.insert(names.end(), {"spin", "copy", "allocation"});
    return names;
  }

  Result<Kernel> Around(Kernel kernel, const LoadContext& load) const override {
    ASSAY_ASSIGN_OR_RETURN(kernel,
                           ReferenceBackend::Around(std::move(kernel), load));
    const auto& settings = load.options().settings;
    if (const auto spin = settings.find("spin"); spin != settings.end()) {
      const std::string& text = spin->second;
      double percent = 0;
      const auto end = text.data() + text.size();
      if (std::from_chars(text.data(), end, percent).ptr != end) {
        return InvalidArgument("spin: found ", text,
                               ", wanted a number of percent");
      }
      kernel.forward = Spinning(std::move(kernel.forward), percent / 100);
    }
    if (settings.contains("copy")) {
      kernel.forward = Copying(std::move(kernel.forward));
    }
    if (settings.contains("allocation")) {
      kernel.forward = Allocating(std::move(kernel.forward));
    }
    return kernel;
  }
};

ASSAY_REGISTER_BACKEND(Slowed);

}  // namespace
}  // namespace assay::test_module
