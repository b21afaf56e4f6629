// SPDX-License-Identifier: Apache-2.0
//
// The rules that the table of upgrade steps names: upgrade_table.cc says from
// which version each leads to which, and what ONNX changed between them.

#pragma once

#include "framework/graph/upgrade/upgrade.h"

namespace assay::upgrade {

/// Nothing to do: the old form means the same in the new version.
Status Same(NodeUpgrade& upgrade);

Status DropConsumedInputs(NodeUpgrade& upgrade);
Status SetConcatAxis(NodeUpgrade& upgrade);
Status SetSeluDefaults(NodeUpgrade& upgrade);
Status SetRoiAlignMode(NodeUpgrade& upgrade);
/// GridSample 16 to 20: bilinear and bicubic became linear and cubic.
Status RenameGridModes(NodeUpgrade& upgrade);
Status RenamePaddings(NodeUpgrade& upgrade);
Status RenameScatter(NodeUpgrade& upgrade);

/// To version 7: broadcast and axis gave way to multidirectional broadcasting.
/// The second input gets the trailing extents of 1 that axis implied.
Status BroadcastSecond(NodeUpgrade& upgrade);
/// PRelu 6 to 7: a slope per channel gets trailing extents of 1.
Status BroadcastSlope(NodeUpgrade& upgrade);
Status DropBroadcast(NodeUpgrade& upgrade);

Status NameToType(NodeUpgrade& upgrade);
/// Cast and CastLike 19 to 24: an infinity was NaN in the types of float8 that
/// have neither infinity nor -0.
Status InfinitiesToNaN(NodeUpgrade& upgrade);
Status PowerToInteger(NodeUpgrade& upgrade);
/// GRU, LSTM and RNN to 7: the number of outputs says whether Y is wanted.
Status DropOutputSequence(NodeUpgrade& upgrade);
Status ClassesToKeys(NodeUpgrade& upgrade);
/// LabelEncoder 2 to 4: keys were compared by their bits, so that 0 was not -0.
Status KeysAsBits(NodeUpgrade& upgrade);
/// OneHot 9 to 11: a negative index was outside.
Status IndicesFromBeginning(NodeUpgrade& upgrade);
/// ConvTranspose 1 to 11: the odd padding that output_shape leaves was at the
/// end, where auto_pad does not say.
Status PadAtEnd(NodeUpgrade& upgrade);
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
Status DropUnreadMask(NodeUpgrade& upgrade);

/// An attribute became an input: axes, ratio, k, shape, split, axis, scales.
Status AxesToInput(NodeUpgrade& upgrade);
Status RatioToInput(NodeUpgrade& upgrade);
Status KToInput(NodeUpgrade& upgrade);
Status ShapeToInput(NodeUpgrade& upgrade);
Status SplitToInput(NodeUpgrade& upgrade);
Status DftAxisToInput(NodeUpgrade& upgrade);
Status ScalesToInput(NodeUpgrade& upgrade);
/// Clip 1 to 6: a limit that is not given is none.
Status LiftLimits(NodeUpgrade& upgrade);
/// Clip 6 to 11, Pad 2 to 11, Slice 1 to 10: several attributes did.
Status LimitsToInputs(NodeUpgrade& upgrade);
Status PadsToInputs(NodeUpgrade& upgrade);
Status SliceToInputs(NodeUpgrade& upgrade);

Status StateParts(NodeUpgrade& upgrade);
Status SpatialScales(NodeUpgrade& upgrade);
/// Resize 10 to 11, with the coordinates it had.
Status SpellResizeOut(NodeUpgrade& upgrade);
/// Resize 11 to 13: tf_half_pixel_for_nn is half_pixel, rounded otherwise.
Status ShiftHalfPixels(NodeUpgrade& upgrade);
/// SpellResizeOut of mode nearest, when axes may grow and shrink: a Resize of
/// those that shrink, then one of those that grow.
Status ResizeDownThenUp(NodeUpgrade& upgrade);
/// Upsample 9 to Resize 11, with its coordinates spelled out.
Status UpsampleToResize(NodeUpgrade& upgrade);
/// Softmax, LogSoftmax and Hardmax 11 to 13: from the matrix that the input
/// was flattened to at `axis`, to the one axis.
Status FlattenAroundSoftmax(NodeUpgrade& upgrade);

}  // namespace assay::upgrade
