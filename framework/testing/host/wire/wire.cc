// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/wire/wire.h"

#include <cstring>

namespace assay::wire {
namespace {

constexpr int kMostDepth = 64;  // of sequences in sequences

/// How the bytes of a tensor come.
enum class Bytes : uint64_t {
  kNone,     // the tensor has no memory
  kWritten,  // they follow
  kShared,   // a Place follows
  kStrings   // elements that are texts follow
};

}  // namespace

void Writer::PutBytes(const void* from, size_t count) {
  bytes_.append(static_cast<const char*>(from), count);
}

void Writer::Put(uint64_t number) { PutBytes(&number, sizeof number); }

void Writer::Put(double number) { PutBytes(&number, sizeof number); }

void Writer::Put(std::string_view text) {
  Put(uint64_t{text.size()});
  PutBytes(text.data(), text.size());
}

void Writer::Put(const Place& place) {
  Put(uint64_t{place.segment}, place.offset);
}

void Writer::Put(const Status& status) {
  Put(status.code());
  if (status.ok()) return;
  Put(status.reason(), status.message());
}

void Writer::Put(const ValueType& type) {
  Put(type.kind, type.dtype, type.dims.has_value());
  if (type.dims.has_value()) {
    Put(uint64_t{type.dims->size()});
    for (const Dim& dim : *type.dims) {
      Put(static_cast<uint64_t>(dim.extent), dim.symbol);
    }
  }
  Put(type.element != nullptr);
  if (type.element != nullptr) Put(*type.element);
}

void Writer::Put(const ValueInfo& info) { Put(info.name, info.type); }

void Writer::Put(const Shape& shape) {
  Put(uint64_t{shape.dims().size()});
  for (const int64_t extent : shape) Put(static_cast<uint64_t>(extent));
}

void Writer::Put(const Tensor& tensor) {
  Put(tensor.dtype());
  if (!tensor.defined()) return;
  Put(tensor.device().kind, static_cast<uint64_t>(tensor.device().index));
  Put(tensor.shape());
  if (tensor.dtype() == DType::kString) {
    Put(Bytes::kStrings);
    for (const std::string& text : tensor.strings()) Put(text);
    return;
  }
  const auto place = find_ ? find_(tensor) : std::nullopt;
  if (place.has_value()) {
    Put(Bytes::kShared, *place);
  } else if (tensor.data() == nullptr ||
             tensor.device().kind != Device::Kind::kCpu) {
    Put(Bytes::kNone);
  } else {
    Put(Bytes::kWritten);
    PutBytes(tensor.data(), tensor.bytes().size());
  }
}

void Writer::Put(const Value& value) {
  Put(value.kind());
  switch (value.kind()) {
    case ValueKind::kNone:
      return;
    case ValueKind::kTensor:
      return Put(*value.tensor());
    case ValueKind::kSparseTensor:
      return Put(value.sparse()->values, value.sparse()->indices,
                 value.sparse()->shape);
    case ValueKind::kSequence:
      return Put(value.sequence()->element, value.sequence()->items);
    case ValueKind::kOptional:
      return Put(value.optional()->element, value.optional()->has_value()
                                                ? *value.optional()->value
                                                : Value());
    case ValueKind::kMap:
      return Put(value.map()->keys, value.map()->values);
  }
}

void Writer::Put(const LoadOptions& options) {
  Put(options.mode, options.extra_outputs, options.trainable,
      options.gradient_targets, options.exact, options.settings);
}

void Writer::Put(const PlacedNode& node) {
  Put(node.node, node.executor, node.function);
}

void Reader::Refuse(std::string_view fault) {
  if (fault_.empty()) fault_ = fault;
}

Status Reader::Fault() const {
  if (!fault_.empty()) return DataLoss("found ", fault_);
  if (!left_.empty()) {
    return DataLoss("found ", left_.size(), " bytes more than wanted");
  }
  return OkStatus();
}

std::string_view Reader::Take(uint64_t count) {
  if (!fault_.empty()) return {};
  if (count > left_.size()) {
    Refuse(StrCat(left_.size(), " bytes, wanted ", count));
    return {};
  }
  const std::string_view taken = left_.substr(0, count);
  left_.remove_prefix(count);
  return taken;
}

void Reader::GetBytes(void* into, size_t count) {
  const std::string_view bytes = Take(count);
  if (!bytes.empty()) std::memcpy(into, bytes.data(), count);
}

void Reader::Get(Place* place) {
  place->segment = static_cast<uint32_t>(Number());
  place->offset = Number();
}

void Reader::Get(Status* status) {
  const uint64_t code = Number();
  if (code == 0) return;
  const uint64_t reason = Number();
  std::string message = Text();
  if (code > static_cast<uint64_t>(StatusCode::kInternal) ||
      reason > static_cast<uint64_t>(Reason::kLimit)) {
    return Refuse(StrCat("status ", code, " with reason ", reason));
  }
  *status = {static_cast<StatusCode>(code), static_cast<Reason>(reason),
             std::move(message)};
}

ValueType Reader::ReadType(int depth) {
  ValueType type;
  const uint64_t kind = Number();
  const uint64_t dtype = Number();
  if (kind > static_cast<uint64_t>(ValueKind::kMap) || dtype >= kDTypeCount ||
      depth > kMostDepth) {
    Refuse(StrCat("a type of kind ", kind, " and element type ", dtype));
    return type;
  }
  type.kind = static_cast<ValueKind>(kind);
  type.dtype = static_cast<DType>(dtype);
  if (Flag()) {
    type.dims.emplace();
    for (uint64_t n = Number(); n > 0 && fault_.empty(); --n) {
      const auto extent = static_cast<int64_t>(Number());
      type.dims->emplace_back(Text()).extent = extent;
    }
  }
  if (Flag()) {
    type.element = std::make_shared<const ValueType>(ReadType(depth + 1));
  }
  return type;
}

void Reader::Get(ValueInfo* info) {
  Get(&info->name);
  Get(&info->type);
}

Shape Reader::ReadShape() {
  const auto extents = ReadAll<uint64_t>();
  return Shape(std::vector<int64_t>(extents.begin(), extents.end()));
}

Tensor Reader::ReadTensor() {
  const uint64_t dtype = Number();
  if (dtype == 0) return {};
  Device device;
  device.kind = static_cast<Device::Kind>(Number());
  device.index = static_cast<int32_t>(Number());
  const Shape shape = ReadShape();
  const uint64_t kind = Number();
  if (dtype >= kDTypeCount || device.kind > Device::Kind::kCuda ||
      kind > static_cast<uint64_t>(Bytes::kStrings) ||
      (dtype == static_cast<uint64_t>(DType::kString)) !=
          (kind == static_cast<uint64_t>(Bytes::kStrings))) {
    Refuse(StrCat("a tensor of element type ", dtype));
  }
  if (!fault_.empty()) return {};
  const auto type = static_cast<DType>(dtype);
  // The size, without memory.
  const Result<int64_t> count = shape.NumElements();
  if (!count.ok()) {
    Refuse(count.status().message());
    return {};
  }
  if (static_cast<Bytes>(kind) == Bytes::kStrings) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < *count && fault_.empty(); ++i) {
      texts.push_back(Text());
    }
    if (!fault_.empty()) return {};
    return *Tensor::FromStrings(shape, std::move(texts));
  }
  const auto size = static_cast<uint64_t>(PackedBytes(type, *count));
  std::byte* memory = nullptr;
  if (static_cast<Bytes>(kind) == Bytes::kShared) {
    const auto place = Read<Place>();
    memory = at_ ? at_(place, size) : nullptr;
    if (memory == nullptr) Refuse("a tensor outside of the shared memory");
  } else if (static_cast<Bytes>(kind) == Bytes::kWritten) {
    const std::string_view bytes = Take(size);
    if (!fault_.empty()) return {};
    Result<Tensor> copy = Tensor::FromBytes(
        type, shape, std::as_bytes(std::span(bytes.data(), bytes.size())));
    if (copy.ok()) return *std::move(copy);
    Refuse(copy.status().message());
  }
  if (!fault_.empty()) return {};
  return *Tensor::Borrow(type, shape, memory, device);
}

