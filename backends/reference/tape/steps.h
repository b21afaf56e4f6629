// SPDX-License-Identifier: Apache-2.0
//
// Passes over a trace (trace.h), step by step, for any scalar:
//
//   const auto see = [](uint32_t, const Tape&, const std::vector<Quad>&) {};
//   Borders<Quad> numbers;
//   ASSAY_RETURN_IF_ERROR(ReplaySteps(trace, Left::kAll, &numbers, see));
//   const Var y = ...;  // an element of an output
//   const Quad more_exact = numbers.Of(y);
//
//   Borders<Quad> adjoints(NothingGiven<Quad>());
//   AddTo(trace, y.source(), y.node(), Quad(1), &adjoints);
//   ASSAY_RETURN_IF_ERROR(ReverseSteps(trace, numbers, &adjoints));
//
// Between two steps only the numbers are held that one names of the other.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "backends/reference/tape/passes.h"
#include "backends/reference/tape/trace.h"

namespace assay::reference {

/// The scalar of one of the numbers given: of a target, or of a source with
/// kGivenSource.
template <class S>
using GivenOf = std::function<S(uint32_t source, uint32_t index, double value)>;

template <class S>
GivenOf<S> GivenAs() {
  return [](uint32_t, uint32_t, double value) { return S(value); };
}

/// The numbers of steps and targets that others name, in the scalar of a pass.
template <class S>
class Borders {
 public:
  explicit Borders(GivenOf<S> given = GivenAs<S>())
      : given_(std::move(given)) {}

  bool Has(uint32_t source) const {
    return source < numbers_.size() && !numbers_[source].empty();
  }
  /// All of a source that is there.
  std::vector<S>& operator[](uint32_t source) { return numbers_[source]; }
  const std::vector<S>& operator[](uint32_t source) const {
    return numbers_[source];
  }

  void Put(uint32_t source, std::vector<S> numbers) {
    if (numbers_.size() <= source) numbers_.resize(size_t{source} + 1);
    numbers_[source] = std::move(numbers);
  }
  /// Those of a step, out of the numbers of its tape.
  void PutStep(const Trace& trace, uint32_t step, std::span<const S> of_tape) {
    std::vector<S> numbers;
    numbers.reserve(trace.source(step).size);
    for (const uint32_t node : trace.source(step).nodes) {
      numbers.push_back(of_tape[node]);
    }
    Put(step, std::move(numbers));
  }
  /// Those of all nodes of a step's tape, kept for whoever takes them.
  void KeepTape(uint32_t step, std::vector<S> of_tape) {
    tapes_[step] = std::move(of_tape);
  }
  const std::vector<S>& OfTape(uint32_t step) const { return tapes_.at(step); }
  std::vector<S> TakeTape(uint32_t step) {
    return std::move(tapes_.extract(step).mapped());
  }
  void Drop(uint32_t source) {
    if (Has(source)) numbers_[source] = std::vector<S>();
  }
  /// Lets go of what no step after this one reads.
  void DropRead(const Trace& trace, uint32_t step) {
    for (uint32_t source = 1; source < numbers_.size(); ++source) {
      if (trace.source(source).last_reader <= step) Drop(source);
    }
  }

  S Of(uint32_t source, uint32_t index, double value) const {
    return Has(source) ? numbers_[source][index] : given_(source, index, value);
  }
  /// A constant's own number where x is one.
  S Of(const Var& x) const {
    return x.source() == 0 ? S(x.value()) : Of(x.source(), x.node(), x.value());
  }

