// SPDX-License-Identifier: Apache-2.0
//
// The rules that the table of upgrade steps names. Each is stated with the
// versions it leads from and to; upgrade_table.cc says why.

#pragma once

#include "framework/graph/upgrade/upgrade.h"

namespace assay::upgrade {

/// Nothing to do: the old form means the same in the new version.
Status Same(NodeUpgrade& upgrade);

/// 1 to 6: consumed_inputs, an optimisation hint, was dropped.
Status DropConsumedInputs(NodeUpgrade& upgrade);
/// Concat 1 to 4: axis, 1 when absent, became required.
Status SetConcatAxis(NodeUpgrade& upgrade);
/// Selu 1 to 6: more digits in the defaults of alpha and gamma.
Status SetSeluDefaults(NodeUpgrade& upgrade);
/// RoiAlign 10 to 16: a coordinate mode, whose default is not the old one.
Status SetRoiAlignMode(NodeUpgrade& upgrade);
/// GridSample 16 to 20: bilinear and bicubic became linear and cubic.
Status RenameGridModes(NodeUpgrade& upgrade);
/// Pad 1 to 2: paddings became pads.
Status RenamePaddings(NodeUpgrade& upgrade);
/// Scatter to ScatterElements 11.
Status RenameScatter(NodeUpgrade& upgrade);

/// To version 7: broadcast and axis gave way to multidirectional broadcasting.
/// The second input gets the trailing extents of 1 that axis implied.
Status BroadcastSecond(NodeUpgrade& upgrade);
/// PRelu 6 to 7: a slope per channel gets trailing extents of 1.
Status BroadcastSlope(NodeUpgrade& upgrade);
/// Gemm 6 to 7: broadcast is always on.
Status DropBroadcast(NodeUpgrade& upgrade);

/// Cast 1 to 6: the type is a number.
Status NameToType(NodeUpgrade& upgrade);
/// LpPool and GlobalLpPool 1 to 2: p is an integer.
Status PowerToInteger(NodeUpgrade& upgrade);
/// GRU, LSTM and RNN to 7: the number of outputs says whether Y is wanted.
Status DropOutputSequence(NodeUpgrade& upgrade);
/// LabelEncoder 1 to 2: from a list of labels to keys and values.
Status ClassesToKeys(NodeUpgrade& upgrade);
/// Split 1 to 2, and on: lengths as an input are integers.
Status SplitInputToIntegers(NodeUpgrade& upgrade);
/// Tile 1 to 6: tiles along one axis became repeats for each.
Status TileAlongAxis(NodeUpgrade& upgrade);
/// Scan 8 to 9, and on: the batch axis was dropped. One Scan for each element.
Status ScanEachOfBatch(NodeUpgrade& upgrade);
/// GroupNormalization 18 to 21: scale and bias of each channel, not group.
Status RepeatForChannels(NodeUpgrade& upgrade);

/// BatchNormalization 6 to 7: is_test gave way to the number of outputs.
Status DropIsTest(NodeUpgrade& upgrade);
/// BatchNormalization 7 to 9: spatial is always on. Without it each activation
/// has statistics of its own: as element-wise nodes, in inference.
Status NormalizeEachActivation(NodeUpgrade& upgrade);
/// BatchNormalization 9 to 14: training became an attribute; the saved
/// statistics went.
Status StateTraining(NodeUpgrade& upgrade);
/// Dropout 6 to 7: is_test gave way to inference always. Training is what the
/// input training_mode of version 12 says.
Status StateDropoutMode(NodeUpgrade& upgrade);
/// Dropout 7 to 10: the mask became boolean.
Status DropUnreadMask(NodeUpgrade& upgrade);

/// An attribute became an input: axes, ratio, k, shape, split, axis, scales.
Status AxesToInput(NodeUpgrade& upgrade);
Status RatioToInput(NodeUpgrade& upgrade);
Status KToInput(NodeUpgrade& upgrade);
Status ShapeToInput(NodeUpgrade& upgrade);
Status SplitToInput(NodeUpgrade& upgrade);
Status DftAxisToInput(NodeUpgrade& upgrade);
Status ScalesToInput(NodeUpgrade& upgrade);
/// Clip 6 to 11, Pad 2 to 11, Slice 1 to 10: several attributes did.
Status LimitsToInputs(NodeUpgrade& upgrade);
Status PadsToInputs(NodeUpgrade& upgrade);
Status SliceToInputs(NodeUpgrade& upgrade);

/// Split 13 to 18: the number of equal parts is stated.
Status StateParts(NodeUpgrade& upgrade);
/// Upsample 1 to 7: scales of all axes.
Status SpatialScales(NodeUpgrade& upgrade);
/// Resize 10 to 11, with the coordinates it had.
Status SpellResizeOut(NodeUpgrade& upgrade);
/// The same of mode nearest, when axes may grow and shrink: a Resize of those
/// that shrink, then one of those that grow.
Status ResizeDownThenUp(NodeUpgrade& upgrade);
/// Upsample 9 to Resize 11, with its coordinates spelled out.
Status UpsampleToResize(NodeUpgrade& upgrade);
/// Softmax, LogSoftmax and Hardmax 11 to 13: from the matrix that the input
/// was flattened to at `axis`, to the one axis.
Status FlattenAroundSoftmax(NodeUpgrade& upgrade);

}  // namespace assay::upgrade
