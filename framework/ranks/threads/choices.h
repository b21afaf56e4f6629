// SPDX-License-Identifier: Apache-2.0
//
// Choices: decides which rank goes on and which message is taken, where several
// could. A run with the same choices is the same run.
//
//   DrawnChoices drawn(/*seed=*/7);
//   const size_t next = drawn.Choose(3);
//
//   ListedChoices listed;
//   do {
//     Use(listed.Choose(3), listed.Choose(2));
//   } while (listed.GoOn());

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/core/numbers.h"

namespace assay::ranks {

class Choices {
 public:
  virtual ~Choices() = default;
  /// True for choices of answers alone: ranks go on in any order, and a receive
  /// from anybody waits until no other rank can send. Then only two things are
  /// chosen: which of the ranks that wait so is answered first, and with which
  /// message. Nothing else can be observed, since messages between two ranks
  /// keep their order (S. Vakkalanka, G. Gopalakrishnan, R. Kirby, "Dynamic
  /// verification of MPI programs with reductions in presence of split
  /// operations and relaxed orderings", 2008).
  virtual bool only_answers() const = 0;
  /// A number from 0 to `options` - 1; `options` is 1 or more.
  virtual size_t Choose(size_t options) = 0;
};

/// Draws every choice from a seed.
class DrawnChoices : public Choices {
 public:
  explicit DrawnChoices(uint64_t seed) : drawn_(seed) {}
  bool only_answers() const override { return false; }
  size_t Choose(size_t options) override { return drawn_.Below(options); }

 private:
  core::Numbers drawn_;
};

/// Goes through all combinations of answers, one a run.
class ListedChoices : public Choices {
 public:
  bool only_answers() const override { return true; }
  size_t Choose(size_t options) override;
  /// Goes to the next combination, after a run. False where all have been.
  bool GoOn();

 private:
  struct Choice {
    size_t taken, options;
  };
  std::vector<Choice> way_;
  size_t at_ = 0;
};

}  // namespace assay::ranks
