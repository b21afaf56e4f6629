// SPDX-License-Identifier: Apache-2.0
//
// PackedVars: a tensor of Vars in less memory. It keeps only the first of each
// run of Vars that follow each other in one source.
//
//   std::optional<PackedVars> packed = PackedVars::Of(vars);
//   ASSAY_ASSIGN_OR_RETURN(const Tensor again, packed->Unpack(values_of));

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "backends/reference/scalar/var.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::reference {

class PackedVars {
 public:
  /// Nullopt where there are fewer than 4096, others of kGivenSource, or where
  /// packing saves little.
  static std::optional<PackedVars> Of(const Tensor& vars);

  /// `values_of` gives what the numbers of a source are.
  Result<Tensor> Unpack(
      const std::function<const std::vector<double>&(uint32_t source)>&
          values_of) const;

 private:
  /// Vars of one source, one after another; of source 0, one constant.
  struct Run {
    uint32_t source = 0;
    uint32_t first = 0;  // of source 0, in constants_
    uint32_t count = 0;
  };

  explicit PackedVars(Shape shape) : shape_(std::move(shape)) {}
  bool ContinuesLastRun(const Var& x) const;

  Shape shape_;
  std::vector<Run> runs_;
  std::vector<double> constants_;
};

/// The numbers of a tensor of Vars that were given, with no derivative taken of
/// them, or are constants: as float32, or as float64 where that rounds one.
/// Nullopt where another is among them.
Result<std::optional<Tensor>> NumbersNotComputed(const Tensor& vars);

}  // namespace assay::reference
