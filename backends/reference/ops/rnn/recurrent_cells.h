// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM, forward and backward: their extents and tensors, their
// cells, and one walk through time. Source: the pages of RNN-22, GRU-22 and
// LSTM-22, whose names the cells keep.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/rnn/recurrent_activation.h"
#include "backends/reference/scalar/codec.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

/// The extents of a recurrent node.
struct RecurrentPlan {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t inputs = 0;
  int64_t hidden = 0;
  int64_t directions = 1;
  int64_t gates = 1;
  bool batch_first = false;  // layout 1

  int64_t GateSize() const { return gates * hidden; }
  Shape SequenceShape() const {
    return batch_first ? Shape{batch, steps, directions, hidden}
                       : Shape{steps, directions, batch, hidden};
  }
  Shape StateShape() const {
    return batch_first ? Shape{batch, directions, hidden}
                       : Shape{directions, batch, hidden};
  }
  int64_t InputAt(int64_t t, int64_t b) const {
    return (batch_first ? b * steps + t : t * batch + b) * inputs;
  }
  int64_t SequenceAt(int64_t t, int64_t d, int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d
                        : (t * directions + d) * batch + b) *
           hidden;
  }
  int64_t StateAt(int64_t d, int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }
};

/// `run` is the context of a forward or a backward run.
template <class Op, class Context>
Result<RecurrentPlan> PlanRecurrent(const Op& op, int64_t gates,
                                    const Context& run) {
  const Shape& x = run.input(op.x).shape();
  const Shape& w = run.input(op.w).shape();
  const Shape& r = run.input(op.r).shape();
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) {
    return InvalidArgument("inputs X, W and R of shapes ", x.ToString(), ", ",
                           w.ToString(), " and ", r.ToString(),
                           ", wanted three axes");
  }
  const bool batch_first = op.layout != 0;
  const RecurrentPlan plan{
      .steps = x[batch_first ? 1 : 0],
      .batch = x[batch_first ? 0 : 1],
      .inputs = x[2],
      .hidden = r[2],
      .directions = op.direction == "bidirectional" ? 2 : 1,
      .gates = gates,
      .batch_first = batch_first};
  if (op.hidden_size.value_or(plan.hidden) != plan.hidden) {
    return InvalidArgument("hidden_size is ", *op.hidden_size,
                           ", and R has the shape ", r.ToString());
  }
  const Shape wanted_w = {plan.directions, plan.GateSize(), plan.inputs};
  const Shape wanted_r = {plan.directions, plan.GateSize(), plan.hidden};
  if (w != wanted_w || r != wanted_r) {
    return InvalidArgument("inputs W and R of shapes ", w.ToString(), " and ",
                           r.ToString(), ", wanted ", wanted_w.ToString(),
                           " and ", wanted_r.ToString());
  }
  return plan;
}

/// An input of a wanted size, or zeros where it is omitted.
template <class T, class Context>
Result<Scratch<T>> OrZeros(const Context& run, Input input, int64_t size) {
  const Loaded<T> given(run.input(input));
  if (given.data() == nullptr) {
    return Scratch<T>(static_cast<size_t>(size), T(0));
  }
  if (given.size() == size) {
    return Scratch<T>(given.data(), given.data() + size);
  }
  return InvalidArgument("input ", input.position, " has ", given.size(),
                         " elements, wanted ", size);
}

template <class T>
using Activations = std::vector<Activation<T>>;

/// The activations of a node, `kCount` for each direction.
template <class T, class Op, size_t kCount>
Result<Activations<T>> ActivationsOf(
    const Op& op, const std::array<const char*, kCount>& defaults) {
  const size_t directions = op.direction == "bidirectional" ? 2 : 1;
  return ReadActivations<T>(op.activations, op.activation_alpha,
                            op.activation_beta, op.clip, defaults, directions);
}

/// The inputs of a cell for one batch row at one step. `gates` holds
/// X W^T + Wb, `recurrent` H R^T + Rb.
template <class T>
struct CellStep {
  int64_t hidden;
  const T* gates;
  T* recurrent;
  T* h;
  T* c;  // the cell state of LSTM
};

template <class T>
struct RnnCell {
  static constexpr int64_t kGates = 1;
  static constexpr std::array<const char*, 1> kDefaults = {"Tanh"};

  // Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
  void operator()(const CellStep<T>& at) const {
    for (int64_t j = 0; j < at.hidden; ++j) {
      at.h[j] = f[0](at.gates[j] + at.recurrent[j]);
    }
  }
  const Activation<T>* f;
};

template <class T>
struct GruCell {
  static constexpr int64_t kGates = 3;
  static constexpr std::array<const char*, 2> kDefaults = {"Sigmoid", "Tanh"};

  // zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz), rt likewise,
  // ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh), or with
  // linear_before_reset g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh),
  // Ht = (1 - zt) (.) ht + zt (.) Ht-1
  void operator()(const CellStep<T>& at) const {
    const int64_t n = at.hidden;
    Scratch<T> reset(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) {
      reset[static_cast<size_t>(j)] =
          f[0](at.gates[n + j] + at.recurrent[n + j]);
    }
    T* candidate = at.recurrent + 2 * n;
    if (!linear_before_reset) {
      for (int64_t j = 0; j < n; ++j) {
        T sum = rb == nullptr ? T(0) : rb[2 * n + j];
        for (int64_t k = 0; k < n; ++k) {
          sum +=
              reset[static_cast<size_t>(k)] * at.h[k] * r[(2 * n + j) * n + k];
        }
        candidate[j] = sum;
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      const T z = f[0](at.gates[j] + at.recurrent[j]);
      const T part = linear_before_reset
                         ? reset[static_cast<size_t>(j)] * candidate[j]
                         : candidate[j];
      const T h = f[1](at.gates[2 * n + j] + part);
      at.h[j] = (T(1) - z) * h + z * at.h[j];
    }
  }
  const Activation<T>* f;
  const T* r;  // of the direction
  const T* rb;
  bool linear_before_reset;
};

template <class T>
struct LstmCell {
  static constexpr int64_t kGates = 4;
  static constexpr std::array<const char*, 3> kDefaults = {"Sigmoid", "Tanh",
                                                           "Tanh"};

  // it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Pi (.) Ct-1 + Wbi + Rbi), ft likewise,
  // ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc),
  // Ct = ft (.) Ct-1 + it (.) ct,
  // ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Po (.) Ct + Wbo + Rbo),
  // Ht = ot (.) h(Ct); gates in the order i, o, f, c, peepholes i, o, f.
  void operator()(const CellStep<T>& at) const {
    const int64_t n = at.hidden;
    const auto sum = [&](int64_t gate, int64_t j) {
      return at.gates[gate * n + j] + at.recurrent[gate * n + j];
    };
    for (int64_t j = 0; j < n; ++j) {
      const T before = at.c[j];
      const T in = f[0](sum(0, j) + p[j] * before);
      const T forget =
          input_forget ? T(1) - in : f[0](sum(2, j) + p[2 * n + j] * before);
      at.c[j] = forget * before + in * f[1](sum(3, j));
      const T out = f[0](sum(1, j) + p[n + j] * at.c[j]);
      at.h[j] = out * f[2](at.c[j]);
    }
  }
  const Activation<T>* f;
  const T* p;  // peepholes of the direction
  bool input_forget;
};

/// How many steps of each sequence count.
template <class Context>
Result<Scratch<int64_t>> SequenceLengths(Input input, const RecurrentPlan& plan,
                                         const Context& run) {
  const Loaded<int64_t> given(run.input(input));
  Scratch<int64_t> lengths(static_cast<size_t>(plan.batch), plan.steps);
  if (given.data() == nullptr) return lengths;
  if (given.size() != plan.batch) {
    return InvalidArgument("sequence_lens has ", given.size(),
                           " elements, wanted ", plan.batch);
  }
  for (int64_t b = 0; b < plan.batch; ++b) {
    if (given[b] < 0 || given[b] > plan.steps) {
      return InvalidArgument("sequence ", b, " has the length ", given[b],
                             " of ", plan.steps, " steps");
    }
    lengths[static_cast<size_t>(b)] = given[b];
  }
  return lengths;
}

/// The tensors of a node, as T; c and the peepholes p are of LSTM.
template <class T>
struct RecurrentValues {
  template <class Op, class Context>
  static Result<RecurrentValues> Load(const Op& op, const RecurrentPlan& plan,
                                      const Context& run) {
    RecurrentValues made;
    const int64_t rows = plan.directions * plan.GateSize();
    const int64_t states = plan.directions * plan.batch * plan.hidden;
    ASSAY_ASSIGN_OR_RETURN(
        made.x, OrZeros<T>(run, op.x, plan.steps * plan.batch * plan.inputs));
    ASSAY_ASSIGN_OR_RETURN(made.w, OrZeros<T>(run, op.w, rows * plan.inputs));
    ASSAY_ASSIGN_OR_RETURN(made.r, OrZeros<T>(run, op.r, rows * plan.hidden));
    ASSAY_ASSIGN_OR_RETURN(made.b, OrZeros<T>(run, op.b, 2 * rows));
    ASSAY_ASSIGN_OR_RETURN(made.h, OrZeros<T>(run, op.initial_h, states));
    made.y.assign(static_cast<size_t>(plan.steps) * made.h.size(), T(0));
    ASSAY_ASSIGN_OR_RETURN(made.lengths,
                           SequenceLengths(op.sequence_lens, plan, run));
    if constexpr (requires { op.initial_c; }) {
      ASSAY_ASSIGN_OR_RETURN(made.c, OrZeros<T>(run, op.initial_c, states));
      ASSAY_ASSIGN_OR_RETURN(
          made.p, OrZeros<T>(run, op.p, plan.directions * 3 * plan.hidden));
    }
    return made;
  }

