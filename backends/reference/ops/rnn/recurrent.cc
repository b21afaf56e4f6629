// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM: one walk through time, three cells (recurrent_cells.h).
// The gradients, of all outputs by all inputs that are wanted, are the walk
// again, in double, then back through time (Werbos 1990).

#include <algorithm>
#include <functional>
#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/rnn/recurrent_cells.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

/// The cell of an operator.
template <class T, class Op>
using CellOf = decltype(CellAt(std::declval<Op>(), RecurrentPlan(),
                               RecurrentValues<T>(), Activations<T>(), 0));

template <class T>
Status StoreValues(const Scratch<T>& values, Output output, DType type,
                   const Shape& shape, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, output, type, shape));
  if (y.data() != nullptr) std::ranges::copy(values, y.data());
  return OkStatus();
}

template <class T, class Op>
Status Recur(const Op& op, const Activations<T>& f, const SimdLoops<T>* loops,
             KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         PlanRecurrent(op, CellOf<T, Op>::kGates, run));
  ASSAY_ASSIGN_OR_RETURN(auto values, RecurrentValues<T>::Load(op, plan, run));
  for (int64_t d = 0; d < plan.directions; ++d) {
    Walk(plan, d, IsReverse(op.direction, d), loops,
         CellAt(op, plan, values, f, d), values, [](auto&&...) {});
  }
  const DType type = run.input(op.x).dtype();
  ASSAY_RETURN_IF_ERROR(
      StoreValues(values.y, op.y, type, plan.SequenceShape(), run));
  ASSAY_RETURN_IF_ERROR(
      StoreValues(values.h, op.y_h, type, plan.StateShape(), run));
  if constexpr (requires { op.y_c; }) {
    return StoreValues(values.c, op.y_c, type, plan.StateShape(), run);
  }
  return OkStatus();
}

using Numbers = Scratch<double>;

/// The values that the cell was given at one step.
struct Noted {
  int64_t t = 0;
  int64_t b = 0;
  Numbers gates, recurrent, h, c;
};

/// The flow into the values that a cell was given at one step. h and c hold the
/// flow into the new states, and then into the old ones, except through the
/// recurrent sums.
struct CellFlow {
  double* h;
  double* c;
  double* gates;
  double* recurrent;
};

/// An activation at a sum: its value, and what flows on through it.
struct Activated {
  Activated(const Activation<Slope>& f, double sum) {
    const Slope y = f(Slope(sum, 1));
    value = y.value;
    slope = y.tangent;
  }
  double Through(double flow) const { return Flow(flow, slope); }

  double value;
  double slope;
};

struct RnnBackward {
  void operator()(const Noted& at, const CellFlow& flow) const {
    for (size_t j = 0; j < at.h.size(); ++j) {
      const Activated y(f[0], at.gates[j] + at.recurrent[j]);
      flow.gates[j] = flow.recurrent[j] = y.Through(flow.h[j]);
      flow.h[j] = 0;
    }
  }
  const Activation<Slope>* f;
};

struct GruBackward {
  void operator()(const Noted& at, const CellFlow& flow) const {
    const size_t n = at.h.size();
    Numbers reset(n);
    Numbers into_reset(n);
    for (size_t j = 0; j < n; ++j) {
      reset[j] = Activated(f[0], at.gates[n + j] + at.recurrent[n + j]).value;
    }
    Numbers before(n);  // what flows into the old state
    for (size_t j = 0; j < n; ++j) {
      const Activated z(f[0], at.gates[j] + at.recurrent[j]);
      const Activated h(f[1], at.gates[2 * n + j] + PartOf(at, reset, j));
      const double into = flow.h[j];
      before[j] += Flow(into, z.value);
      flow.gates[j] = flow.recurrent[j] =
          z.Through(Flow(into, at.h[j]) - Flow(into, h.value));
      flow.gates[2 * n + j] = h.Through(Flow(into, 1 - z.value));
      IntoPart(at, reset, j, flow, &into_reset, &before);
    }
    for (size_t j = 0; j < n; ++j) {
      const Activated y(f[0], at.gates[n + j] + at.recurrent[n + j]);
      flow.gates[n + j] = flow.recurrent[n + j] = y.Through(into_reset[j]);
    }
    std::ranges::copy(before, flow.h);
  }

