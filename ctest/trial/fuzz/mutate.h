// SPDX-License-Identifier: Apache-2.0
//
// Models broken on purpose: a seed model, changed in its bytes or in its
// structure, in a way that depends on nothing but the random numbers given.
//
//   std::mt19937_64 random(seed);
//   for (const std::string& model : SeedModels(corpus)) Mutate(model, random);
//
// and the steps of loading before a backend sees a model: parse, inline, infer,
// upgrade, type, expand (pipeline.cc).

#pragma once

#include <cstddef>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::fuzz {

using Random = std::mt19937_64;

/// One to three changes: flipped, cut or repeated bytes, cycles, huge claimed
/// sizes, deep nesting, wrong types, swapped names, duplicated fields,
/// functions that call each other.
std::string Mutate(const std::string& model, Random& random);

/// Serialized models: some written here, which reach functions, subgraphs, all
/// kinds of values and old opsets, and small ones of the exported corpus where
/// `corpus` holds it.
std::vector<std::string> SeedModels(const std::filesystem::path& corpus);

/// Takes a model through those steps. Never throws, whatever the bytes are.
Status TakeThrough(std::span<const std::byte> bytes);

}  // namespace assay::fuzz
