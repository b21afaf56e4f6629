// SPDX-License-Identifier: Apache-2.0
//
// The models that the fuzzer breaks.
//
//   for (const std::string& model : SeedModels(corpus)) Mutate(model, draw);

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::fuzz {

/// Serialized models: some written here, which reach functions, subgraphs, all
/// kinds of values and old opsets, and small ones of the exported corpus where
/// `corpus` holds it.
std::vector<std::string> SeedModels(const std::filesystem::path& corpus);

}  // namespace assay::fuzz
