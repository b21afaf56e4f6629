// SPDX-License-Identifier: Apache-2.0
//
// A check of the gradients that a backend computes in the network's own element
// types: for a model at given inputs, Differentiable::Backward must give what
// the reverse pass of the oracle gives.
//
//   const Gradients found = CheckGradients(backend, model, inputs, seed);
//   EXPECT_LE(found.units, 2) << found.what;
//
// The oracle is the backend itself, or another:
//
//   CheckGradients(vendor, reference, model, inputs, seed);
//
// Targets are all inputs of floats of 16 to 64 bits. Cotangents are of size 1 to 2,
// of either sign, and numbers of every element type.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "framework/backend/backend.h"

namespace assay::oracle {

struct Gradients {
  enum Verdict : uint8_t {
    kCompared,
    kNothing,   // no input or no output of such floats
    kUnknown,   // declined by the oracle
    kDeclined,  // by the backend, at Load or Bind
    kFailed,    // a run failed
  };
  Verdict verdict = kNothing;
  std::string what;  // the two numbers that are furthest apart, or why not
  Reason reason = Reason::kNone;  // of a decline
  /// The distance of the two, less the oracle's bound, in units in the last
  /// place of the greatest gradient of that input. Infinite where one of the
  /// two is NaN or infinite and the other is not that.
  double units = 0;
  int64_t numbers = 0;   // compared
  int64_t non_zero = 0;  // of them
  int64_t unknown = 0;   // of them, without a bound: a tie, a kink, an overflow
};

Gradients CheckGradients(Backend& backend,
                         const std::shared_ptr<const Model>& model,
                         std::span<const Value> inputs, uint64_t seed);

/// At a tie or a kink, where the oracle has no bound, another backend may
/// choose another derivative: these numbers are counted and not compared.
Gradients CheckGradients(Backend& backend, Backend& oracle,
                         const std::shared_ptr<const Model>& model,
                         std::span<const Value> inputs, uint64_t seed);

}  // namespace assay::oracle
