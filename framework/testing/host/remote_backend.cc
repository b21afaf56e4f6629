// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/remote_backend.h"

#include "framework/graph/edit/whole_model.h"
#include "framework/testing/host/mirror.h"
#include "framework/testing/host/remote_network.h"

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

}  // namespace

Result<Probe> RemoteBackend::Inspect() {
  ASSAY_ASSIGN_OR_RETURN(const std::string answer,
                         link_.Ask(Call::kInspect, Writer()));
  Reader in(answer);
  const auto status = in.Read<Status>();
  Probe probe;
  if (status.ok()) {
    probe.version = in.Text();
    probe.device = in.Text();
  }
  if (!in.Fault().ok()) return link_.Refuse(in.Fault());
  if (!status.ok()) return status;
  return probe;
}

Result<std::unique_ptr<Network>> RemoteBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  const std::map<std::string, Tensor> fixed = FixedBeside(*model);
  ASSAY_ASSIGN_OR_RETURN(const std::string whole,
                         fixed.empty() ? edit::WholeModel(*model)
                                       : Result<std::string>(std::string()));
  const std::span<const std::byte> bytes =
      !fixed.empty()  ? model->base()
      : whole.empty() ? model->bytes()
                      : std::as_bytes(std::span(whole));
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor file,
      Tensor::Borrow(DType::kUint8, {static_cast<int64_t>(bytes.size())},
                     const_cast<std::byte*>(bytes.data())));
  Mirror mirror;
  std::vector<Value> shared = {file};
  for (const auto& [name, tensor] : fixed) shared.emplace_back(tensor);
  ASSAY_RETURN_IF_ERROR(mirror.Add({shared}));
  mirror.Push();
  const uint64_t number = link_.NewNumber();
  Writer call = mirror.Call();
  call.Put(number);
  call.Put(file);
  call.Put(uint64_t{fixed.size()});
  for (const auto& [name, tensor] : fixed) {
    call.Put(name);
    call.Put(tensor);
  }
  call.Put(uint64_t{model->checked() ? 1U : 0U});
  call.Put(options);
  ASSAY_ASSIGN_OR_RETURN(const std::string answer,
                         link_.Ask(Call::kLoad, call));
  Reader in(answer);
  const auto status = in.Read<Status>();
  if (!status.ok()) {
    return in.Fault().ok() ? status : link_.Refuse(in.Fault());
  }
  const bool loaded = in.Number() != 0;
  Declared declared;
  if (loaded) {
    declared.inputs = in.ReadAll<ValueInfo>();
    declared.outputs = in.ReadAll<ValueInfo>();
    declared.offered = in.Number();
    declared.placed = in.Text();
  }
  if (!in.Fault().ok()) return link_.Refuse(in.Fault());
  if (!loaded) return std::unique_ptr<Network>();
  return std::unique_ptr<Network>(
      std::make_unique<RemoteNetwork>(link_, number, std::move(declared)));
}

}  // namespace assay::host
