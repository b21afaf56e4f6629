// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/product.h"

namespace assay::reference {

Product DenseProduct(int64_t rows, int64_t inner, int64_t columns) {
  return {.rows = rows,
          .inner = inner,
          .columns = columns,
          .a = {inner, 1},
          .b = {columns, 1},
          .y = {columns, 1}};
}

Product ForA(const Product& p) {
  return {.rows = p.rows,
          .inner = p.columns,
          .columns = p.inner,
          .a = p.y,
          .b = p.b.Transposed(),
          .y = p.a,
          .scale = p.scale};
}

Product ForB(const Product& p) {
  return {.rows = p.inner,
          .inner = p.rows,
          .columns = p.columns,
          .a = p.a.Transposed(),
          .b = p.y,
          .y = p.b,
          .scale = p.scale};
}

}  // namespace assay::reference
