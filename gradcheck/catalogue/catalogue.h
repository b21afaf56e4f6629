// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of differentiability: by which inputs of an operator gradients
// are taken, and into which of its outputs cotangents flow. ONNX's schemas flag
// parameters; where a flag is missing or wrong a line of overrides.cc stands in
// its place, with the reason.
//
//   const types::OperatorSignature& relu = types::SignatureOf(id);
//   IsDifferentiable(id, relu.inputs[0]);   // true
//   for (const Entry& entry : Catalogue()) Print(entry);

#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "gradcheck/catalogue/overrides.h"

namespace assay::gradcheck {

/// The override of a parameter; null where ONNX's flag holds.
const Override* OverrideOf(OperatorId op,
                           const types::FormalParameter& parameter);

bool IsDifferentiable(OperatorId op, const types::FormalParameter& parameter);

/// A parameter that may be of a floating-point type.
struct Entry {
  std::string op;  // "ai.onnx::Add"
  int since = 0;   // the opset that its schema is of, its newest
  bool is_input = false;
  std::string parameter;
  types::Differentiability flag = types::Differentiability::kUnknown;
  bool differentiable = false;
  std::string because;  // of an override
};

/// Every such parameter of every operator of ONNX, by operator, in order.
std::vector<Entry> Catalogue();

/// What ONNX's schemas have wrong or not at all, to be read or to be sent to
/// ONNX: the version, counts, and of each such flag what it is, what it should
/// be and why. Lines of at most 80 columns.
std::string FlagsText();

/// The same as rows of named fields, one for each flag.
std::vector<std::vector<std::pair<std::string, std::string>>> FlagRows();

}  // namespace assay::gradcheck
