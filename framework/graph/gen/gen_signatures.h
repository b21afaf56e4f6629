// SPDX-License-Identifier: Apache-2.0
//
// The part of the generator that writes signatures.cc and operators.txt: which
// types and which attributes ONNX's schemas permit.

#pragma once

#include <string>
#include <vector>

#include "framework/graph/gen/gen_schemas.h"

namespace assay::gen {

/// The definitions that signature.h promises.
std::string SignatureSource(const std::vector<Operator>& operators);

/// The same for a reader, a paragraph an operator: what an upgrade of ONNX
/// changes shows as lines of it. The README beside the committed text says how
/// it is read.
std::string SignatureText(const std::vector<Operator>& operators);

}  // namespace assay::gen