  // The part of the candidate that the old state has.
  double PartOf(const Noted& at, const Numbers& reset, size_t j) const {
    const size_t n = at.h.size();
    if (linear_before_reset) return reset[j] * at.recurrent[2 * n + j];
    double sum = rb[2 * n + j];
    for (size_t k = 0; k < n; ++k) {
      sum += reset[k] * at.h[k] * r[(2 * n + j) * n + k];
    }
    return sum;
  }

  void IntoPart(const Noted& at, const Numbers& reset, size_t j,
                const CellFlow& flow, Numbers* into_reset,
                Numbers* before) const {
    const size_t n = at.h.size();
    const double into = flow.gates[2 * n + j];
    if (linear_before_reset) {
      (*into_reset)[j] += Flow(into, at.recurrent[2 * n + j]);
      flow.recurrent[2 * n + j] = Flow(into, reset[j]);
      return;
    }
    flow.recurrent[2 * n + j] = 0;
    if (into == 0) return;
    drb[2 * n + j] += into;
    for (size_t k = 0; k < n; ++k) {
      const size_t at_r = (2 * n + j) * n + k;
      (*into_reset)[k] += Flow(Flow(into, r[at_r]), at.h[k]);
      (*before)[k] += Flow(Flow(into, r[at_r]), reset[k]);
      dr[at_r] += Flow(Flow(into, reset[k]), at.h[k]);
    }
  }

  const Activation<Slope>* f;
  const double* r;  // of the direction, as all that follow
  const double* rb;
  double* dr;
  double* drb;
  bool linear_before_reset;
};

struct LstmBackward {
  void operator()(const Noted& at, const CellFlow& flow) const {
    const size_t n = at.h.size();
    const auto gate = [&](size_t k, size_t j, double peephole) {
      return Activated(
          f[k == 3 ? 1 : 0],
          at.gates[k * n + j] + at.recurrent[k * n + j] + peephole);
    };
    for (size_t j = 0; j < n; ++j) {
      const double before = at.c[j];
      const Activated in = gate(0, j, p[j] * before);
      const Activated forget = gate(2, j, p[2 * n + j] * before);
      const Activated candidate = gate(3, j, 0);
      const double kept = input_forget ? 1 - in.value : forget.value;
      const double c = kept * before + in.value * candidate.value;
      const Activated out = gate(1, j, p[n + j] * c);
      const Activated h(f[2], c);
      double into_before = 0;
      // A gate's flow goes to both sums, and through the peephole to a state.
      const auto through = [&](size_t k, size_t of_p, double into, double state,
                               double* into_state) {
        flow.gates[k * n + j] = flow.recurrent[k * n + j] = into;
        dp[of_p * n + j] += Flow(into, state);
        *into_state += Flow(into, p[of_p * n + j]);
      };
      const double into_h = flow.h[j];
      double into_c = flow.c[j] + h.Through(Flow(into_h, out.value));
      through(1, 1, out.Through(Flow(into_h, h.value)), c, &into_c);
      double into_in = Flow(into_c, candidate.value);
      const double into_kept = Flow(into_c, before);
      into_before += Flow(into_c, kept);
      if (input_forget) {
        into_in -= into_kept;
        flow.gates[2 * n + j] = flow.recurrent[2 * n + j] = 0;
      } else {
        through(2, 2, forget.Through(into_kept), before, &into_before);
      }
      through(0, 0, in.Through(into_in), before, &into_before);
      flow.gates[3 * n + j] = flow.recurrent[3 * n + j] =
          candidate.Through(Flow(into_c, in.value));
      flow.h[j] = 0;
      flow.c[j] = into_before;
    }
  }
  const Activation<Slope>* f;
  const double* p;  // peepholes of the direction, and what flows into them
  double* dp;
  bool input_forget;
};

