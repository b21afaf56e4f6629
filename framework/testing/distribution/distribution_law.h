// SPDX-License-Identifier: Apache-2.0
//
// Law: the values that the elements of a random model's outputs may have, and
// their probabilities. It is read off the graph: a graph that is one Bernoulli,
// one Dropout in training, or a comparison of one RandomUniform or
// RandomUniformLike with a value that the model or the case fixes, followed by
// Cast, Identity and Not. Each element is then on or off, independently of the
// others.
//
// The expansion that ONNX gives of Bernoulli is Greater(uniform, p): on with
// probability 1 - p, not p. It is judged as the graph that it is.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/distribution/distribution_counts.h"

namespace assay::distribution {

/// The two values of each element of one output.
struct OutputLaw {
  std::vector<double> off, on;
  /// The on value: |got - on| <= atol + rtol |on|. An off value is exact.
  double rtol = 0;
  double atol = 0;
};

struct Law {
  std::string name;             // of the operator that draws
  bool seeded = false;          // whether that node has a seed attribute
  std::vector<Chance> chances;  // by element
  std::vector<OutputLaw> outputs;
};

/// The law of the model's outputs for these inputs. `unsupported`, reason
/// value, with the obstacle where it is not known; invalid argument for inputs
/// that the operator does not take. `limit` is the case's: a value computed
/// from the inputs may be off by it, and by two units in the last place of its
/// element type.
Result<Law> LawOf(const Model& model, std::span<const Value> inputs,
                  const cases::Limit& limit);

/// The elements of a tensor of real numbers or booleans.
Result<std::vector<double>> NumbersOf(const Tensor& tensor);

}  // namespace assay::distribution
