// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/nn/heads.h"

namespace assay::reference {

Result<Heads> Heads::Of(std::string_view input, const Shape& shape,
                        const Count& count) {
  if (shape.rank() == 4) {
    if (count.value.has_value() && *count.value != shape[1]) {
      return InvalidArgument(count.attribute, " is ", *count.value,
                             ", but input ", input, " of shape ",
                             shape.ToString(), " has ", shape[1], " heads");
    }
    return Heads{shape[0], shape[1], shape[2], shape[3], /*packed=*/false};
  }
  if (shape.rank() != 3) {
    return InvalidArgument("input ", input, " of shape ", shape.ToString(),
                           ", wanted three or four axes");
  }
  if (!count.value.has_value()) {
    return InvalidArgument("input ", input, " of shape ", shape.ToString(),
                           " has three axes, for which ", count.attribute,
                           " is wanted");
  }
  const int64_t heads = *count.value;
  if (heads <= 0 || shape[2] % heads != 0) {
    return InvalidArgument(count.attribute, " is ", heads,
                           ", wanted a positive number that divides the last "
                           "axis of input ",
                           input, " of shape ", shape.ToString());
  }
  return Heads{shape[0], heads, shape[1], shape[2] / heads, /*packed=*/true};
}

Shape Heads::shape() const {
  return packed ? Shape{batch, rows, heads * size}
                : Shape{batch, heads, rows, size};
}

}  // namespace assay::reference