 private:
  GivenOf<S> given_;
  std::vector<std::vector<S>> numbers_;  // by source
  std::map<uint32_t, std::vector<S>> tapes_;
};

/// The inputs of a step's tape.
template <class S>
InputOf<S> InputsOf(const Tape& tape, const Borders<S>& numbers) {
  return [&tape, &numbers](uint32_t node, double value) {
    return node == 0 ? numbers.Of(kGivenSource, 0, value)
                     : numbers.Of(tape.a(node), tape.b(node), value);
  };
}

/// The numbers that a pass leaves behind: those of whole tapes, too; all that
/// steps name; or only those of sources that Trace::Keep has named.
enum class Left : uint8_t { kTapes, kAll, kKept };

/// Replays each step in turn, in the order of the run, and calls
/// see(step, tape, numbers of its nodes).
template <class S, class See>
Status ReplaySteps(Trace& trace, Left left, Borders<S>* numbers,
                   const See& see) {
  for (const uint32_t step : trace.steps()) {
    ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
    std::vector<S> of_tape = Replay<S>(*tape, InputsOf(*tape, *numbers));
    if (left == Left::kKept) numbers->DropRead(trace, step);
    see(step, *tape, of_tape);
    numbers->PutStep(trace, step, of_tape);
    if (left == Left::kTapes) numbers->KeepTape(step, std::move(of_tape));
  }
  return OkStatus();
}

/// The numbers of all nodes of a step's tape, where those that are named are
/// known: most of the work of a network is in products that are.
template <class S>
std::vector<S> ReplayStep(const Trace& trace, uint32_t step, const Tape& tape,
                          const InputOf<S>& input, const Borders<S>& numbers) {
  std::vector<S> of_tape(tape.size());
  std::vector<bool> known(tape.size(), false);
  const std::vector<uint32_t>& nodes = trace.source(step).nodes;
  for (size_t k = 0; k < nodes.size(); ++k) {
    of_tape[nodes[k]] = numbers[step][k];
    known[nodes[k]] = true;
  }
  ReplayUnknown(tape, input, known, of_tape);
  return of_tape;
}

/// For adjoints: what nothing flows into.
template <class A>
GivenOf<A> NothingGiven() {
  return [](uint32_t, uint32_t, double) { return A(); };
}

/// Adds to the adjoint of a number; none has what is neither of a step nor of a
/// target.
template <class A>
void AddTo(const Trace& trace, uint32_t source, uint32_t index, const A& flow,
           Borders<A>* adjoints) {
  if (source == 0 || (source & kGivenSource) != 0) return;
  if (!adjoints->Has(source)) {
    adjoints->Put(source, std::vector<A>(trace.source(source).size));
  }
  A& adjoint = (*adjoints)[source][index];
  adjoint = IsZero(adjoint) ? flow : adjoint + flow;
}

/// Takes the adjoints of what others name of a step to what its tape names of
/// others: reverse(adjoints of the tape's nodes) takes them over the tape.
template <class A, class Reverse>
void ReverseStep(const Trace& trace, uint32_t step, const Tape& tape,
                 const Reverse& reverse, Borders<A>* adjoints) {
  std::vector<A> flows(tape.size());
  for (size_t k = 0; k < trace.source(step).size; ++k) {
    flows[trace.source(step).nodes[k]] = (*adjoints)[step][k];
  }
  adjoints->Drop(step);
  reverse(flows);
  for (uint32_t node = 1; node < tape.size(); ++node) {
    if (tape.primitive(node) == Primitive::kInput && !IsZero(flows[node])) {
      AddTo(trace, tape.a(node), tape.b(node), flows[node], adjoints);
    }
  }
}

/// Takes the adjoints of outputs to the targets, from the last step to the
/// first. `numbers` are what ReplaySteps left of all; those of a step's nodes
/// go through `prepare` before they are used.
template <class S, class A, class Prepare>
Status ReverseSteps(Trace& trace, const Borders<S>& numbers,
                    const Prepare& prepare, Borders<A>* adjoints) {
  for (size_t i = trace.steps().size(); i-- > 0;) {
    const uint32_t step = trace.steps()[i];
    if (!adjoints->Has(step)) continue;
    ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
    const InputOf<S> input = InputsOf(*tape, numbers);
    std::vector<S> of_tape = ReplayStep(trace, step, *tape, input, numbers);
    prepare(of_tape);
    ReverseStep(
        trace, step, *tape,
        [&](std::vector<A>& flows) { Reverse(*tape, of_tape, flows, input); },
        adjoints);
  }
  return OkStatus();
}
/// The same with the numbers of whole tapes that are kept.
template <class S, class A>
Status ReverseKeptSteps(Trace& trace, const Borders<S>& numbers,
                        Borders<A>* adjoints) {
  for (size_t i = trace.steps().size(); i-- > 0;) {
    const uint32_t step = trace.steps()[i];
    if (!adjoints->Has(step)) continue;
    ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
    ReverseStep(
        trace, step, *tape,
        [&](std::vector<A>& flows) {
          Reverse(*tape, numbers.OfTape(step), flows, InputsOf(*tape, numbers));
        },
        adjoints);
  }
  return OkStatus();
}
template <class S, class A>
Status ReverseSteps(Trace& trace, const Borders<S>& numbers,
                    Borders<A>* adjoints) {
  return ReverseSteps(
      trace, numbers, [](const std::vector<S>&) {}, adjoints);
}

}  // namespace assay::reference
