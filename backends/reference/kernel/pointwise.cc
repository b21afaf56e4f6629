// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/kernel/pointwise.h"

namespace assay::reference {
namespace {

Nest<3> PairNest(const Shape& a, const Shape& b, const Shape& y) {
  return Nest<3>(
      y, {BroadcastStrides(a, y), BroadcastStrides(b, y), DenseStrides(y)});
}

}  // namespace

template <class T>
Kernel MapKernel(MapLoop<T> loop) {
  return {.forward = [loop = std::move(loop)](KernelContext& run) -> Status {
    const Tensor& input = run.input(kFirst);
    const Loaded<T> x(input);
    ASSAY_ASSIGN_OR_RETURN(
        Stored<T> y, Store<T>(run, kResult, input.dtype(), input.shape()));
    loop(x.data(), y.data(), y.size());
    return OkStatus();
  }};
}

template <class T>
Kernel TestKernel(MapLoop<T, bool> loop) {
  return {.forward = [loop = std::move(loop)](KernelContext& run) -> Status {
    const Tensor& input = run.input(kFirst);
    const Loaded<T> x(input);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(kResult, DType::kBool, input.shape()));
    loop(x.data(), y->mutable_elements<bool>().data(), x.size());
    return OkStatus();
  }};
}

BackwardFunction MapBackward(SlopeLoop loop) {
  return [loop = std::move(loop)](GradientContext& run) -> Status {
    const Loaded<double> dy(FlowInto(run, kResult));
    ASSAY_ASSIGN_OR_RETURN(Stored<double> dx, GradientOf<double>(run, kFirst));
    if (dy.data() == nullptr || dx.data() == nullptr) return OkStatus();
    const Loaded<double> x(run.input(kFirst));
    loop(x.data(), dy.data(), dx.data(), dx.size());
    return OkStatus();
  };
}

template <class T>
Kernel PairKernel(PairLoop<T> loop) {
  return {.forward = [loop = std::move(loop)](KernelContext& run) -> Status {
    const Tensor& a = run.input(kFirst);
    const Tensor& b = run.input(kSecond);
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, Broadcast(a.shape(), b.shape()));
    const Loaded<T> va(a);
    const Loaded<T> vb(b);
    ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                           Store<T>(run, kResult, a.dtype(), shape));
    loop(PairNest(a.shape(), b.shape(), shape), va.data(), vb.data(), y.data());
    return OkStatus();
  }};
}

BackwardFunction PairBackward(PairSlopeLoop loop) {
  return [loop = std::move(loop)](GradientContext& run) -> Status {
    const Tensor& cotangent = FlowInto(run, kResult);
    const Loaded<double> dy(cotangent);
    if (dy.data() == nullptr) return OkStatus();
    const Tensor& a = run.input(kFirst);
    const Tensor& b = run.input(kSecond);
    ASSAY_ASSIGN_OR_RETURN(Stored<double> da, GradientOf<double>(run, kFirst));
    ASSAY_ASSIGN_OR_RETURN(Stored<double> db, GradientOf<double>(run, kSecond));
    const Loaded<double> va(a);
    const Loaded<double> vb(b);
    loop(PairNest(a.shape(), b.shape(), cotangent.shape()), va.data(),
         vb.data(), dy.data(), da.data(), db.data());
    return OkStatus();
  };
}

template <class T>
Kernel CompareKernel(PairLoop<T, bool> loop) {
  return {.forward = [loop = std::move(loop)](KernelContext& run) -> Status {
    const Tensor& a = run.input(kFirst);
    const Tensor& b = run.input(kSecond);
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, Broadcast(a.shape(), b.shape()));
    const Loaded<T> va(a);
    const Loaded<T> vb(b);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(kResult, DType::kBool, shape));
    loop(PairNest(a.shape(), b.shape(), shape), va.data(), vb.data(),
         y->mutable_elements<bool>().data());
    return OkStatus();
  }};
}

template Kernel MapKernel(MapLoop<float>);
template Kernel MapKernel(MapLoop<Var>);
template Kernel TestKernel(MapLoop<Var, bool>);
template Kernel PairKernel(PairLoop<Var>);
template Kernel CompareKernel(PairLoop<Var, bool>);
template Kernel MapKernel(MapLoop<double>);
template Kernel MapKernel(MapLoop<int64_t>);
template Kernel MapKernel(MapLoop<uint64_t>);
template Kernel TestKernel(MapLoop<float, bool>);
template Kernel TestKernel(MapLoop<double, bool>);
template Kernel TestKernel(MapLoop<int64_t, bool>);
template Kernel TestKernel(MapLoop<uint64_t, bool>);
template Kernel PairKernel(PairLoop<float>);
template Kernel PairKernel(PairLoop<double>);
template Kernel PairKernel(PairLoop<int64_t>);
template Kernel PairKernel(PairLoop<uint64_t>);
template Kernel CompareKernel(PairLoop<float, bool>);
template Kernel CompareKernel(PairLoop<double, bool>);
template Kernel CompareKernel(PairLoop<int64_t, bool>);
template Kernel CompareKernel(PairLoop<uint64_t, bool>);

}  // namespace assay::reference
