// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/native/drawing_network.h"

#include <array>
#include <random>

#include "backends/reference/scalar/seeds.h"

namespace assay::reference {
namespace {

constexpr unsigned kWord = 32;

uint32_t High(uint64_t number) {
  return static_cast<uint32_t>(number >> kWord);
}
uint32_t Low(uint64_t number) { return static_cast<uint32_t>(number); }

}  // namespace

Status DrawingNetwork::Forward(Binding& binding) {
  if (!first_.has_value()) return inner().Forward(binding);
  Seeds seeds(*first_);
  const Seeds::Scope drawing(&seeds);
  return inner().Forward(binding);
}

Status DrawingNetwork::DrawFrom(uint64_t run_seed, int64_t step) {
  const auto number = static_cast<uint64_t>(step);
  std::seed_seq mixed{High(run_seed), Low(run_seed), High(number), Low(number)};
  std::array<uint32_t, 2> words = {};
  mixed.generate(words.begin(), words.end());
  first_ = uint64_t{words[0]} << kWord | words[1];
  return OkStatus();
}

}  // namespace assay::reference
