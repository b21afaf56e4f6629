// SPDX-License-Identifier: Apache-2.0
//
// The lines of the catalogue that stand in the place of flags of ONNX.
//
//   for (const Override& line : Overrides()) Print(line.op, line.because);

#pragma once

#include <span>
#include <string_view>

namespace assay::gradcheck {

/// A parameter of an operator whose flag is replaced.
struct Override {
  std::string_view op;         // of ai.onnx; "ai.onnx.ml::Scaler" of another
  std::string_view parameter;  // an input or an output, by its name
  bool differentiable;
  std::string_view because;
};

std::span<const Override> Overrides();

}  // namespace assay::gradcheck
