// SPDX-License-Identifier: Apache-2.0
//
// Models of problems, made when they are asked for, and what a problem needs.
//
//   ASSAY_ASSIGN_OR_RETURN(const Made made, MakeProblem(problem));
//   // made.model: Gemm<transB = 1>(a, b); made.inputs: float32[1760,1760], ...
//
// A model holds no numbers: weights are inputs, too.

#pragma once

#include <memory>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "perf/problems/problem.h"
#include "perf/work/work.h"

namespace assay::problems {

/// The version of ai.onnx that the models import: the first with Attention and
/// RMSNormalization.
inline constexpr int kOpset = 23;

struct Made {
  std::shared_ptr<const Model> model;
  std::vector<ValueType> inputs;  // of known shapes, in the model's order
};

/// The model of a problem with numbers of that type: float32, float64, float16
/// or bfloat16. Unsupported, reason dtype, for another; reason operator for a
/// sparse product and an all-reduce, which no operator of ONNX does. Invalid
/// argument, with the problem's place, where the text of a graph is no model.
Result<Made> MakeProblem(const Problem& problem, DType type = DType::kFloat32);

/// The dense product of the shapes of a SparseGemm, which does 1 / density as
/// many operations; of another problem itself.
Problem DenseOf(const Problem& problem);

struct Needs {
  double bytes = 0;  // of all values of the model at once
  work::Work work;   // of one run
};

/// The needs of a problem's model. Fails as MakeProblem does, and where the
/// work of a node is not known. Nothing of these sizes is allocated.
Result<Needs> NeedsOf(const Problem& problem, DType type = DType::kFloat32);

}  // namespace assay::problems
