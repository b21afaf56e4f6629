// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/overhead/natives.h"
#include "perf/overhead/onnxruntime_abi.h"

namespace assay::overhead {
namespace {

/// The library that a module of this process has opened; null for none.
void* Opened() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        const std::string_view name = info->dlpi_name;
        if (name.find("libonnxruntime.so") == std::string_view::npos) return 0;
        *static_cast<std::string*>(found) = name;
        return 1;
      },
      &path);
  if (path.empty()) return nullptr;
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

/// A session whose inputs and output are values over tensors.
class BoundSession {
 public:
  BoundSession(const OnnxRuntime& ort, const Bound& bound)
      : ort_(ort), bound_inputs_(bound.inputs), bound_output_(bound.output) {}
  BoundSession(const BoundSession&) = delete;
  BoundSession& operator=(const BoundSession&) = delete;
  ~BoundSession() {
    for (void* const value : inputs_) {
      ort_.Release<OnnxRuntime::kReleaseValue>(value);
    }
    if (output_ != nullptr) ort_.Release<OnnxRuntime::kReleaseValue>(output_);
    if (session_ != nullptr) {
      ort_.Release<OnnxRuntime::kReleaseSession>(session_);
    }
  }

  /// False where ONNX Runtime refuses.
  bool Open(std::span<const std::byte> model) {
    if (!ort_.Call<OnnxRuntime::kCreateSessionFromArray>(
            ort_.environment(), model.data(), model.size(), ort_.options(),
            &session_)) {
      return false;
    }
    for (Tensor& input : bound_inputs_) {
      void* const value = Over(&input);
      if (value == nullptr) return false;
      inputs_.push_back(value);
    }
    output_ = Over(&bound_output_);
    return output_ != nullptr;
  }

  Status Run() {
    static constexpr std::array<const char*, 5> kInputs = {"a", "b", "c", "d",
                                                           "e"};
    static constexpr const char* kOutput = "y";
    const bool ok = ort_.Call<OnnxRuntime::kRun>(
        session_, static_cast<void*>(nullptr), kInputs.data(), inputs_.data(),
        inputs_.size(), &kOutput, size_t{1}, &output_);
    return ok ? OkStatus() : Internal("ONNX Runtime failed to run");
  }

 private:
  void* Over(Tensor* tensor) {
    const std::vector<int64_t> extents(tensor->shape().begin(),
                                       tensor->shape().end());
    void* value = nullptr;
    return ort_.Call<OnnxRuntime::kCreateTensor>(
               ort_.memory(), static_cast<void*>(tensor->mutable_data()),
               static_cast<size_t>(tensor->byte_size()), extents.data(),
               extents.size(), static_cast<int>(tensor->dtype()), &value)
               ? value
               : nullptr;
  }

  const OnnxRuntime& ort_;
  std::vector<Tensor> bound_inputs_;
  Tensor bound_output_;
  void* session_ = nullptr;
  std::vector<void*> inputs_;
  void* output_ = nullptr;
};

}  // namespace

Result<Calls> OnnxRuntimeCalls(const Case& of, const Bound& bound) {
  static const OnnxRuntime* const ort = new OnnxRuntime(Opened());
  if (!ort->loaded()) {
    return Unavailable("found no libonnxruntime.so that a module has opened");
  }
  const auto session = std::make_shared<BoundSession>(*ort, bound);
  if (!session->Open(bound.model->bytes())) {
    return Unsupported(Reason::kOperator, "ONNX Runtime refused ", of.op);
  }
  return Repeated([session] { return session->Run(); });
}

}  // namespace assay::overhead
