// SPDX-License-Identifier: Apache-2.0
//
// Mutants that take one axis, or one order, for another.

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

void InvertPerm(op::Transpose& op) {
  std::vector<int64_t> inverse(op.perm.size());
  for (size_t i = 0; i < op.perm.size(); ++i) {
    const auto axis = static_cast<size_t>(op.perm[i]);
    if (axis < inverse.size()) inverse[axis] = static_cast<int64_t>(i);
  }
  op.perm = inverse;
}

template <class Op>
void SwapModes(Op& op) {
  op.mode = op.mode == "DCR" ? "CRD" : "DCR";
}

Status ReverseValues(Values& values) {
  std::ranges::reverse(values);
  return OkStatus();
}

// Corners are (y, x) instead of (x, y): the last four numbers of each region.
Result<Tensor> SwapCorners(const Tensor& rois) {
  const int64_t width = rois.shape()[rois.shape().rank() - 1];
  std::vector<int64_t> places;
  for (int64_t i = 0; i < rois.num_elements(); ++i) {
    const int64_t from_end = width - i % width;  // 4: x1, 3: y1, 2: x2, 1: y2
    places.push_back(from_end > 4 ? i : from_end % 2 == 0 ? i + 1 : i - 1);
  }
  return Picked(rois, rois.shape(), places);
}

// Swaps the pads of a picture: columns before lines.
void SwapPads(op::DeformConv& op) {
  if (op.pads.size() != 4) return;
  std::swap(op.pads[0], op.pads[1]);
  std::swap(op.pads[2], op.pads[3]);
}

// Each tap of a picture is moved by (x, y) instead of (y, x).
Result<Tensor> SwapOffsets(const Tensor& offset) {
  const Shape& shape = offset.shape();
  if (shape.rank() != 4 || shape[1] % 2 != 0) return offset;
  const int64_t plane = shape[2] * shape[3];
  std::vector<int64_t> places;
  for (int64_t i = 0; i < offset.num_elements(); ++i) {
    places.push_back(i / plane % 2 == 0 ? i + plane : i - plane);
  }
  return Picked(offset, shape, places);
}

/// Heads of queries, [a b] along their axis, as [b a]; in a tensor of three
/// axes they are packed into the last.
Result<Tensor> WithHeadsTurned(const Tensor& tensor, int64_t a, int64_t b) {
  const Shape& shape = tensor.shape();
  const bool packed = shape.rank() == 3;
  std::vector<int64_t> dims = {shape[0], a, b, shape[2], 0};
  std::vector<int> perm = {0, 2, 1, 3, 4};
  if (packed) {
    dims = {shape[0], shape[1], a, b, shape[2] / (a * b)};
    perm = {0, 1, 3, 2, 4};
  } else {
    dims[4] = shape[3];
  }
  ASSAY_ASSIGN_OR_RETURN(const Tensor apart, tensor.Reshape(Shape(dims)));
  ASSAY_ASSIGN_OR_RETURN(const Tensor turned, Transposed(apart, perm));
  return turned.Reshape(Shape(shape));
}

/// Heads of keys, and how many heads of queries go to each.
struct Groups {
  int64_t keys;
  int64_t size;
};

Groups GroupsOf(const op::Attention& op, const Values& inputs) {
  const Shape& q = inputs[0].tensor()->shape();
  const Shape& k = inputs[1].tensor()->shape();
  const int64_t queries = q.rank() == 4 ? q[1] : op.q_num_heads.value_or(1);
  const int64_t keys = k.rank() == 4 ? k[1] : op.kv_num_heads.value_or(1);
  return {keys, queries / keys};
}

// Head h of the queries attends to head h % keys where it must to h / size.
Status InterleaveQueries(const op::Attention& op, Values& inputs) {
  const Groups groups = GroupsOf(op, inputs);
  return ChangeTensor(inputs[0], [&](const Tensor& q) {
    return WithHeadsTurned(q, groups.size, groups.keys);
  });
}

Status TurnBack(const op::Attention& op, const Values& inputs,
                Values& outputs) {
  const Groups groups = GroupsOf(op, inputs);
  for (const Output output : {op.y, op.qk_matmul_output}) {
    const auto at = static_cast<size_t>(output.position);
    if (at >= outputs.size()) continue;
    ASSAY_RETURN_IF_ERROR(ChangeTensor(outputs[at], [&](const Tensor& y) {
      return WithHeadsTurned(y, groups.keys, groups.size);
    }));
  }
  return OkStatus();
}

}  // namespace

std::vector<Mutant> AxisMutants() {
  return {
      {"transpose_perm_inverted", Rewritten(Ops<op::Transpose>(), InvertPerm)},
      {"transpose_perm_ignored",
       Rewritten(Ops<op::Transpose>(), [](auto& op) { op.perm.clear(); })},
      {"softmax_axis_first",
       Set(0, &op::Softmax::axis, &op::LogSoftmax::axis, &op::Hardmax::axis)},
      {"lpnorm_axis_last", Set(-1, &op::LpNormalization::axis)},
      {"argmax_axis_first", Set(0, &op::ArgMax::axis, &op::ArgMin::axis)},
      // Elements stay as many.
      {"cumsum_axis_first", Filled(0, &op::CumSum::axis, &op::CumProd::axis)},
      {"depthtospace_mode_swapped",
       Rewritten(Ops<op::DepthToSpace, op::SpaceToDepth>(),
                 [](auto& op) { SwapModes(op); })},
      {"reversesequence_axes_swapped",
       Rewritten(Ops<op::ReverseSequence>(),
                 [](auto& op) { std::swap(op.batch_axis, op.time_axis); })},
      {"concat_order_reversed", Fed(Ops<op::Concat>(), ReverseValues)},
      {"split_order_reversed", Spoiled(Ops<op::Split>(), ReverseValues)},
      {"gradient_order_reversed",
       Spoiled(Ops<op::training::Gradient>(), ReverseValues)},
      {"roi_corners_swapped",
       Changed(SwapCorners, &op::MaxRoiPool::rois, &op::RoiAlign::rois)},
      {"roialign_output_swapped", Rewritten(Ops<op::RoiAlign>(),
                                            [](auto& op) {
                                              std::swap(op.output_height,
                                                        op.output_width);
                                            })},
      {"deformconv_pads_swapped", Rewritten(Ops<op::DeformConv>(), SwapPads)},
      {"deformconv_offsets_swapped",
       Changed(SwapOffsets, &op::DeformConv::offset)},
      {"attention_groups_interleaved",
       Between(Ops<op::Attention>(), InterleaveQueries, TurnBack)},
  };
}

}  // namespace assay::faulty
