// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/model_crossing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/graph/edit/model_edit.h"
#include "framework/graph/edit/whole_model.h"

namespace assay::host {
namespace {

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

Result<ModelCrossing> ModelCrossing::Of(const Model& model) {
  ModelCrossing crossing;
  crossing.checked_ = model.checked();
  crossing.fixed_ = FixedBeside(model);
  std::span<const std::byte> bytes = model.base();
  if (crossing.fixed_.empty()) {
    ASSAY_ASSIGN_OR_RETURN(std::string whole, edit::WholeModel(model));
    crossing.whole_ = std::make_unique<std::string>(std::move(whole));
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
  call->Put(file_);
  call->Put(uint64_t{fixed_.size()});
  for (const auto& [name, tensor] : fixed_) {
    call->Put(name);
    call->Put(tensor);
  }
  call->Put(uint64_t{checked_ ? 1U : 0U});
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
  std::map<std::string, Tensor> fixed;
  for (uint64_t n = in->Number(); n > 0 && !in->faulty(); --n) {
    std::string name = in->Text();
    ASSAY_ASSIGN_OR_RETURN(fixed[std::move(name)], in->Read<Tensor>().Clone());
  }
  const bool checked = in->Number() != 0;
  if (in->faulty()) return in->Fault();  // there is more to read otherwise
  if (fixed.empty()) return Of(file.bytes(), checked);
  return WithFixed(file.bytes(), fixed);
}

}  // namespace assay::host
