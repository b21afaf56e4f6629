// SPDX-License-Identifier: Apache-2.0
//
// What a gradient case is about: its model in the type of the case, inputs and
// initializers of its class, and those of both that gradients are taken by. An
// oracle and a judge make the same of one test_id and seed.
//
//   ASSAY_ASSIGN_OR_RETURN(suite::Subject subject, SubjectOf(gradient_case));
//   const std::vector<bool> flows = CarryingOutputs(*subject.model);
//   const auto bits = CotangentBits(*subject.model, InputClass::kRedrawn);

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/question.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/case/variant.h"

namespace assay::gradcheck {

/// Unsupported, reason not_differentiable, when nothing can be differentiated.
/// Files that hold a subject as it is (suite::SubjectInFiles) are taken so.
Result<suite::Subject> SubjectOf(const GradientCase& c);

/// The shapes of the targets: inputs, and behind them initializers.
std::vector<Shape> ShapesOfTargets(const suite::Subject& subject);

/// The type that the sums of a case's gradients are kept in: that which the
/// plan says (claims.txt), in a model of one node without a graph in it.
/// Between nodes numbers are stored in the case's own type, and so are sums.
DType AccumulatorOf(const record::PlanRow& row, const Graph& graph, DType own);

/// One for each output of the model: whether a cotangent flows into it
/// (flow.h).
std::vector<bool> CarryingOutputs(const Model& model);

/// How many significant bits a cotangent of such a type has: those of the type
/// or nearly so, that what a backward reads in a narrower one is another
/// number; 5 in the class exact, so that sums of products have few.
int CotangentBits(DType type, InputClass input_class);

/// The same for each output of the model; 0 where none flows.
std::vector<int> CotangentBits(const Model& model, InputClass input_class);

}  // namespace assay::gradcheck
