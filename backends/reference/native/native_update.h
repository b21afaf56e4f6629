// SPDX-License-Identifier: Apache-2.0
//
// NativeUpdate: the update of one parameter by an operator of
// ai.onnx.preview.training, with its state.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const Optimization adam, OptimizationOf("adam", {{"rate", 0.001}}));
//   ASSAY_ASSIGN_OR_RETURN(auto update, NativeUpdate::Load(backend, adam, w));
//   ASSAY_ASSIGN_OR_RETURN(const Tensor next, update->Step(w, gradient));

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"

namespace assay::reference {

/// An operator of ai.onnx.preview.training with its attributes.
struct Optimization {
  std::string op_type;
  std::vector<Attribute> attributes;
  int64_t slots = 0;  // the tensors of state that it has
  double rate = 0;
};

/// README.md has the names.
std::vector<std::string> OptimizationNames();

/// Invalid argument for a name or a hyperparameter that there is not, and where
/// there is no rate.
Result<Optimization> OptimizationOf(
    std::string_view optimizer,
    const std::map<std::string, double>& hyperparameters);

/// It owns its network and its state; the backend must live as long.
class NativeUpdate {
 public:
  /// For parameters like this one, of float32 or float64.
  static Result<std::unique_ptr<NativeUpdate>> Load(Backend& backend,
                                                    const Optimization& what,
                                                    const Tensor& parameter);

  /// The next value; the state goes on.
  Result<Tensor> Step(const Tensor& parameter, const Tensor& gradient);

 private:
  NativeUpdate() = default;

  std::unique_ptr<Network> network_;
  Tensor rate_;
  int64_t updates_ = 0;
  std::vector<v1::Value> state_;
};

}  // namespace assay::reference