Value Reader::ReadValue(int depth) {
  const uint64_t kind = Number();
  if (kind > static_cast<uint64_t>(ValueKind::kMap) || depth > kMostDepth) {
    Refuse(StrCat("a value of kind ", kind, " at depth ", depth));
  }
  if (!fault_.empty()) return {};
  const auto items = [&] {
    std::vector<Value> values;
    for (uint64_t n = Number(); n > 0 && fault_.empty(); --n) {
      values.push_back(ReadValue(depth + 1));
    }
    return values;
  };
  switch (static_cast<ValueKind>(kind)) {
    case ValueKind::kNone:
      return {};
    case ValueKind::kTensor:
      return ReadTensor();
    case ValueKind::kSparseTensor: {
      SparseTensor sparse{ReadTensor(), ReadTensor(), {}};
      sparse.shape = ReadShape();
      return sparse;
    }
    case ValueKind::kSequence: {
      ValueType element = ReadType(depth);
      return Sequence{std::move(element), items()};
    }
    case ValueKind::kOptional: {
      Optional optional{ReadType(depth), nullptr};
      Value held = ReadValue(depth + 1);
      if (held.present()) {
        optional.value = std::make_shared<const Value>(std::move(held));
      }
      return optional;
    }
    case ValueKind::kMap: {
      Tensor keys = ReadTensor();
      return Map{std::move(keys), items()};
    }
  }
  return {};
}

void Reader::Get(LoadOptions* options) {
  options->mode = Number() == 0 ? Mode::kInference : Mode::kTraining;
  Get(&options->extra_outputs);
  Get(&options->trainable);
  Get(&options->gradient_targets);
  options->exact = Flag();
  options->settings = ReadMap<std::string>();
}

void Reader::Get(PlacedNode* node) {
  Get(&node->node);
  Get(&node->executor);
  Get(&node->function);
}

}  // namespace assay::wire
