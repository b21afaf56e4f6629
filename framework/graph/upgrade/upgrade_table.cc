// SPDX-License-Identifier: Apache-2.0
//
// The steps by which operators reach their current version, each list by name
// and then by version. Every version has a step; what a row's rule cannot
// express (a batch of unknown size, saved statistics that somebody reads) it
// declines as unsupported, naming operator and version.

#include <iterator>
#include <vector>

#include "framework/graph/upgrade/upgrade_rules.h"

namespace assay::upgrade {
namespace {

constexpr std::string_view kToInput = "an attribute became an input";
constexpr std::string_view kFnuz =
    "infinities saturate in the FNUZ types of float8";

/// The versions that a step leads from and to.
struct Versions {
  std::string_view op_type;
  int16_t from;
  int16_t to;
};

// clang-format off
constexpr Versions kOtherTypes[] = {
    {"Abs", 6, 13}, {"Acos", 7, 22}, {"Acosh", 9, 22}, {"Add", 7, 14},
    {"Asin", 7, 22}, {"Asinh", 9, 22}, {"Atan", 7, 22}, {"Atanh", 9, 22},
    {"BatchNormalization", 14, 15}, {"Bernoulli", 15, 22}, {"BitShift", 11, 28},
    {"Ceil", 6, 13}, {"Celu", 12, 28}, {"Clip", 11, 13}, {"Compress", 9, 28},
    {"Concat", 4, 13}, {"ConstantOfShape", 9, 25}, {"Conv", 1, 22},
    {"ConvTranspose", 11, 22}, {"Cos", 7, 22}, {"Cosh", 9, 22},
    {"CumSum", 11, 14}, {"DeformConv", 19, 22}, {"Det", 11, 22}, {"Div", 7, 14},
    {"Dropout", 12, 22}, {"Einsum", 12, 28}, {"Elu", 6, 22}, {"Equal", 7, 19},
    {"Erf", 9, 13}, {"Exp", 6, 13}, {"Expand", 8, 13}, {"EyeLike", 9, 22},
    {"Flatten", 1, 25}, {"Floor", 6, 13}, {"Gather", 1, 13},
    {"GatherElements", 11, 13}, {"Gemm", 1, 6}, {"GlobalAveragePool", 1, 22},
    {"GlobalLpPool", 2, 22}, {"GlobalMaxPool", 1, 22}, {"Greater", 7, 13},
    {"GreaterOrEqual", 12, 16}, {"GridSample", 20, 22}, {"HardSigmoid", 6, 22},
    {"HardSwish", 14, 22}, {"Identity", 1, 25}, {"If", 1, 25},
    {"InstanceNormalization", 6, 22}, {"IsInf", 10, 20}, {"IsNaN", 9, 20},
    {"LRN", 1, 13}, {"LeakyRelu", 6, 16}, {"Less", 7, 13},
    {"LessOrEqual", 12, 16}, {"Log", 6, 13}, {"Loop", 1, 25},
    {"LpNormalization", 1, 22}, {"MatMul", 1, 13}, {"Max", 6, 13},
    {"MaxRoiPool", 1, 22}, {"MaxUnpool", 9, 22}, {"Mean", 6, 13},
    {"MeanVarianceNormalization", 9, 13}, {"Min", 6, 13}, {"Mish", 18, 22},
    {"Mod", 10, 28}, {"Mul", 7, 14}, {"Multinomial", 7, 22}, {"Neg", 6, 13},
    {"NegativeLogLikelihoodLoss", 12, 22}, {"NonMaxSuppression", 10, 11},
    {"NonZero", 9, 13}, {"OneHot", 11, 28}, {"Optional", 15, 28},
    {"OptionalGetElement", 15, 28}, {"PRelu", 7, 16}, {"Pow", 7, 15},
    {"QLinearMatMul", 10, 21}, {"RandomNormal", 1, 22},
    {"RandomNormalLike", 1, 22}, {"RandomUniform", 1, 22},
    {"RandomUniformLike", 1, 22}, {"Reciprocal", 6, 13},
    {"ReduceLogSum", 18, 28}, {"ReduceLogSumExp", 18, 28},
    {"ReduceMax", 18, 20}, {"ReduceMin", 18, 20}, {"Relu", 6, 14},
    {"ReverseSequence", 10, 28}, {"RoiAlign", 16, 22}, {"Round", 11, 22},
    {"Scan", 9, 25}, {"Selu", 6, 22}, {"Sigmoid", 6, 13}, {"Sign", 9, 13},
    {"Sin", 7, 22}, {"Sinh", 9, 22}, {"Size", 1, 25}, {"Slice", 10, 13},
    {"SoftmaxCrossEntropyLoss", 12, 13}, {"Softplus", 1, 22},
    {"Softsign", 1, 22}, {"SplitToSequence", 11, 24}, {"Sqrt", 6, 13},
    {"Squeeze", 13, 25}, {"Sub", 7, 14}, {"Sum", 6, 13}, {"Tan", 7, 22},
    {"Tanh", 6, 13}, {"ThresholdedRelu", 10, 22}, {"Tile", 6, 13},
    {"Transpose", 1, 25}, {"Unique", 11, 28}, {"Unsqueeze", 13, 25},
    {"Where", 9, 16},
};

constexpr Versions kAdditions[] = {
    {"ArgMax", 1, 13}, {"ArgMin", 1, 13}, {"Attention", 23, 25},
    {"AveragePool", 1, 22}, {"Cast", 6, 19}, {"Cast", 24, 28},
    {"CastLike", 15, 19}, {"CastLike", 24, 25},
    {"Constant", 1, 25}, {"DepthToSpace", 1, 28}, {"DequantizeLinear", 10, 28},
    {"GRU", 7, 22}, {"GatherND", 11, 13}, {"Gemm", 7, 13}, {"LSTM", 7, 22},
    {"LpPool", 2, 22}, {"MaxPool", 1, 22},
    {"OptionalHasElement", 15, 28}, {"Pad", 11, 25}, {"QuantizeLinear", 10, 28},
    {"RNN", 7, 22}, {"Range", 11, 27}, {"Reshape", 5, 25}, {"Resize", 13, 19},
    {"ScatterElements", 11, 18}, {"ScatterND", 11, 18}, {"Shape", 1, 25},
    {"SpaceToDepth", 1, 28}, {"TopK", 10, 24}, {"TreeEnsembleClassifier", 1, 5},
    {"TreeEnsembleRegressor", 1, 5},
};

constexpr Versions kHints[] = {
    {"Abs", 1, 6}, {"BatchNormalization", 1, 6}, {"Ceil", 1, 6},
    {"Dropout", 1, 6}, {"Elu", 1, 6}, {"Exp", 1, 6}, {"Floor", 1, 6},
    {"HardSigmoid", 1, 6}, {"InstanceNormalization", 1, 6}, {"LeakyRelu", 1, 6},
    {"Log", 1, 6}, {"Max", 1, 6}, {"Mean", 1, 6}, {"Min", 1, 6}, {"Neg", 1, 6},
    {"PRelu", 1, 6}, {"Reciprocal", 1, 6}, {"Relu", 1, 6}, {"Sigmoid", 1, 6},
    {"Sqrt", 1, 6}, {"Sum", 1, 6}, {"Tanh", 1, 6},
};

constexpr Versions kBroadcasts[] = {
    {"Add", 1, 7}, {"And", 1, 7}, {"Div", 1, 7}, {"Equal", 1, 7},
    {"Greater", 1, 7}, {"Less", 1, 7}, {"Mul", 1, 7}, {"Or", 1, 7},
    {"Pow", 1, 7}, {"Sub", 1, 7}, {"Xor", 1, 7},
};

constexpr Versions kSequences[] = {
    {"GRU", 1, 7}, {"LSTM", 1, 7}, {"RNN", 1, 7},
};

constexpr Versions kFlattened[] = {
    {"Hardmax", 1, 13}, {"LogSoftmax", 1, 13}, {"Softmax", 1, 13},
};

constexpr Versions kAxes[] = {
    {"ReduceL1", 1, 18}, {"ReduceL2", 1, 18}, {"ReduceLogSum", 1, 18},
    {"ReduceLogSumExp", 1, 18}, {"ReduceMax", 1, 18}, {"ReduceMean", 1, 18},
    {"ReduceMin", 1, 18}, {"ReduceProd", 1, 18}, {"ReduceSum", 1, 13},
    {"ReduceSumSquare", 1, 18}, {"Squeeze", 1, 13}, {"Unsqueeze", 1, 13},
};
// clang-format on

/// Steps that are alike. The first two are those that ONNX's version converter
/// calls compatible.
constexpr struct {
  std::span<const Versions> versions;
  Status (*rule)(NodeUpgrade& upgrade);
  std::string_view why;
} kAlike[] = {
    {kOtherTypes, Same, "other element types, clearer text"},
    {kAdditions, Same, "additions whose absence means the old"},
    {kHints, DropConsumedInputs, "consumed_inputs was removed"},
    {kBroadcasts, BroadcastSecond, "multidirectional broadcasting"},
    {kSequences, DropOutputSequence, "output_sequence was removed"},
    {kFlattened, FlattenAroundSoftmax,
     "one axis instead of a flattened matrix"},
    {kAxes, AxesToInput, kToInput},
};

constexpr UpgradeStep kSteps[] = {
    {"BatchNormalization", 6, 7, DropIsTest,
     "the number of outputs states the mode"},
    {"BatchNormalization", 7, 9, NormalizeEachActivation,
     "spatial was removed"},
    {"BatchNormalization", 9, 14, StateTraining,
     "training_mode; fewer outputs"},
    {"Cast", 1, 6, NameToType, "the type became a number"},
    {"Cast", 19, 24, InfinitiesToNaN, kFnuz},
    {"CastLike", 19, 24, InfinitiesToNaN, kFnuz},
    {"Clip", 1, 6, LiftLimits, "limits got finite defaults"},
    {"Clip", 6, 11, LimitsToInputs, kToInput},
    {"Concat", 1, 4, SetConcatAxis, "axis became required"},
    {"ConvTranspose", 1, 11, PadAtEnd,
     "the odd padding of output_shape goes to the beginning"},
    {"DFT", 17, 20, DftAxisToInput,
     "axis became an input, its default changed"},
    {"Dropout", 6, 7, StateDropoutMode, "is_test was removed"},
    {"Dropout", 7, 10, DropUnreadMask, "the mask became boolean"},
    {"Dropout", 10, 12, RatioToInput, kToInput},
    {"Gemm", 6, 7, DropBroadcast, "C is always broadcast"},
    {"GlobalLpPool", 1, 2, PowerToInteger, "p became an integer"},
    {"GridSample", 16, 20, RenameGridModes, "modes were renamed"},
    {"GroupNormalization", 18, 21, RepeatForChannels,
     "scale and bias are of each channel"},
    {"LabelEncoder", 1, 2, ClassesToKeys, "keys and values are listed"},
    {"LabelEncoder", 2, 4, KeysAsBits, "keys are numbers, not bits"},
    {"LpPool", 1, 2, PowerToInteger, "p became an integer"},
    {"OneHot", 9, 11, IndicesFromBeginning,
     "negative indices count from the end"},
    {"PRelu", 6, 7, BroadcastSlope, "the slope is broadcast unidirectionally"},
    {"Pad", 1, 2, RenamePaddings, "paddings was renamed"},
    {"Pad", 2, 11, PadsToInputs, kToInput},
    {"Reshape", 1, 5, ShapeToInput, kToInput},
    {"Resize", 10, 11, SpellResizeOut, "coordinate modes are stated"},
    {"Resize", 11, 13, ShiftHalfPixels, "tf_half_pixel_for_nn was removed"},
    {"RoiAlign", 10, 16, SetRoiAlignMode,
     "a coordinate mode with a new default"},
    {"Scan", 8, 9, ScanEachOfBatch, "the batch axis was removed"},
    {"Scatter", 9, 11, RenameScatter, "replaced by ScatterElements"},
    {"Selu", 1, 6, SetSeluDefaults, "defaults got more digits"},
    {"Slice", 1, 10, SliceToInputs, kToInput},
    {"Split", 1, 2, SplitInputToIntegers, "the lengths are integers"},
    {"Split", 2, 13, SplitToInput, kToInput},
    {"Split", 13, 18, StateParts, "num_outputs is stated when split is not"},
    {"Tile", 1, 6, TileAlongAxis, "repeats are of each axis"},
    {"TopK", 1, 10, KToInput, kToInput},
    {"Upsample", 1, 7, SpatialScales, "scales are of each axis"},
    {"Upsample", 7, 9, ScalesToInput, kToInput},
    {"Upsample", 9, 11, UpsampleToResize, "replaced by Resize"},
};

}  // namespace

std::span<const UpgradeStep> UpgradeTable() {
  static const auto* const table = [] {
    auto* steps =
        new std::vector<UpgradeStep>(std::begin(kSteps), std::end(kSteps));
    for (const auto& [versions, rule, why] : kAlike) {
      for (const auto& [op_type, from, to] : versions) {
        steps->push_back({op_type, from, to, rule, why});
      }
    }
    return steps;
  }();
  return *table;
}

}  // namespace assay::upgrade
