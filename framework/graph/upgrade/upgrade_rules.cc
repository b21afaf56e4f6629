// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/upgrade/upgrade_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace assay::upgrade {
namespace {

using Integers = std::vector<int64_t>;

/// Moves a list of integers to an input, where the node gives it.
Status IntegersToInput(NodeUpgrade& upgrade, std::string_view name,
                       size_t position) {
  ASSAY_ASSIGN_OR_RETURN(const auto list, upgrade.Take<Integers>(name));
  if (!list.has_value()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const ValueId id, upgrade.AddIntegers(name, *list));
  upgrade.SetInput(position, id);
  return OkStatus();
}

/// Moves a number to a scalar input of the type of input 0.
Status NumberToInput(NodeUpgrade& upgrade, std::string_view name,
                     size_t position) {
  ASSAY_ASSIGN_OR_RETURN(const auto number, upgrade.Take<float>(name));
  if (!number.has_value()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(
      const ValueId id,
      upgrade.AddScalar(name, *number, upgrade.node.inputs.at(0)));
  upgrade.SetInput(position, id);
  return OkStatus();
}

/// The word of an attribute, or the one that stands for its absence.
std::string WordOf(const Node& node, std::string_view name,
                   const std::string& otherwise) {
  const Attribute* const found = node.Find(name);
  const auto* const word =
      found == nullptr ? nullptr : std::get_if<std::string>(&found->held);
  return word == nullptr ? otherwise : *word;
}

Status Rename(NodeUpgrade& upgrade, std::string_view attribute,
              std::string_view from, std::string_view to) {
  if (WordOf(upgrade.node, attribute, "") == from) {
    upgrade.Set(attribute, std::string(to));
  }
  return OkStatus();
}

void SetIfAbsent(NodeUpgrade& upgrade, std::string_view name,
                 Attribute::Held held) {
  if (upgrade.node.Find(name) == nullptr) upgrade.Set(name, std::move(held));
}

/// Puts an Unsqueeze before the node, which appends `count` extents of 1 to the
/// input at `position`, whose rank is `rank`.
Status AppendExtents(NodeUpgrade& upgrade, size_t position, int64_t rank,
                     int64_t count) {
  Integers axes(static_cast<size_t>(count));
  std::iota(axes.begin(), axes.end(), rank);
  const ValueId from = upgrade.node.inputs[position];
  ValueType type = upgrade.TypeOf(from);
  for (int64_t i = 0; i < count; ++i) type.dims->emplace_back(1);
  ASSAY_ASSIGN_OR_RETURN(const ValueId axes_id,
                         upgrade.AddIntegers("broadcast_axes", axes));
  const ValueId to = upgrade.AddValue("broadcast", std::move(type));
  upgrade.before.push_back(upgrade.MakeNode("Unsqueeze", {from, axes_id}, to));
  upgrade.SetInput(position, to);
  return OkStatus();
}

void DropTrailingOutputs(Node& node) {
  while (!node.outputs.empty() && node.outputs.back() == kNoValue) {
    node.outputs.pop_back();
  }
}

Status RequireInputs(const NodeUpgrade& upgrade, size_t count) {
  if (upgrade.node.inputs.size() >= count) return OkStatus();
  return InvalidArgument(upgrade.node.Label(), " has ",
                         upgrade.node.inputs.size(), " inputs, wanted ", count);
}

}  // namespace

Status Same(NodeUpgrade&) { return OkStatus(); }

Status DropConsumedInputs(NodeUpgrade& upgrade) {
  upgrade.Drop("consumed_inputs");
  return OkStatus();
}

Status SetConcatAxis(NodeUpgrade& upgrade) {
  SetIfAbsent(upgrade, "axis", int64_t{1});
  return OkStatus();
}

Status SetSeluDefaults(NodeUpgrade& upgrade) {
  SetIfAbsent(upgrade, "alpha", 1.6732F);
  SetIfAbsent(upgrade, "gamma", 1.0507F);
  return DropConsumedInputs(upgrade);
}

Status SetRoiAlignMode(NodeUpgrade& upgrade) {
  SetIfAbsent(upgrade, "coordinate_transformation_mode",
              std::string("output_half_pixel"));
  return OkStatus();
}

Status RenameGridModes(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(Rename(upgrade, "mode", "bilinear", "linear"));
  return Rename(upgrade, "mode", "bicubic", "cubic");
}

Status RenamePaddings(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(auto pads, upgrade.Take<Integers>("paddings"));
  if (pads.has_value()) upgrade.Set("pads", *std::move(pads));
  return OkStatus();
}

Status RenameScatter(NodeUpgrade& upgrade) {
  upgrade.node.op_type = "ScatterElements";
  return OkStatus();
}

Status BroadcastSecond(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 2));
  ASSAY_RETURN_IF_ERROR(DropConsumedInputs(upgrade));
  ASSAY_ASSIGN_OR_RETURN(const auto on, upgrade.Take<int64_t>("broadcast"));
  ASSAY_ASSIGN_OR_RETURN(const auto axis, upgrade.Take<int64_t>("axis"));
  // Without an axis the last extents are matched, as they are from version 7.
  if (on.value_or(0) == 0 || !axis.has_value()) return OkStatus();
  const auto rank = upgrade.RankOf(upgrade.node.inputs[0]);
  const auto second = upgrade.RankOf(upgrade.node.inputs[1]);
  if (!rank.has_value() || !second.has_value()) {
    return upgrade.Decline("axis ", *axis, " needs inputs of known rank");
  }
  const int64_t first = *axis < 0 ? *axis + *rank : *axis;
  const int64_t missing = *rank - first - *second;
  if (first < 0 || missing < 0) {
    return InvalidArgument(upgrade.node.Label(), " has axis ", *axis,
                           ", ranks are ", *rank, " and ", *second);
  }
  if (missing == 0) return OkStatus();
  return AppendExtents(upgrade, 1, *second, missing);
}

