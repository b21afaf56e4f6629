// SPDX-License-Identifier: Apache-2.0
//
// Control flow: If, Loop and Scan. The framework runs the subgraphs; here is
// what goes in and what is gathered.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

/// The one element of a tensor of booleans.
Result<bool> Truth(const Tensor& tensor, std::string_view name) {
  if (tensor.dtype() == DType::kBool && tensor.num_elements() == 1) {
    return tensor.elements<bool>()[0];
  }
  return InvalidArgument(name, " is ", tensor.Signature(),
                         ", wanted one boolean");
}

Result<bool> Truth(const assay::Value& value, std::string_view name) {
  if (value.tensor() != nullptr) return Truth(*value.tensor(), name);
  return InvalidArgument(name, " is ", value.Type().ToString(),
                         ", wanted one boolean");
}

// If-25.
Status If(const op::If& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const bool condition,
                         Truth(run.input(op.cond), "cond"));
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<assay::Value> values,
      run.Run(condition ? "then_branch" : "else_branch", {}));
  for (int i = 0; i < op.outputs.count; ++i) {
    ASSAY_RETURN_IF_ERROR(run.SetOutput(
        op.outputs[i], std::move(values[static_cast<size_t>(i)])));
  }
  return OkStatus();
}

/// Tensors of one type and shape, to be stacked along a new axis.
class Stack {
 public:
  Status Add(const assay::Value& value) {
    const Tensor* tensor = value.tensor();
    if (tensor == nullptr) {
      return InvalidArgument("a scan output is ", value.Type().ToString(),
                             ", wanted a tensor");
    }
    if (!items_.empty() && (items_[0].dtype() != tensor->dtype() ||
                            items_[0].shape() != tensor->shape())) {
      return InvalidArgument("a scan output is ", tensor->Signature(),
                             ", in the first iteration it was ",
                             items_[0].Signature());
    }
    items_.push_back(*tensor);
    return OkStatus();
  }

  /// Stacked along `axis`, the last first when `reverse`. With no items, what
  /// `type`, that of one item, says: extents that it leaves open are 0.
  Result<Tensor> Make(int64_t axis, bool reverse, const ValueType& type) const {
    const Shape item = items_.empty() ? Known(type) : items_[0].shape();
    const DType dtype = items_.empty() ? type.dtype : items_[0].dtype();
    ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, item.rank() + 1));
    Dims dims = item.dims();
    dims.insert(dims.begin() + k, static_cast<int64_t>(items_.size()));
    const Shape shape(dims);
    if (items_.empty()) return Tensor::Allocate(dtype, shape);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Tensor> moved, UnpackedItems());
    ASSAY_ASSIGN_OR_RETURN(auto y, Tensor::Allocate(moved[0].dtype(), shape));
    Strides strides = DenseStrides(shape);
    const int64_t step = strides[static_cast<size_t>(k)];
    strides.erase(strides.begin() + k);
    const Nest<2> nest(item, {DenseStrides(item), strides});
    for (size_t i = 0; i < items_.size(); ++i) {
      const size_t at = reverse ? items_.size() - 1 - i : i;
      MoveElements(moved[at], y, nest, 0, static_cast<int64_t>(i) * step);
    }
    return Repacked(y, dtype);
  }

 private:
  Result<std::vector<Tensor>> UnpackedItems() const {
    std::vector<Tensor> unpacked;
    for (const Tensor& item : items_) {
      ASSAY_ASSIGN_OR_RETURN(Tensor bytes, Unpacked(item));
      unpacked.push_back(std::move(bytes));
    }
    return unpacked;
  }

  static Shape Known(const ValueType& type) {
    Dims dims;
    if (type.dims.has_value()) {
      for (const Dim& dim : *type.dims) {
        dims.push_back(std::max<int64_t>(dim.extent, 0));
      }
    }
    return Shape(dims);
  }

  std::vector<Tensor> items_;
};

const ValueType& OutputType(const Graph& body, size_t i) {
  return body.values[static_cast<size_t>(body.outputs[i])].type;
}

