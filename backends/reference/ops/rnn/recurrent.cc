// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM: one walk through time, three cells. Source: the pages of
// RNN-22, GRU-22 and LSTM-22, whose names the cells keep.

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/rnn/recurrent_activation.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

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

template <class Op>
Result<RecurrentPlan> PlanRecurrent(const Op& op, int64_t gates,
                                    const KernelContext& run) {
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
template <class T>
Result<std::vector<T>> OrZeros(const KernelContext& run, Input input,
                               int64_t size) {
  const Loaded<T> given(run.input(input));
  if (given.data() == nullptr) {
    return std::vector<T>(static_cast<size_t>(size), T(0));
  }
  if (given.size() == size) {
    return std::vector<T>(given.data(), given.data() + size);
  }
  return InvalidArgument("input ", input.position, " has ", given.size(),
                         " elements, wanted ", size);
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
    std::vector<T> reset(static_cast<size_t>(n));
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

/// The tensors of a node, as T.
template <class T>
struct RecurrentValues {
  template <class Op>
  static Result<RecurrentValues> Load(const Op& op, const RecurrentPlan& plan,
                                      const KernelContext& run) {
    RecurrentValues made;
    ASSAY_ASSIGN_OR_RETURN(
        made.x, OrZeros<T>(run, op.x, plan.steps * plan.batch * plan.inputs));
    ASSAY_ASSIGN_OR_RETURN(
        made.w,
        OrZeros<T>(run, op.w, plan.directions * plan.GateSize() * plan.inputs));
    ASSAY_ASSIGN_OR_RETURN(
        made.r,
        OrZeros<T>(run, op.r, plan.directions * plan.GateSize() * plan.hidden));
    ASSAY_ASSIGN_OR_RETURN(
        made.b, OrZeros<T>(run, op.b, plan.directions * 2 * plan.GateSize()));
    ASSAY_ASSIGN_OR_RETURN(
        made.h, OrZeros<T>(run, op.initial_h,
                           plan.directions * plan.batch * plan.hidden));
    made.y.assign(static_cast<size_t>(plan.steps) * made.h.size(), T(0));
    const Loaded<int64_t> lengths(run.input(op.sequence_lens));
    made.lengths.assign(static_cast<size_t>(plan.batch), plan.steps);
    if (lengths.data() == nullptr) return made;
    if (lengths.size() != plan.batch) {
      return InvalidArgument("sequence_lens has ", lengths.size(),
                             " elements, wanted ", plan.batch);
    }
    for (int64_t b = 0; b < plan.batch; ++b) {
      if (lengths[b] < 0 || lengths[b] > plan.steps) {
        return InvalidArgument("sequence ", b, " has the length ", lengths[b],
                               " of ", plan.steps, " steps");
      }
      made.lengths[static_cast<size_t>(b)] = lengths[b];
    }
    return made;
  }

  std::vector<T> x, w, r, b, h, c, y;
  std::vector<int64_t> lengths;
};

// Walks direction d through time, from the end of each sequence where it is
// reversed, leaving the last states in values.h (and c) and all in values.y.
template <class T, class Cell>
void Walk(const RecurrentPlan& plan, int64_t d, bool reverse,
          const SimdLoops<T>* loops, const Cell& cell,
          RecurrentValues<T>& values) {
  const int64_t size = plan.GateSize();
  const T* w = values.w.data() + d * size * plan.inputs;
  const T* r = values.r.data() + d * size * plan.hidden;
  const T* bias = values.b.data() + d * 2 * size;
  Product from_input = DenseProduct(1, plan.inputs, size);
  from_input.b = {1, plan.inputs};
  Product from_state = DenseProduct(1, plan.hidden, size);
  from_state.b = {1, plan.hidden};
  std::vector<T> gates(static_cast<size_t>(size));
  std::vector<T> recurrent(static_cast<size_t>(size));
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
      cell(CellStep<T>{plan.hidden, gates.data(), recurrent.data(), h, c});
      std::copy_n(h, plan.hidden, values.y.data() + plan.SequenceAt(t, d, b));
    }
  }
}

template <class T>
Status StoreValues(const std::vector<T>& values, Output output, DType type,
                   const Shape& shape, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y, Store<T>(run, output, type, shape));
  if (y.data() != nullptr) std::ranges::copy(values, y.data());
  return OkStatus();
}

bool IsReverse(const std::string& direction, int64_t d) {
  return direction == "reverse" || d == 1;
}

