// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/cotangent.h"

#include <utility>

namespace assay::gradcheck {

std::string_view ToString(Cotangent kind) {
  switch (kind) {
    case Cotangent::kFirst:
      return "random 1";
    case Cotangent::kSecond:
      return "random 2";
    case Cotangent::kOnes:
      return "ones";
    case Cotangent::kOneHot:
      return "one-hot";
  }
  return "";
}

Result<std::vector<Value>> CotangentsOf(Cotangent kind,
                                        std::span<const int> bits,
                                        std::span<const Shape> shapes,
                                        Draw draw) {
  int64_t total = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (bits[i] > 0) total += *shapes[i].NumElements();
  }
  // The element of one-hot; counted down to where it lies.
  int64_t hot = total > 0 ? draw.Index(total) : 0;
  std::vector<Value> cotangents(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (bits[i] == 0) continue;
    const int64_t count = *shapes[i].NumElements();
    std::vector<double> numbers;
    if (kind == Cotangent::kOnes) {
      numbers.assign(static_cast<size_t>(count), 1);
    } else if (kind == Cotangent::kOneHot) {
      numbers.assign(static_cast<size_t>(count), 0);
      if (hot >= 0 && hot < count) numbers[static_cast<size_t>(hot)] = 1;
      hot -= count;
    } else {
      numbers = Weights(count, bits[i], draw);
    }
    ASSAY_ASSIGN_OR_RETURN(cotangents[i],
                           Tensor::Of<double>(shapes[i], numbers));
  }
  return cotangents;
}

Result<std::vector<Value>> TangentsOf(std::span<const Shape> shapes,
                                      Draw draw) {
  std::vector<Value> tangents;
  for (const Shape& shape : shapes) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor tangent,
        Tensor::Of<double>(shape, Signs(*shape.NumElements(), draw)));
    tangents.emplace_back(std::move(tangent));
  }
  return tangents;
}

}  // namespace assay::gradcheck
