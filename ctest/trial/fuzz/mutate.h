// SPDX-License-Identifier: Apache-2.0
//
// Models broken on purpose: a seed model, changed in its bytes or in its
// structure, in a way that depends on nothing but the random numbers given.
//
//   std::mt19937_64 random(seed);
//   const std::string bytes = Mutate(seed_model_bytes, random);

#pragma once

#include <random>
#include <string>

namespace assay::fuzz {

using Random = std::mt19937_64;

/// One to three changes: flipped, cut or repeated bytes, cycles, huge claimed
/// sizes, deep nesting, wrong types, swapped names, duplicated fields,
/// functions that call each other.
std::string Mutate(const std::string& model, Random& random);

}  // namespace assay::fuzz