Status BroadcastSlope(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 2));
  const auto rank = upgrade.RankOf(upgrade.node.inputs[0]);
  const ValueType& slope = upgrade.TypeOf(upgrade.node.inputs[1]);
  if (!slope.dims.has_value()) {
    return upgrade.Decline("the slope's rank is not known");
  }
  const bool per_channel =
      slope.dims->size() == 1 && (*slope.dims)[0] != Dim(1);
  if (!per_channel) return OkStatus();
  if (!rank.has_value()) {
    return upgrade.Decline("a slope per channel needs an input of known rank");
  }
  return *rank <= 2 ? OkStatus() : AppendExtents(upgrade, 1, 1, *rank - 2);
}

Status DropBroadcast(NodeUpgrade& upgrade) {
  upgrade.Drop("broadcast");
  return OkStatus();
}

Status DropIsTest(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto is_test, upgrade.Take<int64_t>("is_test"));
  DropTrailingOutputs(upgrade.node);
  // Only a training node may have more outputs than Y.
  if (is_test.value_or(0) == 0 || upgrade.node.outputs.size() <= 1) {
    return OkStatus();
  }
  return upgrade.Decline("is_test with ", upgrade.node.outputs.size(),
                         " outputs");
}

Status StateTraining(NodeUpgrade& upgrade) {
  std::vector<ValueId>& outputs = upgrade.node.outputs;
  // Statistics that nobody reads need not be computed.
  for (size_t i = 3; i < outputs.size(); ++i) {
    if (outputs[i] == kNoValue || !upgrade.IsRead(outputs[i])) continue;
    return upgrade.Decline("training mode, whose output ", i,
                           " (saved statistics) is read");
  }
  if (outputs.size() > 3) outputs.resize(3);
  DropTrailingOutputs(upgrade.node);
  if (outputs.size() > 1) upgrade.Set("training_mode", int64_t{1});
  return OkStatus();
}

Status StateDropoutMode(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto is_test, upgrade.Take<int64_t>("is_test"));
  if (is_test.value_or(0) != 0) return OkStatus();
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 1));
  const bool training = true;
  ASSAY_ASSIGN_OR_RETURN(Tensor mode, Tensor::Of<bool>({}, {&training, 1}));
  upgrade.SetInput(2, upgrade.AddConstant("training", std::move(mode)));
  std::vector<ValueId>& outputs = upgrade.node.outputs;
  if (outputs.size() < 2 || outputs[1] == kNoValue) return OkStatus();
  // The mask was of the input's type.
  ValueType type = upgrade.TypeOf(outputs[1]);
  if (type.kind == ValueKind::kTensor) type.dtype = DType::kBool;
  const ValueId mask = upgrade.AddValue("mask", std::move(type));
  upgrade.after.push_back(
      upgrade.MakeNode("CastLike", {mask, upgrade.node.inputs[0]}, outputs[1]));
  outputs[1] = mask;
  return OkStatus();
}

