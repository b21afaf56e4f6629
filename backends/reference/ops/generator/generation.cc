// SPDX-License-Identifier: Apache-2.0
//
// Operators that make elements out of attributes or of a few numbers: Constant,
// ConstantOfShape, Range, EyeLike, OneHot.

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

// Constant-25: exactly one of the attributes is given.
Result<Tensor> ConstantValue(const op::Constant& op) {
  const auto vector = [](const auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    return Tensor::Of<T>({static_cast<int64_t>(values.size())}, values);
  };
  if (op.value.has_value()) return *op.value;
  if (op.value_float.has_value()) {
    return Tensor::Of<float>({}, std::span(&*op.value_float, 1));
  }
  if (op.value_int.has_value()) {
    return Tensor::Of<int64_t>({}, std::span(&*op.value_int, 1));
  }
  if (op.value_string.has_value()) {
    return Tensor::FromStrings({}, {*op.value_string});
  }
  const Node& node = *op.node;
  if (node.Find("value_floats") != nullptr) return vector(op.value_floats);
  if (node.Find("value_ints") != nullptr) return vector(op.value_ints);
  if (node.Find("value_strings") != nullptr) {
    return Tensor::FromStrings({static_cast<int64_t>(op.value_strings.size())},
                               op.value_strings);
  }
  return InvalidArgument("no value is given");
}

// Range-27: start + i * delta for i < ceil((limit - start) / delta).
template <class T>
Status Range(const op::Range& op, KernelContext& run) {
  const DType type = run.input(op.start).dtype();
  const Loaded<T> start(run.input(op.start));
  const Loaded<T> limit(run.input(op.limit));
  const Loaded<T> delta(run.input(op.delta));
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1) {
    return InvalidArgument("start, limit and delta have ", start.size(), ", ",
                           limit.size(), " and ", delta.size(),
                           " elements, wanted scalars");
  }
  if (Value(delta[0]) == 0) return InvalidArgument("delta is 0");
  const double steps = std::ceil((static_cast<double>(Value(limit[0])) -
                                  static_cast<double>(Value(start[0]))) /
                                 static_cast<double>(Value(delta[0])));
  if (!(steps < 1e15))
    return InvalidArgument("the range has ", steps, " steps");
  const auto count = static_cast<int64_t>(std::max(steps, 0.0));
  if constexpr (std::same_as<T, Var>) {
    NoteBetween(T(steps - 1), (limit[0] - start[0]) / delta[0], T(steps));
  }
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.output, type, {count}));
  for (int64_t i = 0; i < count; ++i) {
    y[i] = start[0] + static_cast<T>(i) * delta[0];
  }
  return OkStatus();
}

// EyeLike-22: ones on diagonal k of a matrix like the input, zeros elsewhere.
template <class T>
Status EyeLike(const op::EyeLike& op, KernelContext& run) {
  const Tensor& like = run.input(op.input);
  const Shape& shape = like.shape();
  if (shape.rank() != 2) {
    return InvalidArgument("an input of shape ", shape.ToString(),
                           ", wanted a matrix");
  }
  const DType type = op.dtype.has_value()
                         ? *DTypeFromOnnx(static_cast<int>(*op.dtype))
                         : like.dtype();
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.output, type, shape));
  for (int64_t i = 0; i < y.size(); ++i) {
    y[i] = T(i % shape[1] - i / shape[1] == op.k ? 1 : 0);
  }
  return OkStatus();
}