/// The final states, then what stacked(k) makes of scan output k.
template <class Stacked>
Status SetOutputs(const VariadicOutput& outputs,
                  std::vector<assay::Value>& states, KernelContext& run,
                  const Stacked& stacked) {
  for (int i = 0; i < outputs.count; ++i) {
    const auto k = static_cast<size_t>(i);
    if (k < states.size()) {
      ASSAY_RETURN_IF_ERROR(run.SetOutput(outputs[i], std::move(states[k])));
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor, stacked(k - states.size()));
    ASSAY_RETURN_IF_ERROR(run.SetOutput(outputs[i], std::move(tensor)));
  }
  return OkStatus();
}

// Loop-25: the body takes (iteration, condition, states) and gives (condition,
// states, scan outputs).
Status Loop(const op::Loop& op, KernelContext& run) {
  const auto states = static_cast<size_t>(op.v_initial.count);
  const auto outputs = static_cast<size_t>(op.v_final_and_scan_outputs.count);
  const Scratch<int64_t> limit = IntegersOf(run.input(op.m));
  if (op.m.present && limit.size() != 1) {
    return InvalidArgument("M has ", limit.size(), " elements, wanted one");
  }
  bool condition = true;
  if (op.cond.present && run.value(op.cond).present()) {
    ASSAY_ASSIGN_OR_RETURN(condition, Truth(run.input(op.cond), "cond"));
  }
  std::vector<assay::Value> state;
  for (size_t i = 0; i < states; ++i) {
    state.push_back(run.value(op.v_initial[static_cast<int>(i)]));
  }
  std::vector<Stack> scans(outputs - states);
  for (int64_t i = 0; condition && (limit.empty() || i < limit[0]); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const auto iteration,
                           Tensor::Of<int64_t>({}, std::span(&i, 1)));
    ASSAY_ASSIGN_OR_RETURN(const auto go,
                           Tensor::Of<bool>({}, std::span(&condition, 1)));
    std::vector<assay::Value> fed = {iteration, go};
    fed.insert(fed.end(), state.begin(), state.end());
    state.clear();
    ASSAY_ASSIGN_OR_RETURN(std::vector<assay::Value> given,
                           run.Run("body", fed));
    ASSAY_ASSIGN_OR_RETURN(condition, Truth(given[0], "the body's condition"));
    for (size_t k = 0; k < scans.size(); ++k) {
      ASSAY_RETURN_IF_ERROR(scans[k].Add(given[1 + states + k]));
    }
    state.assign(given.begin() + 1,
                 given.begin() + 1 + static_cast<std::ptrdiff_t>(states));
  }
  return SetOutputs(op.v_final_and_scan_outputs, state, run, [&](size_t k) {
    return scans[k].Make(0, false, OutputType(*op.body, 1 + states + k));
  });
}

int64_t Listed(const std::vector<int64_t>& values, size_t i) {
  return i < values.size() ? values[i] : 0;
}

/// An input of Scan: slices of a tensor along an axis.
struct Scanned {
  Tensor tensor;  // unpacked
  DType dtype = DType::kUndefined;
  int axis = 0;
  bool reverse = false;

  int64_t length() const { return tensor.shape()[axis]; }
  Result<Tensor> Slice(int64_t i) const {
    Dims dims = tensor.shape().dims();
    dims.erase(dims.begin() + axis);
    const Shape shape(dims);
    ASSAY_ASSIGN_OR_RETURN(auto slice, Tensor::Allocate(tensor.dtype(), shape));
    Strides strides = DenseStrides(tensor.shape());
    const int64_t step = strides[static_cast<size_t>(axis)];
    strides.erase(strides.begin() + axis);
    MoveElements(tensor, slice, Nest<2>(shape, {strides, DenseStrides(shape)}),
                 (reverse ? length() - 1 - i : i) * step);
    return Repacked(slice, dtype);
  }
};

Result<std::vector<Scanned>> ScannedInputs(const op::Scan& op, int states,
                                           KernelContext& run) {
  std::vector<Scanned> inputs;
  for (int k = 0; k < static_cast<int>(op.num_scan_inputs); ++k) {
    const auto i = static_cast<size_t>(k);
    const Tensor& tensor =
        run.input(op.initial_state_and_scan_inputs[states + k]);
    ASSAY_ASSIGN_OR_RETURN(
        const int axis,
        NormalizeAxis(Listed(op.scan_input_axes, i), tensor.shape()));
    ASSAY_ASSIGN_OR_RETURN(Tensor unpacked, Unpacked(tensor));
    inputs.push_back({std::move(unpacked), tensor.dtype(), axis,
                      Listed(op.scan_input_directions, i) != 0});
    if (inputs.back().length() != inputs[0].length()) {
      return InvalidArgument("scan input ", k, " has ", inputs.back().length(),
                             " slices, the first ", inputs[0].length());
    }
  }
  return inputs;
}

