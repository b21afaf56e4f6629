// SPDX-License-Identifier: Apache-2.0
//
// Maps of ai.onnx.ml made tensors, and tensors made maps: CastMap,
// DictVectorizer, ZipMap.

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "backends/reference/families.h"
#include "backends/reference/ops/traditionalml/lookup.h"
#include "backends/reference/ops/traditionalml/prediction.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/number_text.h"

namespace assay::reference {
namespace {

/// The map, each value of which is a tensor of one element of `dtype`, or of a
/// Var in its stead.
Result<const assay::Map*> MapOf(const KernelContext& run, Input input,
                                DType dtype) {
  const assay::Map* map = run.value(input).map();
  if (map == nullptr) {
    return InvalidArgument("input ", input.position, " is ",
                           run.value(input).Type().ToString(),
                           ", wanted a map");
  }
  for (const assay::Value& value : map->values) {
    const Tensor* const tensor = value.tensor();
    const bool traced = tensor != nullptr && IsFloatingPoint(dtype) &&
                        tensor->dtype() == kDTypeOf<Var>;
    if (tensor == nullptr || (tensor->dtype() != dtype && !traced) ||
        tensor->num_elements() != 1) {
      return InvalidArgument("input ", input.position, " has a value ",
                             value.Type().ToString(), ", wanted one ", dtype);
    }
  }
  return map;
}

/// The type of a map's values; undefined where it is not known.
DType ValueDType(const LoadContext& load, Input input) {
  const ValueType& type = load.type(input);
  if (type.kind != ValueKind::kMap || type.element == nullptr) {
    return DType::kUndefined;
  }
  return type.element->dtype;
}

/// Where a value goes: as text, or as a float or an integer.
template <class To, class From>
Result<To> ConvertValue(const From& value) {
  if constexpr (std::same_as<From, std::string>) {
    return ParseNumber<To>(value);
  } else if constexpr (std::same_as<To, std::string>) {
    return PrintNumber(value);
  } else {
    if (value >= -0x1p63F && value < 0x1p63F) return static_cast<To>(value);
    return InvalidArgument("found ", value, ", wanted an int64");
  }
}

template <class T>
T FirstOf(const Tensor& tensor) {
  if constexpr (std::same_as<T, std::string>) {
    return tensor.strings()[0];
  } else {
    return Loaded<T>(tensor)[0];
  }
}

/// Each value of the map at its place in y, empty or 0 elsewhere.
void MoveValues(const assay::Map& map, std::span<const int64_t> places,
                Tensor& y) {
  DispatchUnit(y.dtype(), [&]<class Unit>() {
    Unit* to = MutableUnits<Unit>(y);
    std::fill_n(to, y.num_elements(), Unit());
    for (size_t i = 0; i < places.size(); ++i) {
      to[places[i]] = *Units<Unit>(*map.values[i].tensor());
    }
  });
}

/// The same with conversion.
template <class From, class To>
Status ConvertValues(const assay::Map& map, std::span<const int64_t> places,
                     Tensor& y) {
  std::vector<To> elements(static_cast<size_t>(y.num_elements()));
  for (size_t i = 0; i < places.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        elements[static_cast<size_t>(places[i])],
        ConvertValue<To>(FirstOf<From>(*map.values[i].tensor())));
  }
  if constexpr (std::same_as<To, std::string>) {
    std::ranges::move(elements, y.mutable_strings().begin());
  } else {
    Encode(elements.data(), y);
  }
  return OkStatus();
}

/// Where each value of a CastMap goes.
Result<std::vector<int64_t>> PlacesOf(const op::ml::CastMap& op,
                                      const assay::Map& map) {
  const Loaded<int64_t> keys(map.keys);
  std::vector<int64_t> places(map.values.size());
  if (op.map_form == "SPARSE") {
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] = keys[static_cast<int64_t>(i)];
      if (places[i] < 0 || places[i] >= op.max_map) {
        return InvalidArgument("input 0 has key ", places[i],
                               ", wanted one in [0, ", op.max_map,
                               ") of max_map");
      }
    }
    return places;
  }
  std::vector<int64_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return keys[i]; });
  for (size_t i = 0; i < order.size(); ++i) {
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return places;
}

// ONNX page of CastMap-1: the values by ascending keys (DENSE), or each at the
// index that its key is, in a tensor of max_map elements (SPARSE). The page
// leaves open the value where no key is, here 0 or the empty string, and the
// spelling of numbers, here that of Cast-26.
template <class From, class To>
Status CastMapTo(const op::ml::CastMap& op, DType to, KernelContext& run) {
  constexpr bool kStrings = std::same_as<From, std::string>;
  ASSAY_ASSIGN_OR_RETURN(
      const assay::Map* map,
      MapOf(run, op.x, kStrings ? DType::kString : DType::kFloat32));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOf(op, *map));
  const bool sparse = op.map_form == "SPARSE";
  ASSAY_ASSIGN_OR_RETURN(
      Tensor * y,
      run.Output(op.y, to, {sparse ? op.max_map : std::ssize(places)}));
  if constexpr (std::same_as<From, To>) {
    MoveValues(*map, places, *y);
    return OkStatus();
  } else {
    return ConvertValues<From, To>(*map, places, *y);
  }
}

