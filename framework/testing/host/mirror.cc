// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/mirror.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string_view>

#include "framework/core/value_walk.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/graph/edit/whole_model.h"

namespace assay::host {
namespace {

constexpr size_t kMirrorAlignment = 64;
constexpr uint64_t kMostValues = 1 << 20;

std::string_view TextOf(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

size_t HashOf(const Tensor& tensor) {
  return std::hash<std::string_view>()(TextOf(tensor));
}

/// Where values are fixed that take more than this, in bytes, they cross beside
/// the model: to write them into one and read it again costs several copies.
constexpr size_t kGreat = size_t{1} << 20;

/// The fixed values that cross beside the base of a model; none where its own
/// bytes cross.
std::map<std::string, Tensor> FixedBeside(const Model& model) {
  size_t size = 0;
  for (const auto& [name, tensor] : model.fixed()) {
    size += static_cast<size_t>(tensor.byte_size());
  }
  return size > kGreat ? model.fixed() : std::map<std::string, Tensor>();
}

/// The model of bytes with these values fixed.
Result<std::shared_ptr<const Model>> WithFixed(
    std::span<const std::byte> bytes,
    const std::map<std::string, Tensor>& fixed) {
  ASSAY_ASSIGN_OR_RETURN(const auto base, Model::Parse(bytes));
  return edit::WithInitializers(*base, fixed);
}

std::shared_ptr<const Model> ModelOf(std::span<const std::byte> bytes,
                                     bool checked) {
  const auto read = Model::Parse(bytes);
  if (read.ok() && !checked) return *read;
  Model::Parts parts;
  parts.bytes.assign(bytes.begin(), bytes.end());
  if (read.ok()) {
    parts.ir_version = (*read)->ir_version();
    parts.opsets = (*read)->opsets();
    parts.graph = (*read)->graph();
    parts.functions = (*read)->functions();
    parts.checked = checked;
  }
  return std::make_shared<const Model>(std::move(parts));
}

}  // namespace

bool HasMemory(const Tensor& tensor) {
  return tensor.byte_size() > 0 && tensor.data() != nullptr &&
         tensor.device().kind == Device::Kind::kCpu;
}

Status Mirror::Add(std::initializer_list<std::span<const Value>> values) {
  for (const std::span<const Value> some : values) {
    for (const Value& value : some) {
      const Tensor* const tensor = value.tensor();
      if (tensor == nullptr || !HasMemory(*tensor)) continue;
      const std::byte* const data = tensor->data();
      const size_t size = tensor->bytes().size();
      if (Find(data, size).has_value()) continue;
      kept_.push_back(*tensor);
      auto region = regions_.try_emplace(data).first;
      region->second.size = std::max(region->second.size, size);
    }
  }
  // Regions that overlap become one.
  for (auto region = regions_.begin(); region != regions_.end(); ++region) {
    auto next = std::next(region);
    while (next != regions_.end() &&
           next->first < region->first + region->second.size) {
      const auto end =
          static_cast<size_t>(next->first - region->first) + next->second.size;
      region->second.size = std::max(region->second.size, end);
      next = regions_.erase(next);
    }
  }
  for (auto& [data, region] : regions_) {
    const size_t beside = reinterpret_cast<uintptr_t>(data) % kMirrorAlignment;
    region.block = wire::Arena::Allocate(region.size + beside);
    const auto place =
        wire::Arena::Find(region.block.get(), region.size + beside);
    if (region.block == nullptr || !place.has_value()) {
      return ResourceExhausted("cannot share ", region.size, " bytes");
    }
    region.copy = region.block.get() + beside;
    region.place = {place->segment, place->offset + beside};
  }
  return OkStatus();
}

std::optional<wire::Place> Mirror::Find(const std::byte* data,
                                        size_t size) const {
  if (auto place = wire::Arena::Find(data, size)) return place;
  auto region = regions_.upper_bound(data);
  if (region != regions_.begin()) {
    const auto& [start, found] = *std::prev(region);
    const auto offset = static_cast<size_t>(data - start);
    if (found.copy != nullptr && offset < found.size &&
        size <= found.size - offset) {
      return wire::Place{found.place.segment, found.place.offset + offset};
    }
  }
  return others_ == nullptr ? std::nullopt : others_->Find(data, size);
}

wire::Writer Mirror::Call() const {
  return wire::Writer([this](const Tensor& tensor) {
    return HasMemory(tensor) ? Find(tensor.data(), tensor.bytes().size())
                             : std::nullopt;
  });
}

void Mirror::Push() const {
  for (const auto& [data, region] : regions_) {
    std::memcpy(region.copy, data, region.size);
  }
}

void Mirror::Pull() const {
  for (const auto& [data, region] : regions_) {
    if (std::memcmp(data, region.copy, region.size) == 0) continue;
    // The caller gave it as a Tensor, whose memory may be written.
    std::memcpy(const_cast<std::byte*>(data), region.copy, region.size);
  }
}

void Results::Read(Link& link, wire::Reader* in) {
  const uint64_t count = in->Number();
  // A backend may give fewer or more than it declares: it is seen so.
  values_.assign(std::min<uint64_t>(count, kMostValues), Value());
  given_.resize(values_.size());
  for (size_t i = 0; i < values_.size() && !in->faulty(); ++i) {
    const auto came = static_cast<wire::Came>(in->Number());
    values_[i] = came == wire::Came::kInPlace ? given_[i] : in->Read<Value>();
    if (came != wire::Came::kValue) continue;
    uint64_t issued = in->Number();
    ForEachTensor(values_[i], [&](const Tensor& tensor) {
      if (HasMemory(tensor)) link.Issue(issued++, tensor);
    });
  }
}

void HeldTensors::PutChanged(wire::Writer* out) {
  std::vector<uint64_t> changed;
  for (auto& [number, held] : held_) {
    const size_t hash = HashOf(held.tensor);
    if (std::exchange(held.hash, hash) != hash) changed.push_back(number);
  }
  out->Put(uint64_t{changed.size()});
  for (const uint64_t number : changed) {
    out->Put(number, TextOf(held_[number].tensor));
  }
}

void HeldTensors::PutResult(const Value& value,
                            const wire::SharedSegments& segments,
                            wire::Writer* out) {
  bool alias = false;
  ForEachTensor(value, [&](const Tensor& tensor) {
    alias = alias || segments.Holds(tensor.data());
  });
  out->Put(alias ? wire::Came::kAlias : wire::Came::kValue, value);
  if (alias) return;
  out->Put(next_);
  ForEachTensor(value, [&](const Tensor& tensor) {
    if (HasMemory(tensor)) held_[next_++] = {tensor, HashOf(tensor)};
  });
}

void HeldTensors::Release(const std::vector<uint64_t>& numbers) {
  for (const uint64_t number : numbers) held_.erase(number);
}

void HeldTensors::DropBorrowed() {
  std::erase_if(held_,
                [](const auto& held) { return !held.second.tensor.owned(); });
}

Result<ModelCrossing> ModelCrossing::Of(const Model& model) {
  ModelCrossing crossing;
  crossing.checked_ = model.checked();
  crossing.fixed_ = FixedBeside(model);
  std::span<const std::byte> bytes = model.base();
  if (crossing.fixed_.empty()) {
    ASSAY_ASSIGN_OR_RETURN(edit::Parted parted, edit::PartedModel(model));
    crossing.fixed_ = std::move(parted.beside);
    crossing.whole_ = std::make_unique<std::string>(std::move(parted.bytes));
    bytes = crossing.whole_->empty()
                ? model.bytes()
                : std::as_bytes(std::span(*crossing.whole_));
  }
  ASSAY_ASSIGN_OR_RETURN(
      crossing.file_,
      Tensor::Borrow(DType::kUint8, {static_cast<int64_t>(bytes.size())},
                     const_cast<std::byte*>(bytes.data())));
  std::vector<Value> shared = {crossing.file_};
  for (const auto& [name, tensor] : crossing.fixed_) {
    shared.emplace_back(tensor);
  }
  crossing.mirror_ = std::make_unique<Mirror>();
  ASSAY_RETURN_IF_ERROR(crossing.mirror_->Add({shared}));
  crossing.mirror_->Push();
  return crossing;
}

void ModelCrossing::Put(wire::Writer* call) const {
  call->Put(file_, fixed_, checked_);
}

std::shared_ptr<const Model> ModelReader::Of(std::span<const std::byte> bytes,
                                             bool checked) {
  const std::lock_guard lock(mutex_);
  if (last_ == nullptr || last_->checked() != checked ||
      !std::ranges::equal(last_->bytes(), bytes)) {
    last_ = nullptr;  // before there is memory for another
    last_ = ModelOf(bytes, checked);
  }
  return last_;
}

Result<std::shared_ptr<const Model>> ModelReader::Read(wire::Reader* in) {
  const auto file = in->Read<Tensor>();
  auto fixed = in->ReadMap<Tensor>();
  const bool checked = in->Flag();
  if (in->faulty()) return in->Fault();  // there is more to read otherwise
  for (auto& [name, tensor] : fixed) {
    ASSAY_ASSIGN_OR_RETURN(tensor, tensor.Clone());
  }
  if (fixed.empty()) return Of(file.bytes(), checked);
  return WithFixed(file.bytes(), fixed);
}

}  // namespace assay::host
