// SPDX-License-Identifier: Apache-2.0
//
// A rule an operator: how its work is counted. The tables stand in the sources
// of their families; work.cc looks a node up in all of them.
//
//       {"HardSigmoid", {.flops = 4}},  // of each element
//       {"MatMul", {.count = CountMatMul}},
//       {"Gather", {.moves = Moves::kGathered}},
//       {"Unique", {.unknown = "its elements say how many differ"}},

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "perf/work/facts.h"
#include "perf/work/work.h"

namespace assay::work {

/// Which bytes a node moves.
enum class Moves : uint8_t {
  kAll,       // all inputs, all outputs
  kGathered,  // of input 0 as many as output 0 has; all else
  kLikeRead,  // as kAll, of a sequence's elements: what it reads, it writes
  kLikeMade,  // the first output, read where it was and written
  kMade,      // the outputs alone
  kCounted    // as `count` says
};

struct Counting {
  /// Counts of each element of the first output.
  double flops = 0;
  double transcendentals = 0;
  /// Adds to the work, whose bytes are those of `moves`.
  void (*count)(const NodeFacts& facts, Work* work) = nullptr;
  Moves moves = Moves::kAll;
  /// Why the signature does not tell the work; empty: it does.
  std::string_view unknown = {};
};

struct Rule {
  std::string_view op;  // of ai.onnx; "DOMAIN:OP" of another domain
  Counting counting;
};

std::span<const Rule> ElementwiseRules();
std::span<const Rule> ProductRules();
std::span<const Rule> WindowRules();
std::span<const Rule> ReductionRules();
std::span<const Rule> AttentionRules();
std::span<const Rule> RecurrentRules();
std::span<const Rule> SamplingRules();
std::span<const Rule> MovementRules();
std::span<const Rule> FlowRules();
std::span<const Rule> OtherDomainRules();

}  // namespace assay::work
