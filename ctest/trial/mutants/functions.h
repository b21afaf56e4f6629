// SPDX-License-Identifier: Apache-2.0
//
// Where the functions of a C++ source stand, by its braces alone.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto bodies, FunctionBodies(source));
//   source.substr(bodies[0].begin, bodies[0].end - bodies[0].begin);

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "framework/core/status.h"

namespace assay::harness_mutants {

/// Of characters, without that at `end`.
struct Range {
  size_t begin = 0, end = 0;
};

/// What stands between the braces of each function, in order: those in
/// namespaces and in classes, and lambdas that are there, but none within
/// another function. Invalid argument where braces do not match.
Result<std::vector<Range>> FunctionBodies(std::string_view source);

}  // namespace assay::harness_mutants
