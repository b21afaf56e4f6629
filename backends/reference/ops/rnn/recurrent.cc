// SPDX-License-Identifier: Apache-2.0
//
// RNN, GRU and LSTM: one walk through time, three cells (recurrent_cells.h).

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/rnn/recurrent_backward.h"
#include "backends/reference/ops/rnn/recurrent_cells.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

template <class T>
Status StoreValues(const std::vector<T>& values, Output output, DType type,
                   const Shape& shape, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y, Store<T>(run, output, type, shape));
  if (y.data() != nullptr) std::ranges::copy(values, y.data());
  return OkStatus();
}

// `make(d)` returns the cell of direction d.
template <class T, class Op, class Make>
Status Recur(const Op& op, const RecurrentPlan& plan, const SimdLoops<T>* loops,
             RecurrentValues<T>& values, const Make& make, KernelContext& run) {
  for (int64_t d = 0; d < plan.directions; ++d) {
    Walk(plan, d, IsReverse(op.direction, d), loops, make(d), values,
         [](auto&&...) {});
  }
  const DType type = run.input(op.x).dtype();
  ASSAY_RETURN_IF_ERROR(
      StoreValues(values.y, op.y, type, plan.SequenceShape(), run));
  return StoreValues(values.h, op.y_h, type, plan.StateShape(), run);
}

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
    ASSAY_ASSIGN_OR_RETURN(Activations<T> f,
                           ActivationsOf<T>(op, Cell<T>::kDefaults));
    Kernel kernel{.forward = [op, f = std::move(f), loops = LoopsOf<T>(load),
                              forward](KernelContext& run) {
      return forward(op, f, loops, run);
    }};
    if constexpr (std::floating_point<T>) {
      kernel.backward = [op](GradientContext& run) {
        return RecurrentBackward(op, run);
      };
    }
    return kernel;
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