Status DropUnreadMask(NodeUpgrade& upgrade) {
  std::vector<ValueId>& outputs = upgrade.node.outputs;
  const bool cast = !upgrade.after.empty();  // by StateDropoutMode
  if (cast || outputs.size() < 2 || outputs[1] == kNoValue) return OkStatus();
  if (upgrade.IsRead(outputs[1])) {
    return upgrade.Decline("its mask is read, which was no boolean");
  }
  outputs.resize(1);
  return OkStatus();
}

Status AxesToInput(NodeUpgrade& upgrade) {
  return IntegersToInput(upgrade, "axes", 1);
}

Status RatioToInput(NodeUpgrade& upgrade) {
  return NumberToInput(upgrade, "ratio", 1);
}

Status KToInput(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto k, upgrade.Take<int64_t>("k"));
  if (!k.has_value()) {
    return InvalidArgument(upgrade.node.Label(), " lacks the attribute k");
  }
  ASSAY_ASSIGN_OR_RETURN(const ValueId id, upgrade.AddIntegers("k", {*k}));
  upgrade.SetInput(1, id);
  return OkStatus();
}

Status ShapeToInput(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(DropConsumedInputs(upgrade));
  return IntegersToInput(upgrade, "shape", 1);
}

Status SplitToInput(NodeUpgrade& upgrade) {
  return IntegersToInput(upgrade, "split", 1);
}

Status DftAxisToInput(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto axis, upgrade.Take<int64_t>("axis"));
  const int64_t old_default = 1;
  const int64_t value = axis.value_or(old_default);
  ASSAY_ASSIGN_OR_RETURN(Tensor scalar, Tensor::Of<int64_t>({}, {&value, 1}));
  upgrade.SetInput(2, upgrade.AddConstant("axis", std::move(scalar)));
  return OkStatus();
}

Status ScalesToInput(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto scales,
                         upgrade.Take<std::vector<float>>("scales"));
  if (!scales.has_value()) {
    return InvalidArgument(upgrade.node.Label(), " lacks the attribute scales");
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::Of<float>({static_cast<int64_t>(scales->size())}, *scales));
  upgrade.SetInput(1, upgrade.AddConstant("scales", std::move(tensor)));
  return OkStatus();
}

Status LiftLimits(NodeUpgrade& upgrade) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  SetIfAbsent(upgrade, "min", -kNone);
  SetIfAbsent(upgrade, "max", kNone);
  return DropConsumedInputs(upgrade);
}

Status LimitsToInputs(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 1));
  constexpr float kMost = std::numeric_limits<float>::max();
  SetIfAbsent(upgrade, "min", -kMost);
  SetIfAbsent(upgrade, "max", kMost);
  ASSAY_RETURN_IF_ERROR(NumberToInput(upgrade, "min", 1));
  return NumberToInput(upgrade, "max", 2);
}

Status PadsToInputs(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 1));
  ASSAY_RETURN_IF_ERROR(IntegersToInput(upgrade, "pads", 1));
  return NumberToInput(upgrade, "value", 2);
}

Status SliceToInputs(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(IntegersToInput(upgrade, "starts", 1));
  ASSAY_RETURN_IF_ERROR(IntegersToInput(upgrade, "ends", 2));
  return IntegersToInput(upgrade, "axes", 3);
}

Status StateParts(NodeUpgrade& upgrade) {
  const std::vector<ValueId>& inputs = upgrade.node.inputs;
  if (inputs.size() < 2 || inputs[1] == kNoValue) {
    upgrade.Set("num_outputs",
                static_cast<int64_t>(upgrade.node.outputs.size()));
  }
  return OkStatus();
}

