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
#include "backends/reference/tape/trace.h"
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
  static Result<std::unique_ptr<ExactRun>> Make(Network& network,
                                                std::vector<Value> inputs,
                                                std::vector<Target> targets);

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
    explicit Record(Ties ties = Ties::kFalse) : trace(ties) {}
    const Tape& tape() const { return trace.tape(); }

    Trace trace;
    std::vector<Value> outputs;
    std::vector<Value> targets;
  };

  RecordedRun(Network& network, std::vector<Value> inputs,
              std::vector<Target> targets)
      : network_(network),
        inputs_(std::move(inputs)),
        targets_(std::move(targets)) {}

  Status Fill(Record* record) const;

  /// The cotangent of each node of a record, 0 of those that have none.
  Result<std::vector<double>> SeedsOf(const Record& record,
                                      std::span<const Value> cotangents) const;
  /// The tangent of each node.
  Result<std::vector<double>> DirectionsOf(
      const Record& record, std::span<const Value> tangents) const;

  /// The numbers of all nodes in S, kept until another scalar is asked for.
  template <class S>
  const std::vector<Bounded<S>>& NumbersIn();

  /// Sums of outputs, each by its weight, of a run with the targets moved.
  Result<Sample> Weighted(std::span<const Value> tangents,
                          std::span<const Value> cotangents, double step,
                          Record* record) const;

  /// True where units say nothing: no first order says how far a jump goes that
  /// is nearer than a rounding, nor what stands on the other side of a kink,
  /// where the run's own roundings leave open on which side it is.
  template <Charge kCharge>
  bool HasNoUnits(const std::vector<Charged<kCharge>>& charges);

  /// What pass(record, values) finds for the values `of` a record, joined over
  /// both ways that ties may go.
  template <class Pass>
  Result<std::vector<ExactHull>> HullOf(std::vector<Value> Record::*of,
                                        double roundoff,
                                        const Pass& pass) const;

  Network& network_;
  std::vector<Value> inputs_;
  std::vector<Target> targets_;
  Record record_;
  std::variant<std::monostate, std::vector<Bounded<double>>,
               std::vector<Bounded<Quad>>, std::vector<Bounded<Mpfr>>>
      numbers_;
};

}  // namespace assay::reference
