// SPDX-License-Identifier: Apache-2.0
//
// Choices: who goes on, and whose message is taken, where several could. A run with the
// same choices is the same run.
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
  /// True where ranks go on in any order, and a receive from anybody waits until nobody
  /// else can send: then only who of those that wait so goes first is chosen, and whose
  /// message it takes. Nothing else shows, since messages between two ranks keep their
  /// order (S. Vakkalanka, G. Gopalakrishnan, R. Kirby, "Dynamic verification of MPI
  /// programs with reductions in presence of split operations and relaxed orderings",
  /// 2008).
  virtual bool only_answers() const = 0;
  /// From 0 to below `options`, which is 1 or more.
  virtual size_t Choose(size_t options) = 0;
};

/// Everything is drawn from a seed.
class DrawnChoices : public Choices {
 public:
  explicit DrawnChoices(uint64_t seed) : drawn_(seed) {}
  bool only_answers() const override { return false; }
  size_t Choose(size_t options) override { return drawn_.Below(options); }

 private:
  core::Numbers drawn_;
};

/// Each answer after the other, over as many runs as there are ways.
class ListedChoices : public Choices {
 public:
  bool only_answers() const override { return true; }
  size_t Choose(size_t options) override;
  /// To the next way, behind a run. False where all have been.
  bool GoOn();

 private:
  struct Choice {
    size_t taken, options;
  };
  std::vector<Choice> way_;
  size_t at_ = 0;
};

}  // namespace assay::ranks