Status NameToType(NodeUpgrade& upgrade) {
  // TensorProto.DataType up to what Cast 1 knew, in the order of numbers.
  constexpr std::string_view kNames[] = {
      "UNDEFINED", "FLOAT",  "UINT8",     "INT8",      "UINT16",  "INT16",
      "INT32",     "INT64",  "STRING",    "BOOL",      "FLOAT16", "DOUBLE",
      "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128"};
  ASSAY_ASSIGN_OR_RETURN(const auto to, upgrade.Take<std::string>("to"));
  const auto* const found = std::ranges::find(kNames, to.value_or(""));
  if (found == std::end(kNames)) {
    return InvalidArgument(upgrade.node.Label(), " casts to '", to.value_or(""),
                           "', wanted the name of an element type");
  }
  upgrade.Set("to", static_cast<int64_t>(found - std::begin(kNames)));
  return OkStatus();
}

Status PowerToInteger(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto p, upgrade.Take<float>("p"));
  if (!p.has_value()) return OkStatus();
  if (!(*p >= 1 && *p <= 1024) || *p != std::floor(*p)) {
    return upgrade.Decline("p=", *p, ", wanted an integer");
  }
  upgrade.Set("p", static_cast<int64_t>(*p));
  return OkStatus();
}

Status DropOutputSequence(NodeUpgrade& upgrade) {
  upgrade.Drop("output_sequence");
  // The default of GRU 1, as ONNX misspelt it.
  return Rename(upgrade, "direction", "foward", "forward");
}

Status ClassesToKeys(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 1));
  ASSAY_ASSIGN_OR_RETURN(
      auto classes, upgrade.Take<std::vector<std::string>>("classes_strings"));
  if (!classes.has_value()) classes.emplace();
  Integers numbers(classes->size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const DType type = upgrade.TypeOf(upgrade.node.inputs[0]).dtype;
  if (type == DType::kString) {
    upgrade.Set("keys_strings", *std::move(classes));
    upgrade.Set("values_int64s", std::move(numbers));
    return OkStatus();
  }
  if (type == DType::kInt64) {
    upgrade.Set("keys_int64s", std::move(numbers));
    upgrade.Set("values_strings", *std::move(classes));
    return OkStatus();
  }
  return upgrade.Decline("an input of ", type, ", wanted int64 or string");
}

Status SpatialScales(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto height,
                         upgrade.Take<float>("height_scale"));
  ASSAY_ASSIGN_OR_RETURN(const auto width, upgrade.Take<float>("width_scale"));
  if (!height.has_value() || !width.has_value()) {
    return InvalidArgument(upgrade.node.Label(),
                           " lacks height_scale or width_scale");
  }
  upgrade.Set("scales", std::vector<float>{1, 1, *height, *width});
  return Rename(upgrade, "mode", "bilinear", "linear");
}

Status SpellResizeOut(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 2));
  const ValueId scales = upgrade.node.inputs[1];
  const bool nearest = WordOf(upgrade.node, "mode", "nearest") == "nearest";
  std::string rounding = "floor";
  if (nearest) {
    // ONNX's cases of version 10 take, at output i, element i / scale rounded
    // down where the axis grows and up where it shrinks.
    const Tensor* const fixed = upgrade.ConstantOf(scales);
    const bool known = fixed != nullptr && fixed->dtype() == DType::kFloat32;
    const auto has = [&](const auto& side) {
      return !known || std::ranges::any_of(fixed->elements<float>(), side);
    };
    const bool shrinks = has([](float scale) { return scale < 1; });
    if (shrinks && has([](float scale) { return scale > 1; })) {
      return ResizeDownThenUp(upgrade);
    }
    if (shrinks) rounding = "ceil";
  }
  upgrade.node.inputs = {upgrade.node.inputs[0], kNoValue, scales};
  upgrade.Set("coordinate_transformation_mode", std::string("asymmetric"));
  upgrade.Set("nearest_mode", std::move(rounding));
  return OkStatus();
}