// Scan-25: the body takes (states, a slice of each scan input) and gives
// (states, scan outputs).
Status Scan(const op::Scan& op, KernelContext& run) {
  const int states = op.initial_state_and_scan_inputs.count -
                     static_cast<int>(op.num_scan_inputs);
  ASSAY_ASSIGN_OR_RETURN(const auto inputs, ScannedInputs(op, states, run));
  std::vector<assay::Value> state;
  for (int i = 0; i < states; ++i) {
    state.push_back(run.value(op.initial_state_and_scan_inputs[i]));
  }
  const auto kept = static_cast<size_t>(states);
  const auto outputs =
      static_cast<size_t>(op.final_state_and_scan_outputs.count);
  std::vector<Stack> scans(outputs - kept);
  for (int64_t i = 0; i < inputs[0].length(); ++i) {
    std::vector<assay::Value> fed = std::move(state);
    for (const Scanned& input : inputs) {
      ASSAY_ASSIGN_OR_RETURN(Tensor slice, input.Slice(i));
      fed.emplace_back(std::move(slice));
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<assay::Value> given,
                           run.Run("body", fed));
    for (size_t k = 0; k < scans.size(); ++k) {
      ASSAY_RETURN_IF_ERROR(scans[k].Add(given[kept + k]));
    }
    state.assign(given.begin(),
                 given.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  return SetOutputs(op.final_state_and_scan_outputs, state, run, [&](size_t k) {
    return scans[k].Make(Listed(op.scan_output_axes, k),
                         Listed(op.scan_output_directions, k) != 0,
                         OutputType(*op.body, kept + k));
  });
}

Status CheckCounts(std::string_view what, size_t found, size_t wanted) {
  if (found == wanted) return OkStatus();
  return InvalidArgument("the ", what, " has ", found, " outputs, wanted ",
                         wanted);
}

Result<Kernel> MakeIf(const op::If& op, LoadContext&) {
  const auto wanted = static_cast<size_t>(op.outputs.count);
  ASSAY_RETURN_IF_ERROR(
      CheckCounts("then_branch", op.then_branch->outputs.size(), wanted));
  ASSAY_RETURN_IF_ERROR(
      CheckCounts("else_branch", op.else_branch->outputs.size(), wanted));
  return Kernel{.forward = std::bind_front(&If, op)};
}

Result<Kernel> MakeLoop(const op::Loop& op, LoadContext&) {
  const auto outputs = static_cast<size_t>(op.v_final_and_scan_outputs.count);
  const auto states = static_cast<size_t>(op.v_initial.count);
  ASSAY_RETURN_IF_ERROR(
      CheckCounts("body", op.body->outputs.size(), outputs + 1));
  if (outputs < states || op.body->inputs.size() != states + 2) {
    return InvalidArgument("the body takes ", op.body->inputs.size(),
                           " values, wanted ", states + 2);
  }
  return Kernel{.forward = std::bind_front(&Loop, op)};
}

Result<Kernel> MakeScan(const op::Scan& op, LoadContext&) {
  const int inputs = op.initial_state_and_scan_inputs.count;
  if (op.num_scan_inputs < 1 || op.num_scan_inputs > inputs) {
    return InvalidArgument("num_scan_inputs is ", op.num_scan_inputs, " of ",
                           inputs, " inputs");
  }
  const auto outputs =
      static_cast<size_t>(op.final_state_and_scan_outputs.count);
  const auto states = static_cast<size_t>(inputs - op.num_scan_inputs);
  ASSAY_RETURN_IF_ERROR(CheckCounts("body", op.body->outputs.size(), outputs));
  if (outputs < states || std::cmp_not_equal(op.body->inputs.size(), inputs)) {
    return InvalidArgument("the body takes ", op.body->inputs.size(),
                           " values, wanted ", inputs);
  }
  return Kernel{.forward = std::bind_front(&Scan, op)};
}

}  // namespace

Family ControlFamily() { return FamilyOf(MakeIf, MakeLoop, MakeScan); }

}  // namespace assay::reference
