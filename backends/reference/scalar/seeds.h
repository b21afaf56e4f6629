// SPDX-License-Identifier: Apache-2.0
//
// Seeds: what operators that draw start from where their node has no seed. A
// run that is to be repeated has seeds of its own; with the same ones every
// operator draws the same again.
//
//   Seeds seeds(FreshSeed());
//   const Seeds::Scope drawing(&seeds);
//   kernel.forward(run);                   // draws from NextSeed()
//
// Seeds belong to the thread that runs the kernels.

#pragma once

#include <cstdint>

#include "framework/backend/backend.h"

namespace assay::reference {

/// From the system's entropy. Safe in every thread.
uint64_t FreshSeed();

class Seeds {
 public:
  explicit Seeds(uint64_t first) : next_(first) {}

  /// The numbers from the first on: an engine mixes the bits of its seed.
  uint64_t Take() { return next_++; }
  uint64_t next() const { return next_; }

  class Scope {
   public:
    explicit Scope(Seeds* seeds);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    Seeds* outer_;
  };
  /// Null where no run is to be repeated.
  static Seeds* Current();

 private:
  uint64_t next_;
};

/// The next of the current seeds, else a fresh seed.
uint64_t NextSeed();

/// True where a load may draw: where numbers that are drawn need no exact
/// value, or every run has the seeds of one that is repeated.
bool MayDraw(const LoadOptions& options);
/// The options of a load whose runs repeat others.
LoadOptions Repeating(LoadOptions options);

}  // namespace assay::reference
