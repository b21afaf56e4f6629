// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of differentiability: by which inputs of an operator gradients
// are taken, and into which of its outputs cotangents flow. ONNX's schemas flag
// parameters; where a flag is missing or wrong an override stands in its place,
// with the reason.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"

namespace assay::gradcheck {

/// A parameter of an operator whose flag is replaced.
struct Override {
  std::string_view op;         // of ai.onnx; "ai.onnx.ml::Scaler" of another
  std::string_view parameter;  // an input or an output, by its name
  bool differentiable;
  std::string_view because;
};

/// The lines that stand in the place of flags of ONNX.
std::span<const Override> Overrides();

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

/// The flags that ONNX's schemas have wrong or not at all, to be read or to be
/// sent to ONNX: the version, counts, and for each flag its state, the state
/// that it should have, and why. Lines of at most 80 columns.
std::string FlagsText();

/// The same as rows of named fields, one for each flag.
std::vector<std::vector<std::pair<std::string, std::string>>> FlagRows();

}  // namespace assay::gradcheck
