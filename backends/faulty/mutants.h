// SPDX-License-Identifier: Apache-2.0
//
// The ways in which the backend `faulty` is wrong. A mutant is right everywhere
// but in one defect, which lies in some operators, in outputs, in memory or in
// what is accepted. mutants.txt says for each mutant which fault it stands for,
// its class and the suite that must catch it.
//
//   const Mutant* mutant = FindMutant("nan");
//   ASSAY_ASSIGN_OR_RETURN(Value wrong, mutant->corrupt(right, previous));
//
// To add one, write its row in the table of its theme and its line in
// mutants.txt.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/faulty/defect.h"
#include "framework/backend/backend.h"
#include "framework/graph/model.h"

namespace assay::faulty {

/// A network that has run, before its outputs are shown.
struct Ran {
  /// As bound: tensors share the caller's memory.
  std::span<const Value> inputs;
  /// Right, in memory of their own; what they are afterwards is shown.
  Values& outputs;
  /// Memory that the caller gave for outputs, absent where none; outputs are
  /// written into what is left here.
  Values& callers;
  /// The defect's own values, as long as the network lives; empty at first.
  Values& kept;
  int64_t run_of_binding;  // from 1
  int64_t run_of_network;
};

struct Mutant {
  std::string_view name;
  OperatorDefect operators = {};
  /// The wrong output in place of the right one. `previous` is what the output
  /// of the same position was in the network before, or absent. Memory of
  /// `right` is not changed.
  Result<Value> (*corrupt)(const Value& right, const Value& previous) = nullptr;
  Status (*run)(Ran& ran) = nullptr;
  /// Replaces the inputs that are bound, before they are checked;
  /// `kept` as in Ran, but of Bind's own.
  Status (*bind)(std::span<const ValueInfo> declared, Values& inputs,
                 Values& kept) = nullptr;
  Status (*load)(std::shared_ptr<const Model>& model,
                 LoadOptions& options) = nullptr;
};

/// The tables.
std::vector<Mutant> OutputMutants();     // what is shown, whatever ran
std::vector<Mutant> AttributeMutants();  // ignored ones, ones not given
std::vector<Mutant> AxisMutants();       // swapped ones
std::vector<Mutant> InputMutants();      // ignored, broadcast wrongly
std::vector<Mutant> WeightMutants();     // transposed
std::vector<Mutant> RoundingMutants();   // ties, sums in narrow types
std::vector<Mutant> NumberMutants();     // NaN, denormals, signs, overflow
std::vector<Mutant> FormulaMutants();    // a step left out or done otherwise
std::vector<Mutant> SizeMutants();      // last, many, odd ones, pads and bounds
std::vector<Mutant> ControlMutants();   // control flow, sequences, strings
std::vector<Mutant> MemoryMutants();    // memory, repetition, chance
std::vector<Mutant> LenienceMutants();  // what must be refused

/// All of them.
std::span<const Mutant> Mutants();

/// The mutant of that name; null when there is none.
const Mutant* FindMutant(std::string_view name);

/// The model with another graph; its bytes, which ONNX's checker reads, stay.
std::shared_ptr<const Model> WithGraph(const Model& model, Graph graph);

/// A mutant by rule: ignore:Conv.dilations runs every Conv as if its model did
/// not give the attribute. There is one for each attribute that a line of
/// mutants.txt names.
struct OperatorAttribute {
  std::string op_type;
  std::string attribute;
};

/// The attribute that a mutant of such a name ignores; none for another name.
std::optional<OperatorAttribute> IgnoredAttribute(std::string_view mutant);

/// The model without the attribute, in subgraphs too.
std::shared_ptr<const Model> WithoutAttribute(const Model& model,
                                              const OperatorAttribute& what);

/// A mutant by rule: scaled:conv1 multiplies by 1.001 the first output of the
/// node of that name, or of the one whose first output has that name. It is no
/// line of mutants.txt, since no case is said to have such a node.
std::optional<std::string> ScaledNode(std::string_view mutant);

/// The model with that node so; the model as it is where no node has the name.
/// Invalid argument where the output is no tensor of floating-point numbers.
Result<std::shared_ptr<const Model>> WithScaledNode(
    std::shared_ptr<const Model> model, std::string_view name);

}  // namespace assay::faulty