template <class From>
Result<Kernel> CastMapFrom(const op::ml::CastMap& op) {
  ASSAY_ASSIGN_OR_RETURN(
      const size_t to,
      WordOf("cast_to", op.cast_to, {"TO_FLOAT", "TO_STRING", "TO_INT64"}));
  constexpr Status (*kCasts[])(const op::ml::CastMap&, DType,
                               KernelContext&) = {CastMapTo<From, float>,
                                                  CastMapTo<From, std::string>,
                                                  CastMapTo<From, int64_t>};
  constexpr DType kTypes[] = {DType::kFloat32, DType::kString, DType::kInt64};
  return Kernel{.forward = std::bind_front(kCasts[to], op, kTypes[to])};
}

// ONNX page of DictVectorizer-1: each value at the index of its key in the
// vocabulary, which must have it, and zero or the empty string elsewhere. The
// page calls the result 1-D, and of shape [1, C]: it is 1-D here, as in ONNX's
// reference implementation.
Status VectorizeMap(const Lookup& vocabulary, int64_t count, DType dtype,
                    const op::ml::DictVectorizer& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const assay::Map* map, MapOf(run, op.x, dtype));
  const Scratch<int64_t> found = vocabulary.Find(map->keys);
  const auto missing = std::ranges::find(found, -1);
  if (missing != found.end()) {
    return InvalidArgument("key ", missing - found.begin(),
                           " of input 0 is not in the vocabulary of ", count);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.y, dtype, {count}));
  MoveValues(*map, found, *y);
  return OkStatus();
}

// ONNX page of ZipMap-1: each row becomes a map from the labels to its columns.
Status Zip(const Tensor& labels, const op::ml::ZipMap& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(x));
  if (rows.width != labels.num_elements()) {
    return InvalidArgument("input 0 is ", x.Signature(), ", wanted ",
                           labels.num_elements(), " columns as labels");
  }
  ValueType element;
  element.kind = ValueKind::kMap;
  element.dtype = labels.dtype();
  element.element = std::make_shared<const ValueType>(
      ValueType::OfTensor(DType::kFloat32, {}));
  Sequence maps{element, {}};
  const auto width = static_cast<size_t>(BitsOf(x.dtype()) / 8);
  for (int64_t n = 0; n < rows.count; ++n) {
    assay::Map map{labels, {}};
    for (int64_t i = 0; i < rows.width; ++i) {
      const auto at = static_cast<size_t>(n * rows.width + i);
      ASSAY_ASSIGN_OR_RETURN(
          auto value, Tensor::FromBytes(x.dtype(), {},
                                        x.bytes().subspan(at * width, width)));
      map.values.emplace_back(std::move(value));
    }
    maps.items.emplace_back(std::move(map));
  }
  return run.SetOutput(op.z, std::move(maps));
}

Result<Kernel> MakeCastMap(const op::ml::CastMap& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(
      WordOf("map_form", op.map_form, {"DENSE", "SPARSE"}).status());
  if (op.max_map < 0) return InvalidArgument("max_map is ", op.max_map);
  if (ValueDType(load, op.x) == DType::kString) {
    return CastMapFrom<std::string>(op);
  }
  if (ValueDType(load, op.x) == DType::kFloat32) return CastMapFrom<float>(op);
  return DeclineType(load, op.x, "a map to strings or floats");
}

Result<Kernel> MakeDictVectorizer(const op::ml::DictVectorizer& op,
                                  LoadContext& load) {
  const DType keys = load.dtype(op.x);
  const bool strings = keys == DType::kString;
  if (op.int64_vocabulary.empty() == op.string_vocabulary.empty() ||
      strings == op.string_vocabulary.empty()) {
    return InvalidArgument(
        "found ", op.int64_vocabulary.size(), " int64_vocabulary and ",
        op.string_vocabulary.size(), " string_vocabulary, wanted only ",
        strings ? "the second" : "the first", " for keys of ", keys);
  }
  const Tensor vocabulary =
      strings ? TensorOf(op.string_vocabulary) : TensorOf(op.int64_vocabulary);
  return Kernel{.forward = std::bind_front(&VectorizeMap, Lookup(vocabulary),
                                           vocabulary.num_elements(),
                                           ValueDType(load, op.x), op)};
}

Result<Kernel> MakeZipMap(const op::ml::ZipMap& op, LoadContext&) {
  if (op.classlabels_int64s.empty() == op.classlabels_strings.empty()) {
    return InvalidArgument("found ", op.classlabels_int64s.size(),
                           " classlabels_int64s and ",
                           op.classlabels_strings.size(),
                           " classlabels_strings, wanted one of the two");
  }
  return Kernel{.forward =
                    std::bind_front(&Zip,
                                    op.classlabels_strings.empty()
                                        ? TensorOf(op.classlabels_int64s)
                                        : TensorOf(op.classlabels_strings),
                                    op)};
}

}  // namespace

Family DictionaryFamily() {
  return FamilyOf(MakeCastMap, MakeDictVectorizer, MakeZipMap);
}

}  // namespace assay::reference
