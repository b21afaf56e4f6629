// SPDX-License-Identifier: Apache-2.0
//
// The part of the generator that writes signatures.cc: which types and which
// attributes ONNX's schemas permit.
//
//   Write(folder + "/signatures.cc", SignatureSource(operators));

#ifndef ASSAY_GRAPH_GEN_GEN_SIGNATURES_H_
#define ASSAY_GRAPH_GEN_GEN_SIGNATURES_H_

#include <string>
#include <vector>

#include "framework/graph/gen/gen_schemas.h"

namespace assay::gen {

/// The definitions that signature.h promises.
std::string SignatureSource(const std::vector<Operator>& operators);

}  // namespace assay::gen

#endif  // ASSAY_GRAPH_GEN_GEN_SIGNATURES_H_
