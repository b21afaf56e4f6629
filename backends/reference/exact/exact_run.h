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
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/reference/exact/gather.h"
#include "backends/reference/exact/hull.h"
#include "backends/reference/exact/recording.h"
#include "backends/reference/exact/referee.h"
#include "backends/reference/tape/linear.h"
#include "framework/backend/exact.h"

namespace assay::reference {

/// The results of a pass over a record, kept for derivatives.
template <class N>
struct Passed {
  Borders<N> numbers;
  LinearSteps<N> linear;
  bool keeps_tapes = false;
  bool undecided = false;  // a branch may have gone the other way
};

/// A run recorded with ties going one way, and its numbers, scaled to a
/// roundoff.
struct Watched {
  explicit Watched(Ties ties) : record(ties) {}

  Recording record;
  Borders<Hard> numbers;
  bool keeps_tapes = false;
  bool jumps = false;  // a comparison of values may have gone the other way
};
/// A run for each way that ties go, if these differ.
struct WatchedRuns {
  double roundoff = 0;
  std::vector<std::unique_ptr<Watched>> runs;
};

/// One of each P at most, side by side while all are small together.
template <class... P>
class KeptPasses {
 public:
  /// Null where it is not there.
  template <class Q>
  Q* Find() {
    auto& one = std::get<std::optional<Q>>(all_);
    return one.has_value() ? &*one : nullptr;
  }
  /// Before one is made that takes so many bytes: gives memory back.
  void MakeRoom(size_t bytes) {
    if (bytes_ + bytes > kMostBytes) {
      all_ = {};
      bytes_ = 0;
    }
    bytes_ += bytes;
  }
  template <class Q>
  Q* Keep(Q one) {
    return &std::get<std::optional<Q>>(all_).emplace(std::move(one));
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 28;

  std::tuple<std::optional<P>...> all_;
  size_t bytes_ = 0;
};

class RecordedRun final : public ExactRun {
 public:
  /// `network` has kernels that are Traced. The inputs and targets share memory
  /// where an input is a target.
  static Result<std::unique_ptr<ExactRun>> Make(
      Network& network, std::vector<v1::Value> inputs,
      std::vector<Target> targets,
      size_t most_kept_bytes = Trace::kMostKeptBytes);

  Precision LeastPrecision() const override;
  Result<std::vector<ExactValue>> Evaluate(Precision precision) override;
  Result<std::vector<ExactValue>> Vjp(std::span<const v1::Value> cotangents,
                                      Precision precision) override;
  Result<std::vector<ExactValue>> Jvp(std::span<const v1::Value> tangents,
                                      Precision precision) override;
  Result<Slope> Difference(std::span<const v1::Value> tangents,
                           std::span<const v1::Value> cotangents) override;
  Result<std::vector<Tensor>> EvaluateUnits(UnitKind kind) override;
  Result<std::vector<Tensor>> VjpUnits(std::span<const v1::Value> cotangents,
                                       UnitKind kind) override;
  Result<std::vector<Tensor>> JvpUnits(std::span<const v1::Value> tangents,
                                       UnitKind kind) override;
  Result<std::vector<ExactHull>> VjpHull(std::span<const v1::Value> cotangents,
                                         double roundoff) override;
  Result<std::vector<ExactHull>> JvpHull(std::span<const v1::Value> tangents,
                                         double roundoff) override;

 private:
  RecordedRun(Network& network, std::vector<v1::Value> inputs,
              std::vector<Target> targets, size_t most_kept_bytes)
      : network_(network),
        inputs_(std::move(inputs)),
        targets_(std::move(targets)),
        record_(Ties::kFalse, most_kept_bytes) {}

  /// Records a run with each target moved by step times its direction.
  Status Fill(const Directions& directions, double step,
              Recording* record) const {
    return record->Fill(network_, inputs_, targets_, directions, step);
  }
  Result<Directions> DirectionsOf(std::span<const v1::Value> tangents) const;

  /// True when the numbers of all nodes are kept, with the bytes of these and
  /// of the derivatives.
  template <class N>
  std::pair<bool, size_t> IsSmall(const Trace& trace) const;
  /// Kept until there is no room beside others.
  template <class S>
  Result<Passed<Bounded<S>>*> PassedIn();
  template <Charge kCharge>
  Result<Passed<Charged<kCharge>>*> ChargedAsTaken();
  Result<WatchedRuns*> WatchedFor(double roundoff);
  Result<std::unique_ptr<Watched>> Watch(Ties ties, double roundoff) const;
  /// True when a branch may have gone the other way, in LeastPrecision().
  Result<bool> BranchInDoubt();

  /// Sums of outputs, each by its weight, of a run with the targets moved.
  Result<Sample> Weighted(const Directions& directions,
                          std::span<const v1::Value> cotangents,
                          double step) const;
  /// How far the targets may go along their directions, for Difference.
  Result<double> Reach(const Directions& directions);

  /// The units that outputs are charged, and whether they say nothing: no first
  /// order says how far a jump goes that is nearer than a rounding, nor what
  /// stands on the other side of a kink, where the run's own roundings leave
  /// open on which side it is.
  template <Charge kCharge>
  Status Charges(Left left, Borders<Charged<kCharge>>* charges, bool* unknown);

  /// The hulls that pass(watched, found) finds for the values `of` a record,
  /// joined over both ways that ties may go.
  template <class Pass>
  Result<std::vector<ExactHull>> HullOf(std::vector<v1::Value> Recording::*of,
                                        double roundoff, const Pass& pass);

  Network& network_;
  std::vector<v1::Value> inputs_;
  std::vector<Target> targets_;
  Recording record_;
  KeptPasses<Passed<Bounded<double>>, Passed<Bounded<Quad>>,
             Passed<Bounded<Mpfr>>, Passed<Charged<Charge::kCondition>>,
             Passed<Charged<Charge::kHard>>, WatchedRuns>
      kept_;
};

}  // namespace assay::reference