// OneHot-28: values[1] at position indices[...] of the new axis, values[0]
// elsewhere; a negative index counts from the end, one outside gives no hot
// element.
Status OneHot(const op::OneHot& op, KernelContext& run) {
  const Tensor& indices = run.input(op.indices);
  const Tensor& values = run.input(op.values);
  const Scratch<int64_t> depth = IntegersOf(run.input(op.depth));
  if (depth.size() != 1 || values.num_elements() != 2) {
    return InvalidArgument("depth has ", depth.size(), " and values ",
                           values.num_elements(), " elements, wanted 1 and 2");
  }
  const int rank = indices.shape().rank() + 1;
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, rank));
  Dims dims = indices.shape().dims();
  dims.insert(dims.begin() + axis, depth[0]);
  const Shape shape(dims);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output, values.dtype(), shape));
  const Nest<2> one({}, {});
  const Nest<2> all({y->num_elements()}, {Strides{0}, Strides{1}});
  MoveElements(values, *y, all);
  const int64_t inner = Extent(shape, axis + 1, rank);
  const Loaded<int64_t> hot(indices);
  // Beyond int64 an index of uint64 reads as a negative one.
  const int64_t below = indices.dtype() == DType::kUint64 ? 0 : depth[0];
  for (int64_t i = 0; i < hot.size(); ++i) {
    const int64_t k = hot[i] < 0 ? hot[i] + below : hot[i];
    if (k < 0 || k >= depth[0]) continue;
    const int64_t at = (i / inner * depth[0] + k) * inner + i % inner;
    MoveElements(values, *y, one, 1, at);
  }
  return OkStatus();
}

Result<Kernel> MakeConstant(const op::Constant& op, LoadContext&) {
  ASSAY_ASSIGN_OR_RETURN(const Tensor value, ConstantValue(op));
  return Kernel{.forward = [op, value](KernelContext& run) {
    return run.SetOutput(op.output, value);
  }};
}

// A tensor of one number, shared with all that are equal: those of the two
// networks of an exact load, among others. Null where there is no memory for
// it.
std::shared_ptr<const Tensor> Filled(const Tensor& value, const Shape& shape) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Tensor>> held;
  const std::lock_guard lock(mutex);
  std::erase_if(held, [](const auto& entry) { return entry.second.expired(); });
  const std::string_view number(reinterpret_cast<const char*>(value.data()),
                                value.byte_size());
  std::weak_ptr<const Tensor>& known =
      held[StrCat(value.dtype(), shape.ToString(), number)];
  if (auto shared = known.lock()) return shared;
  Result<Tensor> filled = Tensor::Allocate(value.dtype(), shape);
  if (!filled.ok()) return nullptr;
  FillElements(value, *filled);
  const auto made = std::make_shared<const Tensor>(*std::move(filled));
  known = made;
  return made;
}

// ConstantOfShape-25: a float32 zero unless `value` is given.
Result<Kernel> MakeConstantOfShape(const op::ConstantOfShape& op,
                                   LoadContext& load) {
  Tensor value;
  if (op.value.has_value()) {
    value = *op.value;
  } else {
    ASSAY_ASSIGN_OR_RETURN(value, Tensor::Allocate(DType::kFloat32, {1}));
  }
  if (value.num_elements() != 1) {
    return InvalidArgument("value is ", value.Signature(),
                           ", wanted one element");
  }
  const Tensor* shape = load.constant(op.input);
  if (shape != nullptr) {  // filled here, once, where there is memory for it
    if (auto filled = Filled(value, Shape(IntegersOf(*shape)))) {
      return Kernel{.forward = [op, filled](KernelContext& run) {
        return run.SetOutput(op.output, *filled);
      }};
    }
  }
  return Kernel{.forward = [op, value](KernelContext& run) -> Status {
    const Shape shape(IntegersOf(run.input(op.input)));
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(op.output, value.dtype(), shape));
    FillElements(value, *y);
    return OkStatus();
  }};
}

Result<Kernel> MakeEyeLike(const op::EyeLike& op, LoadContext& load) {
  if (op.dtype.has_value() &&
      ScalarOf(DTypeFromOnnx(static_cast<int>(*op.dtype))
                   .value_or(DType::kUndefined)) == ScalarKind::kNone) {
    return Unsupported(Reason::kDType, "dtype is ", *op.dtype);
  }
  return Dispatch(load, op.input, kNumbers,
                  [&]<class T>() { return std::bind_front(&EyeLike<T>, op); });
}

Result<Kernel> MakeOneHot(const op::OneHot& op, LoadContext& load) {
  return MovingKernel(load, op.values, std::bind_front(&OneHot, op));
}

}  // namespace

Family GenerationFamily() {
  return FamilyOf(MakeConstant, MakeConstantOfShape,
                  Typed(kNumbers, []<class T>() { return &Range<T>; }),
                  MakeEyeLike, MakeOneHot);
}

}  // namespace assay::reference
