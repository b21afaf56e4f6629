// SPDX-License-Identifier: Apache-2.0
//
// Nearest: what a person may have meant by a word that is not known.
//
//   DidYouMean("Sigmod", names);     // "; did you mean Sigmoid?"
//   NearestText("basic_conv", ids);  // "; the nearest are A, B"

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::file {

/// At most five of `known` that are most like `wanted`: those that contain it,
/// or its last part, before those with the fewest edits.
std::vector<std::string> Nearest(const std::string& wanted,
                                 const std::vector<std::string>& known);

/// "; the nearest are A, B", or nothing.
std::string NearestText(const std::string& wanted,
                        const std::vector<std::string>& known);

/// "; did you mean A?" where one of `known` differs in letter case alone, or by
/// two edits or one of three letters at most; else nothing.
std::string DidYouMean(std::string_view wanted,
                       std::span<const std::string> known);

}  // namespace assay::file
