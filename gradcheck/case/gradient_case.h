// SPDX-License-Identifier: Apache-2.0
//
// GradientCase: a planned case of the suite as its code takes it. The suite
// makes it of the plan's row where it is called (suite.cc), and hands it down;
// nothing else reads a test_id. Its Variant stands behind the # of the test_id:
// where its inputs come from, and their element type.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/graph/operator.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {

enum class InputClass : uint8_t {
  kOfficial,  // those of the case
  kRedrawn,   // drawn within their range, without ties
  kExact,     // small integers, so that sums are exact in any order
  kKinks,     // few values, so that many are tied or stand at a kink
  kJacobian,  // redrawn, for every element of every Jacobian
  kField,     // a shape or a value that a public thread reports
  kBorders,   // by hand, where two pieces of a function meet or values tie
  kSpecial,   // by hand, zeros, extremes and what is not finite
  kComposed,  // a network at random
};

std::string_view ToString(InputClass input_class);
std::string_view MeaningOf(InputClass input_class);

/// True where the inputs are those of a text (gradcheck/field), not derived
/// from a case of ONNX.
bool IsWritten(InputClass input_class);

struct Variant {
  InputClass input_class = InputClass::kOfficial;
  DType type = DType::kFloat32;
};

/// Nothing for an id that has no such end.
std::optional<Variant> VariantOf(std::string_view test_id);

/// "#redrawn.float64".
std::string Suffix(const Variant& variant);

struct GradientCase {
  record::PlanRow row;
  int64_t seed = 0;
  Variant variant;

  Draw Drawn(std::string_view purpose) const {
    return {row.test_id, seed, purpose};
  }
};

/// Unsupported, reason reader, for a test_id without a variant.
Result<GradientCase> CaseOf(const record::PlanRow& row,
                            const record::RunFacts& facts);

/// True where outputs and gradients are sums of products of inputs, so that
/// small integers make integers that every order of summation gives exactly.
bool IsExact(OperatorId op);

/// True where the operator compares numbers, or takes an absolute value or a
/// piece of a function: where a gradient has a kink or a tie.
bool HasKinks(OperatorId op);

/// True where the operator compares its inputs with each other, element by
/// element.
bool ComparesInputs(OperatorId op);

/// True where the operator's definition computes something in float32 whatever
/// its type is: in another type its gradients are no better, or its subgraphs
/// are of two types.
bool ComputesInFloat32(OperatorId op);

/// The gradient cases that are derived from the cases of corpora. A case of one
/// operator that the catalogue calls differentiable gives one for each class of
/// inputs and each type that the operator permits. The expansion of such a case
/// gives its own inputs and others in its own type. A network of the corpus
/// graphs gives the classes and types beside float32 as it is written, one of
/// the corpus scaled float64, and one of a person's own (TestCase::own) both.
std::vector<cases::TestCase> GradientCases(
    std::span<const cases::Corpus> corpora);

/// "node/Relu/test_relu" or "gradcheck/golden/linear_relu#official.float32",
/// the case that a gradient case is derived from; the id itself for any other.
std::string SourceOf(std::string_view test_id);

}  // namespace assay::gradcheck
