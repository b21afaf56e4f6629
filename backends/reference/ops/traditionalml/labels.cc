// SPDX-License-Identifier: Apache-2.0
//
// Keys of ai.onnx.ml turned into what stands for them: LabelEncoder,
// CategoryMapper, OneHotEncoder.

#include <algorithm>
#include <functional>
#include <memory>

#include "backends/reference/families.h"
#include "backends/reference/ops/traditionalml/lookup.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

/// Keys, the value of each, and that of any other key.
struct Dictionary {
  Lookup keys;
  Tensor values;
  Tensor otherwise;  // one element of the same type

  template <class Unit>
  static void Put(std::span<const int64_t> found, const Unit* from,
                  const Unit& none, Unit* to) {
    for (const int64_t at : found) *to++ = at < 0 ? none : from[at];
  }

  Status Run(Input input, Output output, KernelContext& run) const {
    const Tensor& x = run.input(input);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(output, values.dtype(), x.shape()));
    const Scratch<int64_t> found = keys.Find(x);
    if (y->dtype() != values.dtype()) {  // numbers, among Vars
      Put(found, Loaded<Var>(values).data(), Loaded<Var>(otherwise)[0],
          y->mutable_elements<Var>().data());
      return OkStatus();
    }
    DispatchUnit(values.dtype(), [&]<class Unit>() {
      Put(found, Units<Unit>(values), *Units<Unit>(otherwise),
          MutableUnits<Unit>(*y));
    });
    return OkStatus();
  }
};

Kernel KernelOf(Dictionary dictionary, Input x, Output y) {
  const auto shared = std::make_shared<const Dictionary>(std::move(dictionary));
  return {
      .forward = [=](KernelContext& run) { return shared->Run(x, y, run); }};
}

/// The one of four attributes that is given: `name` and _tensor, _strings,
/// _int64s or _floats.
Result<Tensor> OneOf(std::string_view name, const std::optional<Tensor>& tensor,
                     const std::vector<std::string>& strings,
                     const std::vector<int64_t>& integers,
                     const std::vector<float>& floats) {
  const int given = static_cast<int>(tensor.has_value()) +
                    static_cast<int>(!strings.empty()) +
                    static_cast<int>(!integers.empty()) +
                    static_cast<int>(!floats.empty());
  if (given != 1) {
    return InvalidArgument("found ", given, " of ", name, "_tensor, ", name,
                           "_strings, ", name, "_int64s and ", name,
                           "_floats, wanted one");
  }
  if (tensor.has_value()) {
    if (tensor->shape().rank() == 1) return *tensor;
    return InvalidArgument(name, "_tensor is ", tensor->Signature(),
                           ", wanted one axis");
  }
  if (!strings.empty()) return TensorOf(strings);
  return integers.empty() ? TensorOf(floats) : TensorOf(integers);
}

// ONNX page of LabelEncoder-4: what a key that is not listed becomes. Where
// default_tensor is not given, the default of the class of the value's type.
Result<Tensor> DefaultOf(const op::ml::LabelEncoder& op, DType dtype) {
  if (op.default_tensor.has_value()) {
    const Tensor& given = *op.default_tensor;
    if (given.dtype() == dtype && given.num_elements() == 1) return given;
    return InvalidArgument("default_tensor is ", given.Signature(),
                           ", wanted one ", dtype, " as the values");
  }
  if (dtype == DType::kString) {
    return TensorOf(std::vector<std::string>{op.default_string});
  }
  ASSAY_ASSIGN_OR_RETURN(auto made, Tensor::Allocate(dtype, {1}));
  if (IsFloatingPoint(dtype)) {
    Encode(&op.default_float, made);
  } else {
    Encode(&op.default_int64, made);
  }
  return made;
}

/// The position of each element among the categories.
Scratch<int64_t> FindCategories(const Lookup& categories, const Tensor& x) {
  if (!HoldsFloats(x)) return categories.Find(x);
  if (x.dtype() == kDTypeOf<Var>) {
    const Loaded<Var> vars(x);
    Tensor cast =
        TensorOf(std::vector<int64_t>(static_cast<size_t>(vars.size()), 0));
    Encode(vars.data(), cast);  // notes what the cast decides
  }
  // Cast to integers; what none is near to has no category.
  const Loaded<double> floats(x);
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < floats.size(); ++i) {
    const bool fits = floats[i] >= -0x1p63 && floats[i] < 0x1p63;
    integers.push_back(fits ? static_cast<int64_t>(floats[i]) : 0);
  }
  Scratch<int64_t> found = categories.Find(TensorOf(integers));
  for (int64_t i = 0; i < floats.size(); ++i) {
    const bool fits = floats[i] >= -0x1p63 && floats[i] < 0x1p63;
    if (!fits) found[static_cast<size_t>(i)] = -1;
  }
  return found;
}