/// Adds flow[i] * row i of the matrix [flows, count] to `to`, and flow[i] *
/// from to row i of its gradient.
void FlowThroughRows(const Numbers& flows, int64_t count, const double* matrix,
                     const double* from, double* to, double* dmatrix) {
  for (const double flow : flows) {
    if (flow != 0) {
      for (int64_t k = 0; k < count; ++k) {
        to[k] += Flow(flow, matrix[k]);
        dmatrix[k] += Flow(flow, from[k]);
      }
    }
    matrix += count;
    dmatrix += count;
  }
}

/// The flow into each tensor of a node, like RecurrentValues.
struct RecurrentFlow {
  template <class Op>
  RecurrentFlow(const Op& op, const RecurrentValues<double>& values,
                const GradientContext& run)
      : x(values.x.size()),
        w(values.w.size()),
        r(values.r.size()),
        b(values.b.size()),
        h(FlowOrZeros(run, op.y_h, std::ssize(values.h))),
        p(values.p.size()) {
    if constexpr (requires { op.y_c; }) {
      c = FlowOrZeros(run, op.y_c, std::ssize(values.c));
    }
  }

  template <class Op>
  Status Store(const Op& op, GradientContext& run) const {
    if constexpr (requires { op.p; }) {
      ASSAY_RETURN_IF_ERROR(StoreOne(op.p, p, run));
      ASSAY_RETURN_IF_ERROR(StoreOne(op.initial_c, c, run));
    }
    const std::pair<Input, const Numbers*> all[] = {
        {op.x, &x}, {op.w, &w}, {op.r, &r}, {op.b, &b}, {op.initial_h, &h}};
    for (const auto& [input, flows] : all) {
      ASSAY_RETURN_IF_ERROR(StoreOne(input, *flows, run));
    }
    return OkStatus();
  }
  static Status StoreOne(Input input, const Numbers& flows,
                         GradientContext& run) {
    if (!run.wanted(input)) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(input));
    Encode(flows.data(), *gradient);
    return OkStatus();
  }

  Numbers x, w, r, b, h, c, p;
};

/// The gradient of the cell of direction d.
RnnBackward BackwardAt(const op::RNN&, const RecurrentPlan&,
                       const RecurrentValues<double>&,
                       const Activations<Slope>& f, int64_t d, RecurrentFlow&) {
  return {f.data() + d};
}
GruBackward BackwardAt(const op::GRU& op, const RecurrentPlan& plan,
                       const RecurrentValues<double>& values,
                       const Activations<Slope>& f, int64_t d,
                       RecurrentFlow& flow) {
  const int64_t r = d * plan.GateSize() * plan.hidden;
  const int64_t b = (2 * d + 1) * plan.GateSize();
  return {f.data() + 2 * d,  values.r.data() + r, values.b.data() + b,
          flow.r.data() + r, flow.b.data() + b,   op.linear_before_reset != 0};
}
LstmBackward BackwardAt(const op::LSTM& op, const RecurrentPlan& plan,
                        const RecurrentValues<double>& values,
                        const Activations<Slope>& f, int64_t d,
                        RecurrentFlow& flow) {
  const int64_t p = d * 3 * plan.hidden;
  return {f.data() + 3 * d, values.p.data() + p, flow.p.data() + p,
          op.input_forget != 0};
}

