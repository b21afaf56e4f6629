// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/operator_classes.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "framework/graph/generated/operators.h"

namespace assay::gradcheck {
namespace {

constexpr std::string_view kExactOperators[] = {
    "Add",
    "CenterCropPad",
    "Col2Im",
    "Compress",
    "Concat",
    "Conv",
    "ConvTranspose",
    "CumSum",
    "DepthToSpace",
    "Einsum",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gemm",
    "Identity",
    "MatMul",
    "Mul",
    "Neg",
    "OneHot",
    "Pad",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Reshape",
    "ReverseSequence",
    "Scan",
    "ScatterElements",
    "ScatterND",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Sum",
    "Tile",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Where",
};

constexpr std::string_view kKinkedOperators[] = {
    "Abs",         "Celu",      "Clip",      "Elu",       "GlobalMaxPool",
    "HardSigmoid", "HardSwish", "LeakyRelu", "Max",       "MaxPool",
    "Min",         "PRelu",     "ReduceL1",  "ReduceMax", "ReduceMin",
    "Relu",        "Selu",      "Shrink",    "Softsign",  "ThresholdedRelu",
    "TopK",
};

bool Contains(std::span<const std::string_view> names, OperatorId op) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(op)];
  return info.domain.empty() && std::ranges::binary_search(names, info.name);
}

}  // namespace

bool IsExact(OperatorId op) { return Contains(kExactOperators, op); }

// Its function body takes the root of its scale in float32, and hands scores of
// float32 to a modifier whatever the type of Q is, double apart.
bool ComputesInFloat32(OperatorId op) {
  return op == OperatorId::kFlexAttention;
}

bool ComparesInputs(OperatorId op) {
  return op == OperatorId::kClip || op == OperatorId::kMax ||
         op == OperatorId::kMin;
}

bool HasKinks(OperatorId op) { return Contains(kKinkedOperators, op); }

}  // namespace assay::gradcheck