  Scratch<T> x, w, r, b, h, c, p, y;
  Scratch<int64_t> lengths;
};

/// The cell of direction d.
template <class T>
RnnCell<T> CellAt(const op::RNN&, const RecurrentPlan&,
                  const RecurrentValues<T>&, const Activations<T>& f,
                  int64_t d) {
  return {f.data() + d};
}
template <class T>
GruCell<T> CellAt(const op::GRU& op, const RecurrentPlan& plan,
                  const RecurrentValues<T>& values, const Activations<T>& f,
                  int64_t d) {
  return {f.data() + 2 * d, values.r.data() + d * plan.GateSize() * plan.hidden,
          values.b.data() + (2 * d + 1) * plan.GateSize(),
          op.linear_before_reset != 0};
}
template <class T>
LstmCell<T> CellAt(const op::LSTM& op, const RecurrentPlan& plan,
                   const RecurrentValues<T>& values, const Activations<T>& f,
                   int64_t d) {
  return {f.data() + 3 * d, values.p.data() + d * 3 * plan.hidden,
          op.input_forget != 0};
}

/// Walks direction d through time, from the end of each sequence where it is
/// reversed, leaving the last states in values.h (and c) and all in values.y.
/// Calls note(t, b, what the cell is given) before each step.
template <class T, class Cell, class Note>
void Walk(const RecurrentPlan& plan, int64_t d, bool reverse,
          const SimdLoops<T>* loops, const Cell& cell,
          RecurrentValues<T>& values, const Note& note) {
  const int64_t size = plan.GateSize();
  const T* w = values.w.data() + d * size * plan.inputs;
  const T* r = values.r.data() + d * size * plan.hidden;
  const T* bias = values.b.data() + d * 2 * size;
  Product from_input = DenseProduct(1, plan.inputs, size);
  from_input.b = {1, plan.inputs};
  Product from_state = DenseProduct(1, plan.hidden, size);
  from_state.b = {1, plan.hidden};
  Scratch<T> gates(static_cast<size_t>(size));
  Scratch<T> recurrent(static_cast<size_t>(size));
  for (int64_t b = 0; b < plan.batch; ++b) {
    const int64_t length = values.lengths[static_cast<size_t>(b)];
    T* h = values.h.data() + plan.StateAt(d, b);
    T* c = values.c.empty() ? nullptr : values.c.data() + plan.StateAt(d, b);
    for (int64_t step = 0; step < length; ++step) {
      const int64_t t = reverse ? length - 1 - step : step;
      std::copy_n(bias, size, gates.data());
      std::copy_n(bias + size, size, recurrent.data());
      Accumulate(loops, from_input, values.x.data() + plan.InputAt(t, b), w,
                 gates.data());
      Accumulate(loops, from_state, h, r, recurrent.data());
      const CellStep<T> at{plan.hidden, gates.data(), recurrent.data(), h, c};
      note(t, b, at);
      cell(at);
      std::copy_n(h, plan.hidden, values.y.data() + plan.SequenceAt(t, d, b));
    }
  }
}

inline bool IsReverse(const std::string& direction, int64_t d) {
  return direction == "reverse" || d == 1;
}

}  // namespace assay::reference