// ONNX page of OneHotEncoder-1: a last axis of as many elements as there are
// categories, 1 at that of the element and 0 elsewhere. Floats are cast to
// integers. The last of equal categories counts, as in ONNX's reference
// implementation.
Status OneHot(const Lookup& categories, int64_t count,
              const op::ml::OneHotEncoder& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Scratch<int64_t> found = FindCategories(categories, x);
  Dims dims = x.shape().dims();
  dims.push_back(count);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<float>(run, op.y, DType::kFloat32, Shape(dims)));
  std::fill_n(y.data(), y.size(), 0.0F);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] >= 0) {
      y[static_cast<int64_t>(i) * count + found[i]] = 1;
    } else if (op.zeros == 0) {
      return InvalidArgument("element ", i, " of input 0 is of no category of ",
                             count, ", wanted one since zeros is 0");
    }
  }
  return OkStatus();
}

// ONNX page of LabelEncoder-4: the i-th key becomes the i-th value; NaN is
// one key, and of equal keys the last takes precedence.
Result<Kernel> MakeLabelEncoder(const op::ml::LabelEncoder& op,
                                LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const Tensor keys,
                         OneOf("keys", op.keys_tensor, op.keys_strings,
                               op.keys_int64s, op.keys_floats));
  ASSAY_ASSIGN_OR_RETURN(Tensor values,
                         OneOf("values", op.values_tensor, op.values_strings,
                               op.values_int64s, op.values_floats));
  if (keys.num_elements() != values.num_elements()) {
    return InvalidArgument("found ", keys.num_elements(), " keys and ",
                           values.num_elements(), " values, wanted as many");
  }
  if (keys.dtype() != load.dtype(op.x)) {
    return InvalidArgument("input 0 is ", load.type(op.x).ToString(),
                           ", wanted ", keys.dtype(), " as the keys");
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor otherwise, DefaultOf(op, values.dtype()));
  return KernelOf({Lookup(keys), std::move(values), std::move(otherwise)}, op.x,
                  op.y);
}

// ONNX page of CategoryMapper-1: strings become integers and integers
// strings, by two lists of equal length.
Result<Kernel> MakeCategoryMapper(const op::ml::CategoryMapper& op,
                                  LoadContext& load) {
  if (op.cats_int64s.size() != op.cats_strings.size()) {
    return InvalidArgument("found ", op.cats_int64s.size(), " cats_int64s and ",
                           op.cats_strings.size(),
                           " cats_strings, wanted as many");
  }
  Tensor integers = TensorOf(op.cats_int64s);
  Tensor strings = TensorOf(op.cats_strings);
  if (load.dtype(op.x) == DType::kString) {
    return KernelOf({Lookup(strings), std::move(integers),
                     TensorOf(std::vector<int64_t>{op.default_int64})},
                    op.x, op.y);
  }
  return KernelOf({Lookup(integers), std::move(strings),
                   TensorOf(std::vector<std::string>{op.default_string})},
                  op.x, op.y);
}

Result<Kernel> MakeOneHotEncoder(const op::ml::OneHotEncoder& op,
                                 LoadContext& load) {
  const bool strings = load.dtype(op.x) == DType::kString;
  if (op.cats_int64s.empty() == op.cats_strings.empty() ||
      strings == op.cats_strings.empty()) {
    return InvalidArgument(
        "found ", op.cats_int64s.size(), " cats_int64s and ",
        op.cats_strings.size(), " cats_strings, wanted only ",
        strings ? "the second" : "the first", " for ", load.dtype(op.x));
  }
  const Tensor categories =
      strings ? TensorOf(op.cats_strings) : TensorOf(op.cats_int64s);
  return Kernel{.forward = std::bind_front(&OneHot, Lookup(categories),
                                           categories.num_elements(), op)};
}

}  // namespace

Family LabelFamily() {
  return FamilyOf(MakeLabelEncoder, MakeCategoryMapper, MakeOneHotEncoder);
}

}  // namespace assay::reference
