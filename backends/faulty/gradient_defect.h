// SPDX-License-Identifier: Apache-2.0
//
// GradientDefect: what is wrong with one gradient of an operator, while every
// forward is right. A mutant gradient:sign:Conv.1 spoils, by the rule `sign`,
// the gradient of what input 1 of each Conv of the model reads, where that is
// an input of the network; a mutant gradient:as:NAME has the gradients of the
// network that the mutant NAME loads.
//
//   if (const auto what = ParseGradientMutant("gradient:sign:Conv.1")) {
//     const GradientRule* rule = FindGradientRule(what->rule, what->op_type);
//     ASSAY_ASSIGN_OR_RETURN(Tensor wrong, rule->spoil(ran));
//   }
//
// To add a rule, write a row in a table of gradients/ and, for each operator it
// is to be tried on, a line in mutants.txt.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/faulty/defect.h"
#include "framework/backend/backend.h"

namespace assay::faulty {

/// A backward run, and one gradient that it gave.
struct RanBack {
  const Tensor& right;
  const Values& inputs;      // of the network, as bound
  const Values& outputs;     // of the last forward
  const Values& cotangents;  // as given: absent ones stay so
  size_t target = 0;         // its place among the inputs
  bool alone = false;        // fewer gradients were asked for than can be
  int64_t run = 0;           // of the network, from 1
  int64_t bound_run = 0;     // of bound ones, from 1; 0 for any other
  /// The inputs of the network's first forward, in whatever binding, of its
  /// last one, and of the one before the last; empty where there was none.
  const Values& first;
  const Values& latest;
  const Values& before;
  /// The gradient for other cotangents, and for other inputs.
  std::function<Result<Tensor>(const Values& cotangents)> with;
  std::function<Result<Tensor>(const Values& inputs)> at;
};

/// Gives the wrong gradient. It writes into no tensor of `ran`, unless that is
/// what is wrong.
using GradientSpoil = std::function<Result<Tensor>(const RanBack& ran)>;

struct GradientRule {
  std::string_view name;
  std::string_view op_type;  // the only operator; empty: any
  GradientSpoil spoil;
};

/// The tables.
std::vector<GradientRule> ElementGradientRules();  // each by itself, elsewhere
std::vector<GradientRule> ReadingGradientRules();  // what is read, and memory
std::vector<GradientRule> FormulaGradientRules();  // a term left out, ties

/// The rule of that name for the operator; null when there is none.
const GradientRule* FindGradientRule(std::string_view name,
                                     std::string_view op_type);

struct GradientMutant {
  std::string rule;
  std::string op_type;
  int input = 0;       // a position among the operator's
  std::string mutant;  // of gradient:as:NAME, which has no rule
};

/// The gradient that a mutant of such a name spoils; none for another name.
std::optional<GradientMutant> ParseGradientMutant(std::string_view mutant);

/// `right` with that gradient spoiled; `right` itself where the model has none.
/// Invalid argument for a rule that there is not.
Result<std::unique_ptr<Network>> WithSpoiledGradient(
    std::unique_ptr<Network> right, const Model& model,
    const LoadOptions& options, const GradientMutant& what);

/// `right` with the gradients of `wrong`.
std::unique_ptr<Network> WithGradientsOf(std::unique_ptr<Network> right,
                                         std::unique_ptr<Network> wrong);

}  // namespace assay::faulty
