// SPDX-License-Identifier: Apache-2.0
//
// A network that is a function from inputs to outputs, for a backend that takes
// whole models: what it declares, and all that binding promises.
//
//   ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
//   return MakeFunctionNetwork(
//       std::move(signature),
//       [](std::span<const Value> inputs) -> Result<std::vector<Value>> {
//         ASSAY_ASSIGN_OR_RETURN(Tensor y, inputs[0].tensor()->Clone());
//         return std::vector<Value>{std::move(y)};
//       });
//
// A library that writes into memory of the caller's saves a copy of each output
// with a Network of its own.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "framework/backend/backend.h"

namespace assay::inline v1 {

/// The inputs and outputs that a network declares.
struct Signature {
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
};

/// The inputs and outputs of a network of the whole model: the inputs without
/// an initializer; the outputs, then the extra outputs of the options. Not
/// found for an extra output that the graph does not have.
Result<Signature> SignatureOf(const Model& model, const LoadOptions& options);

/// The outputs of a run, in the order of the signature, in memory that no later
/// run writes into. Unsupported is too late here.
using NetworkFunction =
    std::function<Result<std::vector<Value>>(std::span<const Value> inputs)>;

/// Bind checks what is bound. Forward calls the function and copies tensors
/// into memory that the caller gave; invalid argument where they do not fit,
/// internal where the function gives another number of outputs.
std::unique_ptr<Network> MakeFunctionNetwork(Signature signature,
                                             NetworkFunction function);

}  // namespace assay::inline v1
