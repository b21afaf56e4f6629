// SPDX-License-Identifier: Apache-2.0
//
// Work: how many operations something does, and how many bytes it moves.
//
//   const double gflop_per_s = work.flops / seconds / 1e9;
//   const double intensity = work.flops / work.bytes();
//
// The README of the folder says what is counted how, with the sources.

#pragma once

namespace assay::work {

/// Counts, exact below 2^53. Integer operations count as those of floats do.
struct Work {
  /// Additions, subtractions, products, divisions, comparisons, roundings and
  /// logical operations, one each: a product that is added counts two.
  double flops = 0;
  /// Calls of exp, log, sqrt, sin, tanh, erf, pow and their like, which are in
  /// no other number here.
  double transcendentals = 0;
  /// Further operations, which an implementation may leave out: products with
  /// the zeros of pads, and scores that Attention's own mask takes away.
  double on_padding = 0;
  /// Each value that is an input read once, each output written once.
  double bytes_read = 0;
  double bytes_written = 0;

  double bytes() const { return bytes_read + bytes_written; }
  Work& operator+=(const Work& other);
  friend bool operator==(const Work&, const Work&) = default;
};

/// The work of so many runs.
Work operator*(double times, const Work& work);

}  // namespace assay::work
