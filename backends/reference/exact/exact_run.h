// SPDX-License-Identifier: Apache-2.0
//
// RecordedRun: a run of a traced network on a tape, and the passes over it that
// answer what ExactRun can be asked.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       auto run, RecordedRun::Make(traced, inputs, {{"x", inputs[0]}}));
//   auto values = run->Evaluate(Precision::kQuad);

#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/reference/exact/gather.h"
#include "backends/reference/exact/referee.h"
#include "backends/reference/tape/linear.h"
#include "framework/backend/backend.h"
#include "framework/backend/exact.h"

namespace assay::reference {

/// What derivatives are taken of: an input or an initializer, a tensor of
/// floating-point numbers in memory that no other of them shares.
struct Target {
  std::string name;
  Value value;
};

class RecordedRun final : public ExactRun {
 public:
  /// `network` has kernels that are Traced. The inputs and targets share memory
  /// where an input is a target.
  static Result<std::unique_ptr<ExactRun>> Make(
      Network& network, std::vector<Value> inputs, std::vector<Target> targets,
      size_t most_kept_bytes = Trace::kMostKeptBytes);

  Precision LeastPrecision() const override;
  Result<std::vector<ExactValue>> Evaluate(Precision precision) override;
  Result<std::vector<ExactValue>> Vjp(std::span<const Value> cotangents,
                                      Precision precision) override;
  Result<std::vector<ExactValue>> Jvp(std::span<const Value> tangents,
                                      Precision precision) override;
  Result<Slope> Difference(std::span<const Value> tangents,
                           std::span<const Value> cotangents) override;
  Result<std::vector<Tensor>> EvaluateUnits(UnitKind kind) override;
  Result<std::vector<Tensor>> VjpUnits(std::span<const Value> cotangents,
                                       UnitKind kind) override;
  Result<std::vector<Tensor>> JvpUnits(std::span<const Value> tangents,
                                       UnitKind kind) override;
  Result<std::vector<ExactHull>> VjpHull(std::span<const Value> cotangents,
                                         double roundoff) override;
  Result<std::vector<ExactHull>> JvpHull(std::span<const Value> tangents,
                                         double roundoff) override;

 private:
  /// A trace with the Vars of what came out and of the targets.
  struct Record {
    explicit Record(Ties ties = Ties::kFalse,
                    size_t most_kept_bytes = Trace::kMostKeptBytes)
        : trace(ties, Trace::Between::kUnrounded, most_kept_bytes) {}

    Trace trace;
    std::unique_ptr<Binding> binding;
    std::vector<Value> outputs;
    std::vector<Value> targets;
  };
  /// What a pass over the record has left.
  template <class S>
  struct Passed {
    Borders<Bounded<S>> numbers;
    bool keeps_tapes = false;
    LinearSteps<Bounded<S>> linear;  // where it does
    bool undecided = false;          // a branch may have gone the other way
  };
  /// For each target what it has for each element; null for zeros.
  using Directions = std::vector<const double*>;

  RecordedRun(Network& network, std::vector<Value> inputs,
              std::vector<Target> targets, size_t most_kept_bytes)
      : network_(network),
        inputs_(std::move(inputs)),
        targets_(std::move(targets)),
        record_(Ties::kFalse, most_kept_bytes) {}

  /// Records a run with each target moved by step times its direction.
  Status Fill(const Directions& directions, double step, Record* record) const;

  /// Calls take(x, number) for each element of an output that has a cotangent.
  template <class Take>
  Status ForEachSeed(const Record& record, std::span<const Value> cotangents,
                     const Take& take) const;
  Result<Directions> DirectionsOf(std::span<const Value> tangents) const;

  /// Of S, kept until another scalar is asked for.
  template <class S>
  Result<Passed<S>*> PassedIn();
  /// True when a branch may have gone the other way, in LeastPrecision().
  Result<bool> BranchInDoubt();

  /// Sums of outputs, each by its weight, of a run with the targets moved.
  Result<Sample> Weighted(const Directions& directions,
                          std::span<const Value> cotangents, double step) const;
  /// How far the targets may go along their directions, for Difference.
  Result<double> Reach(const Directions& directions);

  /// The units that outputs are charged, and whether they say nothing: no first
  /// order says how far a jump goes that is nearer than a rounding, nor what
  /// stands on the other side of a kink, where the run's own roundings leave
  /// open on which side it is.
  template <Charge kCharge>
  Status Charges(Left left, Borders<Charged<kCharge>>* charges, bool* unknown);

  /// What pass(record, jumps, found) finds for the values `of` a record, joined over
  /// both ways that ties may go.
  template <class Pass>
  Result<std::vector<ExactHull>> HullOf(std::vector<Value> Record::*of,
                                        double roundoff,
                                        const Pass& pass) const;

  Network& network_;
  std::vector<Value> inputs_;
  std::vector<Target> targets_;
  Record record_;
  std::variant<std::monostate, Passed<double>, Passed<Quad>, Passed<Mpfr>>
      passed_;
};

}  // namespace assay::reference
