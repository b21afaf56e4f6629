// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/seeds.h"

#include <mutex>
#include <random>

namespace assay::reference {
namespace {

thread_local Seeds* current = nullptr;

// A setting that nobody gives from outside: it is none of the backend's.
constexpr const char* kRepeats = "repeats";

}  // namespace

uint64_t FreshSeed() {
  static std::mutex mutex;
  static std::mt19937_64 engine = [] {
    std::random_device entropy;
    std::seed_seq seeds{entropy(), entropy(), entropy(), entropy()};
    return std::mt19937_64(seeds);
  }();
  const std::lock_guard lock(mutex);
  return engine();
}

Seeds::Scope::Scope(Seeds* seeds) : outer_(current) { current = seeds; }

Seeds::Scope::~Scope() { current = outer_; }

Seeds* Seeds::Current() { return current; }

uint64_t NextSeed() {
  return current == nullptr ? FreshSeed() : current->Take();
}

bool MayDraw(const LoadOptions& options) {
  return !options.exact || options.settings.contains(kRepeats);
}

LoadOptions Repeating(LoadOptions options) {
  options.settings[kRepeats] = "";
  return options;
}

}  // namespace assay::reference
