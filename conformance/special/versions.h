// SPDX-License-Identifier: Apache-2.0
//
// The theme of older versions is several files; these are their rows.
//
//   const auto cases = CasesOf(VersionsOfShapes());

#ifndef ASSAY_SPECIAL_VERSIONS_H_
#define ASSAY_SPECIAL_VERSIONS_H_

#include <span>

#include "conformance/special/typed.h"

namespace assay::inline v1 {

std::span<const TypedRow> VersionsOfShapes();
std::span<const TypedRow> VersionsOfIndexing();
std::span<const TypedRow> VersionsOfLayers();
std::span<const TypedRow> VersionsOfControl();

}  // namespace assay::inline v1

#endif  // ASSAY_SPECIAL_VERSIONS_H_
