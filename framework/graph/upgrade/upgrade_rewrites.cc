// SPDX-License-Identifier: Apache-2.0
//
// The rules that need more nodes than one.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "framework/graph/upgrade/upgrade_rules.h"

namespace assay::upgrade {
namespace {

using Integers = std::vector<int64_t>;

/// A node of one output, put before the upgraded one; its output.
ValueId Before(NodeUpgrade& upgrade, std::string_view op_type,
               std::vector<ValueId> inputs, std::string_view suffix,
               ValueType type) {
  const ValueId made = upgrade.AddValue(suffix, std::move(type));
  upgrade.before.push_back(upgrade.MakeNode(op_type, std::move(inputs), made));
  return made;
}

ValueType Integer(int64_t count) {
  return ValueType::OfTensor(DType::kInt64, {Dim(count)});
}

/// A tensor type without its first extent.
ValueType WithoutFirst(ValueType type) {
  if (type.dims.has_value() && !type.dims->empty()) {
    type.dims->erase(type.dims->begin());
  }
  return type;
}

/// [1, C / groups], where C is the extent 1 of `x`.
Result<ValueId> ChannelsPerGroup(NodeUpgrade& upgrade, ValueId x,
                                 int64_t groups) {
  const ValueId channels =
      Before(upgrade, "Shape", {x}, "channels", Integer(1));
  upgrade.before.back().attributes = {{"start", int64_t{1}, ""},
                                      {"end", int64_t{2}, ""}};
  ASSAY_ASSIGN_OR_RETURN(const ValueId divisor,
                         upgrade.AddIntegers("groups", {groups}));
  ASSAY_ASSIGN_OR_RETURN(const ValueId one, upgrade.AddIntegers("one", {1}));
  const ValueId share =
      Before(upgrade, "Div", {channels, divisor}, "share", Integer(1));
  const ValueId shape =
      Before(upgrade, "Concat", {one, share}, "repeats", Integer(2));
  upgrade.before.back().attributes = {{"axis", int64_t{0}, ""}};
  return shape;
}

/// The inputs and results of one element of the batch.
struct Batched {
  std::vector<ValueId> inputs;
  std::vector<std::vector<ValueId>> parts;  // by output, then by element
};

/// A Scan of version 9 over element `index` of the batch.
Status ScanElement(NodeUpgrade& upgrade, int64_t index, Batched& batch) {
  ASSAY_ASSIGN_OR_RETURN(Tensor scalar, Tensor::Of<int64_t>({}, {&index, 1}));
  const ValueId at = upgrade.AddConstant("element", std::move(scalar));
  Node scan = upgrade.node;
  scan.inputs.clear();
  scan.outputs.clear();
  for (const ValueId input : batch.inputs) {
    scan.inputs.push_back(Before(upgrade, "Gather", {input, at}, "of_batch",
                                 WithoutFirst(upgrade.TypeOf(input))));
  }
  ASSAY_ASSIGN_OR_RETURN(const ValueId axes, upgrade.AddIntegers("axes", {0}));
  std::vector<Node> after;
  for (size_t i = 0; i < upgrade.node.outputs.size(); ++i) {
    const ValueId whole = upgrade.node.outputs[i];
    if (whole == kNoValue) {
      scan.outputs.push_back(kNoValue);
      continue;
    }
    ValueType type = upgrade.TypeOf(whole);
    const ValueId result = upgrade.AddValue("of_element", WithoutFirst(type));
    scan.outputs.push_back(result);
    if (type.dims.has_value() && !type.dims->empty()) {
      type.dims->front() = Dim(1);
    }
    const ValueId part = upgrade.AddValue("part", std::move(type));
    after.push_back(upgrade.MakeNode("Unsqueeze", {result, axes}, part));
    batch.parts[i].push_back(part);
  }
  scan.opset = NewestOpset("");
  upgrade.before.push_back(std::move(scan));
  for (Node& node : after) upgrade.before.push_back(std::move(node));
  return OkStatus();
}

/// The batch size, when a type states it.
std::optional<int64_t> BatchOf(const NodeUpgrade& upgrade,
                               const std::vector<ValueId>& inputs) {
  for (const ValueId input : inputs) {
    const ValueType& type = upgrade.TypeOf(input);
    if (type.kind != ValueKind::kTensor || !type.dims.has_value()) continue;
    if (!type.dims->empty() && type.dims->front().known()) {
      return type.dims->front().extent;
    }
  }
  return std::nullopt;
}

/// A Cast or BitCast of a value to another element type.
ValueId To(NodeUpgrade& upgrade, DType type, ValueId value,
           std::string_view suffix, std::string_view op_type = "Cast") {
  ValueType cast = upgrade.TypeOf(value);
  cast.kind = ValueKind::kTensor;
  cast.dtype = type;
  const ValueId made =
      Before(upgrade, op_type, {value}, suffix, std::move(cast));
  upgrade.before.back().attributes = {{"to", static_cast<int64_t>(type), ""}};
  return made;
}

int64_t NumberOf(const Node& node, std::string_view name, int64_t otherwise) {
  const Attribute* const found = node.Find(name);
  const auto* const number =
      found == nullptr ? nullptr : std::get_if<int64_t>(&found->held);
  return number == nullptr ? otherwise : *number;
}

/// The type that a Cast or CastLike gives; undefined where it is not known.
DType TargetOf(const NodeUpgrade& upgrade) {
  const Node& node = upgrade.node;
  if (node.inputs.size() > 1) return upgrade.TypeOf(node.inputs[1]).dtype;
  return DTypeFromOnnx(static_cast<int>(NumberOf(node, "to", 0)))
      .value_or(DType::kUndefined);
}

/// NaN, in the type of a value.
Result<ValueId> AddNaN(NodeUpgrade& upgrade, ValueId like) {
  if (upgrade.TypeOf(like).dtype != DType::kString) {
    return upgrade.AddScalar("nan", std::numeric_limits<float>::quiet_NaN(),
                             like);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor word, Tensor::FromStrings({}, {"NaN"}));
  return upgrade.AddConstant("nan", std::move(word));
}

/// Tile whose tiles or axis, or whose input's rank, are known when it runs:
/// ones for each axis, with the tiles written where the axis says.
Status TileAsFed(NodeUpgrade& upgrade) {
  Node& node = upgrade.node;
  ASSAY_ASSIGN_OR_RETURN(const ValueId flat, upgrade.AddIntegers("flat", {-1}));
  const auto fed = [&](size_t position, std::string_view suffix) {
    const ValueId list =
        Before(upgrade, "Reshape", {node.inputs[position], flat},
               StrCat(suffix, "_list"),
               ValueType::OfTensor(upgrade.TypeOf(node.inputs[position]).dtype,
                                   {Dim(1)}));
    return To(upgrade, DType::kInt64, list, suffix);
  };
  const ValueId tiles = fed(1, "tiles");
  const ValueId axis = fed(2, "axis");
  const ValueType extents = ValueType::OfTensor(DType::kInt64, {Dim()});
  const ValueId shape =
      Before(upgrade, "Shape", {node.inputs[0]}, "shape", extents);
  const ValueId rank = Before(upgrade, "Shape", {shape}, "rank", Integer(1));
  const int64_t one = 1;
  ASSAY_ASSIGN_OR_RETURN(Tensor value, Tensor::Of<int64_t>({1}, {&one, 1}));
  const ValueId ones =
      Before(upgrade, "ConstantOfShape", {rank}, "ones", extents);
  upgrade.before.back().attributes = {{"value", std::move(value), ""}};
  const ValueId repeats = Before(upgrade, "ScatterElements",
                                 {ones, axis, tiles}, "repeats", extents);
  node.inputs = {node.inputs[0], repeats};
  return OkStatus();
}

}  // namespace

Status RepeatForChannels(NodeUpgrade& upgrade) {
  const Attribute* const given = upgrade.node.Find("num_groups");
  const auto* const groups =
      given == nullptr ? nullptr : std::get_if<int64_t>(&given->held);
  if (groups == nullptr || *groups < 1 || upgrade.node.inputs.size() != 3) {
    return InvalidArgument(upgrade.node.Label(),
                           " wants three inputs and a positive num_groups");
  }
  const ValueId x = upgrade.node.inputs[0];
  const DType type = upgrade.TypeOf(x).dtype;
  ASSAY_ASSIGN_OR_RETURN(const ValueId repeats,
                         ChannelsPerGroup(upgrade, x, *groups));
  ASSAY_ASSIGN_OR_RETURN(const ValueId column,
                         upgrade.AddIntegers("column", {-1, 1}));
  ASSAY_ASSIGN_OR_RETURN(const ValueId flat, upgrade.AddIntegers("flat", {-1}));
  for (const size_t position : {size_t{1}, size_t{2}}) {
    const ValueId per_group = upgrade.node.inputs[position];
    const ValueId standing =
        Before(upgrade, "Reshape", {per_group, column}, "standing",
               ValueType::OfTensor(type, {Dim(*groups), Dim(1)}));
    const ValueId spread =
        Before(upgrade, "Expand", {standing, repeats}, "spread",
               ValueType::OfTensor(type, {Dim(*groups), Dim()}));
    upgrade.SetInput(position,
                     Before(upgrade, "Reshape", {spread, flat}, "per_channel",
                            ValueType::OfTensor(type, {Dim()})));
  }
  // The old form computed in the input's own precision throughout.
  if (type != DType::kUndefined) {
    upgrade.Set("stash_type", static_cast<int64_t>(type));
  }
  return OkStatus();
}

Status ScanEachOfBatch(NodeUpgrade& upgrade) {
  // Every element of the batch gets nodes of its own.
  constexpr int64_t kMaxBatch = 64;
  Node& node = upgrade.node;
  if (node.inputs.size() < 2 || node.outputs.empty()) {
    return InvalidArgument(node.Label(), " has ", node.inputs.size(),
                           " inputs and ", node.outputs.size(),
                           " outputs, wanted at least 2 and 1");
  }
  if (node.inputs[0] != kNoValue) return upgrade.Decline("sequence_lens");
  Batched batch{{node.inputs.begin() + 1, node.inputs.end()}, {}};
  const auto size = BatchOf(upgrade, batch.inputs);
  if (!size.has_value() || *size < 1 || *size > kMaxBatch) {
    return upgrade.Decline("a batch of ",
                           size.has_value() ? StrCat(*size) : "unknown size",
                           ", wanted 1 to ", kMaxBatch);
  }
  ASSAY_ASSIGN_OR_RETURN(auto directions, upgrade.Take<Integers>("directions"));
  if (directions.has_value()) {
    upgrade.Set("scan_input_directions", *std::move(directions));
  }
  batch.parts.resize(node.outputs.size());
  for (int64_t i = 0; i < *size; ++i) {
    ASSAY_RETURN_IF_ERROR(ScanElement(upgrade, i, batch));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Node whole = upgrade.MakeNode("Concat", batch.parts[i], node.outputs[i]);
    whole.attributes = {{"axis", int64_t{0}, ""}};
    upgrade.before.push_back(std::move(whole));
  }
  upgrade.replaced = true;
  return OkStatus();
}

Status NormalizeEachActivation(NodeUpgrade& upgrade) {
  ASSAY_ASSIGN_OR_RETURN(const auto spatial, upgrade.Take<int64_t>("spatial"));
  if (spatial.value_or(1) != 0) return OkStatus();
  Node& node = upgrade.node;
  while (node.outputs.size() > 1 && node.outputs.back() == kNoValue) {
    node.outputs.pop_back();
  }
  if (node.outputs.size() != 1) return upgrade.Decline("training, spatial=0");
  if (node.inputs.size() != 5) {
    return InvalidArgument(node.Label(), " has ", node.inputs.size(),
                           " inputs, wanted 5");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto epsilon, upgrade.Take<float>("epsilon"));
  const std::vector<ValueId> in = node.inputs;  // x, scale, bias, mean, var
  const ValueType& x = upgrade.TypeOf(in[0]);
  const ValueType whole = x;
  const ValueType each = WithoutFirst(x);
  ASSAY_ASSIGN_OR_RETURN(
      const ValueId small,
      upgrade.AddScalar("epsilon", epsilon.value_or(1e-5F), in[0]));
  // y = (x - mean) / sqrt(var + epsilon) * scale + bias.
  const ValueId sum = Before(upgrade, "Add", {in[4], small}, "var_eps", each);
  const ValueId root = Before(upgrade, "Sqrt", {sum}, "deviation", each);
  const ValueId zero_mean =
      Before(upgrade, "Sub", {in[0], in[3]}, "centred", whole);
  const ValueId unit =
      Before(upgrade, "Div", {zero_mean, root}, "normalized", whole);
  const ValueId scaled = Before(upgrade, "Mul", {unit, in[1]}, "scaled", whole);
  upgrade.before.push_back(
      upgrade.MakeNode("Add", {scaled, in[2]}, node.outputs[0]));
  upgrade.replaced = true;
  return OkStatus();
}

Status TileAlongAxis(NodeUpgrade& upgrade) {
  Node& node = upgrade.node;
  if (node.inputs.size() != 3) {
    return InvalidArgument(node.Label(), " has ", node.inputs.size(),
                           " inputs, wanted 3");
  }
  const auto rank = upgrade.RankOf(node.inputs[0]);
  const auto tiles = upgrade.NumberOf(node.inputs[1]);
  const auto axis = upgrade.NumberOf(node.inputs[2]);
  if (!rank.has_value() || !tiles.has_value() || !axis.has_value()) {
    return TileAsFed(upgrade);
  }
  // Written so that no NaN passes.
  if (!(*axis >= 0 && *axis < static_cast<double>(*rank)) ||
      !(*tiles >= 0 && *tiles <= INT32_MAX)) {
    return InvalidArgument(node.Label(), " has ", *tiles, " tiles along axis ",
                           *axis, " of ", *rank);
  }
  Integers repeats(static_cast<size_t>(*rank), 1);
  repeats[static_cast<size_t>(*axis)] = static_cast<int64_t>(*tiles);
  ASSAY_ASSIGN_OR_RETURN(const ValueId id,
                         upgrade.AddIntegers("repeats", repeats));
  node.inputs = {node.inputs[0], id};
  return OkStatus();
}

Status SplitInputToIntegers(NodeUpgrade& upgrade) {
  Node& node = upgrade.node;
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return OkStatus();
  if (node.Find("split") != nullptr) {
    return InvalidArgument(node.Label(),
                           " has split as an input and as an attribute");
  }
  upgrade.SetInput(1, To(upgrade, DType::kInt64, node.inputs[1], "lengths"));
  return OkStatus();
}

Status InfinitiesToNaN(NodeUpgrade& upgrade) {
  Node& node = upgrade.node;
  const DType to = TargetOf(upgrade);
  const bool fnuz =
      to == DType::kFloat8E4M3FNUZ || to == DType::kFloat8E5M2FNUZ;
  if (!fnuz || NumberOf(node, "saturate", 1) == 0 || node.inputs.empty()) {
    return OkStatus();
  }
  ValueId x = node.inputs[0];
  const DType from = upgrade.TypeOf(x).dtype;
  if (from == DType::kUndefined) {
    return upgrade.Decline("a cast to ", to, " from an unknown type");
  }
  const bool text = from == DType::kString;
  const bool narrow = from == DType::kFloat8E5M2;
  const bool wide = IsFloatingPoint(from) && BitsOf(from) >= 16;
  if (!text && !narrow && !wide) return OkStatus();  // it has no infinity
  // IsInf takes no strings, and Where no float8.
  if (narrow) x = To(upgrade, DType::kFloat32, x, "number");
  const ValueId number = text ? To(upgrade, DType::kFloat64, x, "number") : x;
  ValueType flags = upgrade.TypeOf(x);
  flags.dtype = DType::kBool;
  const ValueId infinite =
      Before(upgrade, "IsInf", {number}, "infinite", std::move(flags));
  ASSAY_ASSIGN_OR_RETURN(const ValueId nan, AddNaN(upgrade, x));
  node.inputs[0] =
      Before(upgrade, "Where", {infinite, nan, x}, "finite", upgrade.TypeOf(x));
  return OkStatus();
}

Status IndicesFromBeginning(NodeUpgrade& upgrade) {
  std::vector<ValueId>& inputs = upgrade.node.inputs;
  if (inputs.empty()) return OkStatus();
  // As unsigned integers the negative ones are beyond any depth.
  const DType type = upgrade.TypeOf(inputs[0]).dtype;
  if (ClassOf(type) == DTypeClass::kUnsigned) return OkStatus();
  const ValueId whole = To(upgrade, DType::kInt64, inputs[0], "whole");
  inputs[0] = To(upgrade, DType::kUint64, whole, "from_beginning");
  return OkStatus();
}

Status KeysAsBits(NodeUpgrade& upgrade) {
  const Attribute* const given = upgrade.node.Find("keys_floats");
  const auto* const keys = given == nullptr
                               ? nullptr
                               : std::get_if<std::vector<float>>(&given->held);
  // Other numbers have one pattern of bits each.
  const auto has_more = [](float key) { return key == 0 || std::isnan(key); };
  if (keys == nullptr || upgrade.node.inputs.empty() ||
      std::ranges::none_of(*keys, has_more)) {
    return OkStatus();
  }
  Integers bits;
  for (const float key : *keys) bits.push_back(std::bit_cast<int32_t>(key));
  const ValueId pattern =
      To(upgrade, DType::kInt32, upgrade.node.inputs[0], "bits", "BitCast");
  upgrade.node.inputs[0] = To(upgrade, DType::kInt64, pattern, "key");
  upgrade.Drop("keys_floats");
  upgrade.Set("keys_int64s", std::move(bits));
  return OkStatus();
}

Status ResizeDownThenUp(NodeUpgrade& upgrade) {
  Node& node = upgrade.node;
  const ValueId scales = node.inputs[1];
  const ValueType type = upgrade.TypeOf(scales);
  ASSAY_ASSIGN_OR_RETURN(const ValueId one,
                         upgrade.AddScalar("one", 1, scales));
  const ValueId down = Before(upgrade, "Min", {scales, one}, "down", type);
  const ValueId up = Before(upgrade, "Max", {scales, one}, "up", type);
  ValueType small = upgrade.TypeOf(node.inputs[0]);
  if (small.dims.has_value()) {
    for (Dim& extent : *small.dims) extent = Dim();
  }
  const ValueId shrunk = Before(
      upgrade, "Resize", {node.inputs[0], kNoValue, down}, "shrunk", small);
  const std::string asymmetric = "asymmetric";
  upgrade.before.back().attributes = {
      {"coordinate_transformation_mode", asymmetric, ""},
      {"nearest_mode", std::string("ceil"), ""}};
  node.inputs = {shrunk, kNoValue, up};
  upgrade.Set("coordinate_transformation_mode", asymmetric);
  upgrade.Set("nearest_mode", std::string("floor"));
  return OkStatus();
}

}  // namespace assay::upgrade