Status ShiftHalfPixels(NodeUpgrade& upgrade) {
  constexpr std::string_view kMode = "coordinate_transformation_mode";
  const Node& node = upgrade.node;
  if (WordOf(node, kMode, "") != "tf_half_pixel_for_nn") return OkStatus();
  // (i + 0.5) / scale is half a pixel beyond half_pixel's position: to round it
  // down is to round that one to the nearest, halves up, and to round it to the
  // nearest, halves down, is to round that one up.
  const std::string from = WordOf(node, "nearest_mode", "round_prefer_floor");
  const bool down = from == "floor";
  if (WordOf(node, "mode", "nearest") != "nearest" ||
      (!down && from != "round_prefer_floor")) {
    return upgrade.Decline("tf_half_pixel_for_nn with nearest_mode ", from,
                           ", wanted mode nearest by floor or "
                           "round_prefer_floor");
  }
  upgrade.Set(kMode, std::string("half_pixel"));
  upgrade.Set("nearest_mode", std::string(down ? "round_prefer_ceil" : "ceil"));
  return OkStatus();
}

Status PadAtEnd(NodeUpgrade& upgrade) {
  const Node& node = upgrade.node;
  if (node.Find("output_shape") == nullptr ||
      WordOf(node, "auto_pad", "NOTSET") != "NOTSET") {
    return OkStatus();
  }
  upgrade.Drop("pads");  // which output_shape overrides
  upgrade.Set("auto_pad", std::string("SAME_UPPER"));
  return OkStatus();
}

Status UpsampleToResize(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 2));
  const ValueId scales = upgrade.node.inputs[1];
  upgrade.node.op_type = "Resize";
  upgrade.node.inputs = {upgrade.node.inputs[0], kNoValue, scales};
  // Upsample multiplied indices: no half pixels, and the element below.
  upgrade.Set("coordinate_transformation_mode", std::string("asymmetric"));
  upgrade.Set("nearest_mode", std::string("floor"));
  return OkStatus();
}

namespace {

/// The extents of what Flatten makes of a value, where its own are known.
std::vector<Dim> FlatDims(const ValueType& type, int64_t axis) {
  const std::optional<Shape> shape = type.StaticShape();
  if (axis < 0 && shape.has_value()) axis += shape->rank();
  if (!shape.has_value() || axis < 0 || axis > shape->rank()) {
    return {Dim(), Dim()};
  }
  const std::span<const int64_t> dims = shape->dims();
  const auto rows = Shape(dims.first(static_cast<size_t>(axis))).NumElements();
  const auto row = Shape(dims.subspan(static_cast<size_t>(axis))).NumElements();
  if (!rows.ok() || !row.ok()) return {Dim(), Dim()};
  return {Dim(*rows), Dim(*row)};
}

}  // namespace

Status FlattenAroundSoftmax(NodeUpgrade& upgrade) {
  ASSAY_RETURN_IF_ERROR(RequireInputs(upgrade, 1));
  if (upgrade.node.outputs.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto given, upgrade.Take<int64_t>("axis"));
  const int64_t axis = given.value_or(1);
  upgrade.Set("axis", int64_t{-1});
  const ValueId x = upgrade.node.inputs[0];
  const ValueId y = upgrade.node.outputs[0];
  const auto rank = upgrade.RankOf(x);
  if (axis == -1 || (rank.has_value() && axis == *rank - 1)) return OkStatus();
  const ValueType matrix = ValueType::OfTensor(
      upgrade.TypeOf(x).dtype, FlatDims(upgrade.TypeOf(x), axis));
  const ValueId flat = upgrade.AddValue("flat", matrix);
  const ValueId flat_result = upgrade.AddValue("flat_result", matrix);
  const ValueId shape = upgrade.AddValue(
      "shape", ValueType::OfTensor(DType::kInt64,
                                   {rank.has_value() ? Dim(*rank) : Dim()}));
  upgrade.before.push_back(upgrade.MakeNode("Shape", {x}, shape));
  Node flatten = upgrade.MakeNode("Flatten", {x}, flat);
  flatten.attributes.push_back({"axis", axis, ""});
  upgrade.before.push_back(std::move(flatten));
  upgrade.node.inputs[0] = flat;
  upgrade.node.outputs[0] = flat_result;
  upgrade.after.push_back(upgrade.MakeNode("Reshape", {flat_result, shape}, y));
  return OkStatus();
}

}  // namespace assay::upgrade
