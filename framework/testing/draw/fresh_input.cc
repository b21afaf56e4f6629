// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/fresh_input.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "framework/core/text.h"
#include "framework/metric/element.h"
#include "framework/testing/draw/number_set.h"

namespace assay::draw {
namespace {

/// A number of mean 0 and variance 1, taken into a set.
double Number(NumberSet set, Draw& draw) {
  return NumberIn(set, (2 * draw.Uniform() - 1) * std::sqrt(3));
}

template <class T>
void Put(const T& element, int64_t place, Tensor* tensor) {
  std::memcpy(tensor->mutable_data() + static_cast<size_t>(place) * sizeof(T),
              &element, sizeof(T));
}

/// Bit patterns of a type of at most 8 bits: any of an integer's; of a float,
/// the least number that is not below one that is drawn.
void FillNarrow(NumberSet set, Draw& draw, Tensor* tensor) {
  const DType type = tensor->dtype();
  const int width = BitsOf(type);
  const bool is_float = IsFloatingPoint(type);
  std::map<double, uint64_t> patterns;
  for (uint64_t bits = 0; is_float && bits < uint64_t{1} << width; ++bits) {
    const double number = metric::DecodeFloat(type, bits);
    if (std::isfinite(number)) patterns.emplace(number, bits);
  }
  const bool has_sign = is_float && patterns.begin()->first < 0;
  std::fill_n(tensor->mutable_data(), tensor->byte_size(), std::byte{0});
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const double number = is_float ? Number(set, draw) : 0;
    const uint64_t bits =
        is_float
            ? patterns.lower_bound(has_sign ? number : std::abs(number))->second
            : static_cast<uint64_t>(draw.Index(int64_t{1} << width));
    for (int k = 0; k < width; ++k) {
      const auto place = static_cast<size_t>(i * width + k);
      tensor->mutable_data()[place / 8] |=
          static_cast<std::byte>((bits >> k & 1U) << place % 8);
    }
  }
}

/// Words of the model's own, and some numbers, as a Cast wants them.
std::vector<std::string> WordsOf(const Graph& graph) {
  constexpr int kNumbers = 10;
  std::vector<std::string> words;
  for (int i = 0; i < kNumbers; ++i) words.push_back(StrCat(i));
  ForEachGraph(graph, [&](const Graph& part) {
    for (const Node& node : part.nodes) {
      for (const Attribute& attribute : node.attributes) {
        const auto* const list =
            std::get_if<std::vector<std::string>>(&attribute.held);
        if (list != nullptr)
          words.insert(words.end(), list->begin(), list->end());
      }
    }
  });
  return words;
}

/// An integer, or a bool, for a place.
int64_t Integer(const Permitted& permitted, DType type, int64_t place,
                Draw& draw) {
  constexpr int64_t kFew = 4;
  const int64_t most = type == DType::kInt8 ? 128 : kUnknownExtent;
  const bool is_known = permitted.extent != kUnknownExtent;
  switch (permitted.set) {
    case NumberSet::kNotZero:
    case NumberSet::kPositive:
    case NumberSet::kBeyondOne:
      return type == DType::kBool ? 1 : 1 + draw.Index(kFew);
    case NumberSet::kUpTo:
      return is_known ? 1 + draw.Index(std::min(permitted.extent, most)) : 1;
    case NumberSet::kPlaces:
      return place;
    case NumberSet::kBelow:
      if (is_known) return draw.Index(std::min(permitted.extent, most));
      [[fallthrough]];
    default:
      return draw.Index(type == DType::kUint8 ? 256 : 2);
  }
}

}  // namespace

Result<Tensor> FreshInput(const Graph& graph, ValueId id, const Shape& shape,
                          Draw& draw) {
  const ValueInfo& info = graph[id];
  const DType type = info.type.dtype;
  const Permitted permitted = PermittedOf(graph, id);
  if (permitted.set == NumberSet::kGiven) {
    return InvalidArgument("the input '", info.name, "' is ", permitted.reader,
                           ", of which not every number will do: give "
                           "--inputs");
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  const int64_t count = tensor.num_elements();
  if (Carries(type)) {
    std::vector<double> numbers(static_cast<size_t>(count));
    for (double& x : numbers) x = Number(permitted.set, draw);
    return TensorOf(type, shape, numbers);
  }
  if (type == DType::kString) {
    const std::vector<std::string> words = WordsOf(graph);
    for (std::string& text : tensor.mutable_strings()) {
      text = words[static_cast<size_t>(draw.Index(std::ssize(words)))];
    }
    return tensor;
  }
  if (type == DType::kComplex64 || type == DType::kComplex128) {
    for (int64_t i = 0; i < 2 * count; ++i) {
      const double part = Number(permitted.set, draw);
      if (type == DType::kComplex64) {
        Put(static_cast<float>(part), i, &tensor);
      } else {
        Put(part, i, &tensor);
      }
    }
    return tensor;
  }
  if (BitsOf(type) < 8 || IsFloatingPoint(type)) {
    FillNarrow(permitted.set, draw, &tensor);
    return tensor;
  }
  const auto size = static_cast<size_t>(BitsOf(type) / 8);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = Integer(permitted, type, i, draw);
    std::memcpy(tensor.mutable_data() + static_cast<size_t>(i) * size, &number,
                size);
  }
  return tensor;
}

}  // namespace assay::draw