// `make(d)` returns the cell of direction d.
template <class T, class Op, class Make>
Status Recur(const Op& op, const RecurrentPlan& plan, const SimdLoops<T>* loops,
             RecurrentValues<T>& values, const Make& make, KernelContext& run) {
  for (int64_t d = 0; d < plan.directions; ++d) {
    Walk(plan, d, IsReverse(op.direction, d), loops, make(d), values);
  }
  const DType type = run.input(op.x).dtype();
  ASSAY_RETURN_IF_ERROR(
      StoreValues(values.y, op.y, type, plan.SequenceShape(), run));
  return StoreValues(values.h, op.y_h, type, plan.StateShape(), run);
}

template <class T>
using Activations = std::vector<Activation<T>>;

template <class T>
Status Rnn(const op::RNN& op, const Activations<T>& f,
           const SimdLoops<T>* loops, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanRecurrent(op, 1, run));
  ASSAY_ASSIGN_OR_RETURN(auto values, RecurrentValues<T>::Load(op, plan, run));
  const auto cell = [&](int64_t d) { return RnnCell<T>{f.data() + d}; };
  return Recur<T>(op, plan, loops, values, cell, run);
}

template <class T>
Status Gru(const op::GRU& op, const Activations<T>& f,
           const SimdLoops<T>* loops, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanRecurrent(op, 3, run));
  ASSAY_ASSIGN_OR_RETURN(auto values, RecurrentValues<T>::Load(op, plan, run));
  const auto cell = [&](int64_t d) {
    return GruCell<T>{f.data() + 2 * d,
                      values.r.data() + d * plan.GateSize() * plan.hidden,
                      values.b.data() + (2 * d + 1) * plan.GateSize(),
                      op.linear_before_reset != 0};
  };
  return Recur<T>(op, plan, loops, values, cell, run);
}

template <class T>
Status Lstm(const op::LSTM& op, const Activations<T>& f,
            const SimdLoops<T>* loops, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanRecurrent(op, 4, run));
  ASSAY_ASSIGN_OR_RETURN(auto values, RecurrentValues<T>::Load(op, plan, run));
  ASSAY_ASSIGN_OR_RETURN(values.c,
                         OrZeros<T>(run, op.initial_c, std::ssize(values.h)));
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<T> peepholes,
      OrZeros<T>(run, op.p, plan.directions * 3 * plan.hidden));
  const auto cell = [&](int64_t d) {
    return LstmCell<T>{f.data() + 3 * d, peepholes.data() + d * 3 * plan.hidden,
                       op.input_forget != 0};
  };
  ASSAY_RETURN_IF_ERROR(Recur<T>(op, plan, loops, values, cell, run));
  return StoreValues(values.c, op.y_c, run.input(op.x).dtype(),
                     plan.StateShape(), run);
}

/// Cell<T> gives the gates and the default activations of an operator.
template <template <class> class Cell, class Op>
Result<Kernel> Make(const Op& op, LoadContext& load, auto&& forward) {
  if (op.direction != "forward" && op.direction != "reverse" &&
      op.direction != "bidirectional") {
    return InvalidArgument("direction is '", op.direction, "'");
  }
  return Dispatch(load, op.x, kFloats, [&]<class T>() -> Result<Kernel> {
    const size_t directions = op.direction == "bidirectional" ? 2 : 1;
    ASSAY_ASSIGN_OR_RETURN(
        Activations<T> f,
        ReadActivations<T>(op.activations, op.activation_alpha,
                           op.activation_beta, op.clip, Cell<T>::kDefaults,
                           directions));
    return Kernel{.forward = [op, f = std::move(f), loops = LoopsOf<T>(load),
                              forward](KernelContext& run) {
      return forward(op, f, loops, run);
    }};
  });
}

Result<Kernel> MakeRNN(const op::RNN& op, LoadContext& load) {
  return Make<RnnCell>(op, load, [](auto&&... x) { return Rnn(x...); });
}

Result<Kernel> MakeGRU(const op::GRU& op, LoadContext& load) {
  return Make<GruCell>(op, load, [](auto&&... x) { return Gru(x...); });
}

Result<Kernel> MakeLSTM(const op::LSTM& op, LoadContext& load) {
  return Make<LstmCell>(op, load, [](auto&&... x) { return Lstm(x...); });
}

}  // namespace

Family RecurrentFamily() { return FamilyOf(MakeRNN, MakeGRU, MakeLSTM); }

}  // namespace assay::reference
