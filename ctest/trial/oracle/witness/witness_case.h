// SPDX-License-Identifier: Apache-2.0
//
// A model and what an independent witness, generate.py, says of it, read from
// text. The README of this folder has the form.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto cases, ParseWitness(text));
//   Use(*cases[0].model, cases[0].inputs);

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"

namespace assay::witness {

/// value + tail, to twice the digits of double.
struct Number {
  double value = 0;
  double tail = 0;
};
using Numbers = std::vector<Number>;
/// By the name of an output or an input.
using NamedNumbers = std::map<std::string, Numbers, std::less<>>;

struct WitnessCase {
  std::string name;
  std::shared_ptr<const Model> model;
  std::vector<Value> inputs;  // in the model's order
  // Not all have each: integers have no derivatives, and none is stated at a
  // kink.
  NamedNumbers outputs;
  NamedNumbers cotangents, gradients;
  NamedNumbers tangents, jvps;
  /// For each element of an output the sum of |dy/dx x| over all inputs' x.
  NamedNumbers conditions;
};

/// Invalid argument, with the line, for another form.
Result<std::vector<WitnessCase>> ParseWitness(std::string_view text);

}  // namespace assay::witness
