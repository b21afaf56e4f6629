// SPDX-License-Identifier: Apache-2.0
//
// BesideQuad: an optimizer of the framework and the same one in quad precision,
// step by step on one problem.
//
//   BesideQuad both(subject, std::make_unique<ProblemObjective>(problem, type),
//                   problem.gradient_of);
//   both.Step(Gradients::kOwn);
//   const double off = both.Difference();
//   both.Lock();   // the next step begins where the optimizer is

#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/optimizer/problem.h"
#include "conformance/optimizer/quad.h"
#include "conformance/optimizer/quad_rule.h"
#include "framework/core/status.h"
#include "framework/train/optimizer.h"
#include "framework/train/recipe.h"

namespace assay::optimizer {

/// What is compared: a preset, or conventions that no preset has.
struct Subject {
  std::string optimizer, preset, settings;

  /// Letters and digits of it, for the name of a test.
  std::string id() const;
};

/// As tests show it.
void PrintTo(const Subject& subject, std::ostream* out);

/// Each preset, and conventions of which there is none.
std::vector<Subject> Subjects();

/// Whose gradients the quad rule takes: those of the problem where it is, or those
/// that the optimizer was given, so that nothing but the rule differs.
enum class Gradients : uint8_t { kOwn, kGiven };

class BesideQuad {
 public:
  /// Throws std::runtime_error where one of them cannot be made.
  BesideQuad(const Subject& subject,
             std::unique_ptr<train::Objective> objective,
             GradientOf gradient_of);

  /// One step of both.
  Status Step(Gradients gradients);
  /// The quad rule goes on from where the optimizer is.
  void Lock();
  /// |got - want| of the worst element of all parameters and their state, over the
  /// greatest |want| that its tensor has had: a velocity that dies out is a
  /// difference of greater numbers.
  double Difference();

 private:
  using Both = std::pair<Tensor, QuadTensor*>;

  /// The parameters, then their state.
  std::vector<Both> Tensors();

  std::unique_ptr<train::Objective> objective_;
  GradientOf gradient_of_;
  std::unique_ptr<train::Optimizer> optimizer_;
  std::unique_ptr<QuadRule> rule_;
  std::vector<QuadTensor> x_, given_;
  std::vector<Quad> greatest_;
  QuadRule::At at_ = {.step = 0};
};

}  // namespace assay::optimizer