/// Takes direction d back through time. `forward` is the cell, `backward` its
/// gradient.
template <class Cell, class Backward>
void WalkBack(const RecurrentPlan& plan, int64_t d, bool reverse,
              const Cell& forward, const Backward& backward,
              const Loaded<double>& into_y, RecurrentValues<double>& values,
              RecurrentFlow* flow) {
  std::vector<Noted> steps;
  Walk<double>(
      plan, d, reverse, nullptr, forward, values,
      [&](int64_t t, int64_t b, const CellStep<double>& at) {
        const auto copy = [](const double* from, int64_t count) {
          return from == nullptr ? Numbers() : Numbers(from, from + count);
        };
        steps.push_back({t, b, copy(at.gates, plan.GateSize()),
                         copy(at.recurrent, plan.GateSize()),
                         copy(at.h, at.hidden), copy(at.c, at.hidden)});
      });
  const int64_t size = plan.GateSize();
  Numbers gates(static_cast<size_t>(size));
  Numbers recurrent(static_cast<size_t>(size));
  double* const bias = flow->b.data() + d * 2 * size;
  while (!steps.empty()) {
    const Noted& at = steps.back();
    const int64_t state = plan.StateAt(d, at.b);
    double* const h = flow->h.data() + state;
    double* const c = flow->c.empty() ? nullptr : flow->c.data() + state;
    if (into_y.data() != nullptr) {
      const double* const y = into_y.data() + plan.SequenceAt(at.t, d, at.b);
      for (int64_t j = 0; j < plan.hidden; ++j) h[j] += y[j];
    }
    backward(at, CellFlow{h, c, gates.data(), recurrent.data()});
    for (int64_t k = 0; k < size; ++k) {
      bias[k] += gates[static_cast<size_t>(k)];
      bias[size + k] += recurrent[static_cast<size_t>(k)];
    }
    const int64_t x = plan.InputAt(at.t, at.b);
    const int64_t w = d * size * plan.inputs;
    FlowThroughRows(gates, plan.inputs, values.w.data() + w,
                    values.x.data() + x, flow->x.data() + x,
                    flow->w.data() + w);
    const int64_t r = d * size * plan.hidden;
    FlowThroughRows(recurrent, plan.hidden, values.r.data() + r, at.h.data(), h,
                    flow->r.data() + r);
    steps.pop_back();
  }
}

template <class Op>
Status RecurBackward(const Op& op, GradientContext& run) {
  using Cell = CellOf<double, Op>;
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanRecurrent(op, Cell::kGates, run));
  ASSAY_ASSIGN_OR_RETURN(auto values,
                         RecurrentValues<double>::Load(op, plan, run));
  ASSAY_ASSIGN_OR_RETURN(const auto f,
                         ActivationsOf<double>(op, Cell::kDefaults));
  ASSAY_ASSIGN_OR_RETURN(const auto slopes,
                         ActivationsOf<Slope>(op, Cell::kDefaults));
  const Loaded<double> into_y(FlowInto(run, op.y));
  RecurrentFlow flow(op, values, run);
  for (int64_t d = 0; d < plan.directions; ++d) {
    WalkBack(
        plan, d, IsReverse(op.direction, d), CellAt(op, plan, values, f, d),
        BackwardAt(op, plan, values, slopes, d, flow), into_y, values, &flow);
  }
  return flow.Store(op, run);
}

template <class Op>
Result<Kernel> MakeRecurrent(const Op& op, LoadContext& load) {
  if (op.direction != "forward" && op.direction != "reverse" &&
      op.direction != "bidirectional") {
    return InvalidArgument("direction is '", op.direction, "'");
  }
  return Dispatch(load, op.x, kFloats, [&]<class T>() -> Result<Kernel> {
    ASSAY_ASSIGN_OR_RETURN(auto f,
                           ActivationsOf<T>(op, CellOf<T, Op>::kDefaults));
    Kernel kernel{.forward = std::bind_front(&Recur<T, Op>, op, std::move(f),
                                             LoopsOf<T>(load))};
    if constexpr (std::floating_point<T>) {
      kernel.backward = std::bind_front(&RecurBackward<Op>, op);
    }
    return kernel;
  });
}

}  // namespace

Family RecurrentFamily() {
  return FamilyOf(MakeRecurrent<op::RNN>, MakeRecurrent<op::GRU>,
                  MakeRecurrent<op::LSTM>);
}

}  // namespace assay::reference
