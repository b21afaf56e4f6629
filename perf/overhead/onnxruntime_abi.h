// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime's C ABI without its header: a table of functions in an order
// that stays (onnxruntime_c_api.h), of which these are positions.
//
//   const overhead::OnnxRuntime ort(dlopen(library, RTLD_NOW | RTLD_LOCAL));
//   void* session = nullptr;
//   const bool ok = ort.Call<overhead::OnnxRuntime::kCreateSession>(
//       ort.environment(), path, ort.options(), &session);

#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace assay::overhead {

/// The table, and the handles that all sessions share: one thread each.
class OnnxRuntime {
 public:
  /// As dlopen gave it, for good; null where it gave none.
  explicit OnnxRuntime(void* module) {
    if (module == nullptr) return;
    struct Base {
      void* const* (*get_api)(uint32_t version);
      const char* (*version)();
    };
    const auto base =
        reinterpret_cast<const Base* (*)()>(dlsym(module, "OrtGetApiBase"));
    if (base != nullptr) api_ = base()->get_api(kVersion);
    if (api_ == nullptr) return;
    Call<kCreateEnv>(4, "bench", &environment_);  // 4: fatal errors only
    Call<kCreateSessionOptions>(&options_);
    Call<kSetIntraOpNumThreads>(options_, 1);
    Call<kSetInterOpNumThreads>(options_, 1);
    Call<kCreateCpuMemoryInfo>(0, 0, &memory_);
    Call<kGetAllocator>(&allocator_);
  }
  bool loaded() const { return api_ != nullptr; }

  /// Positions in the table.
  enum Slot : size_t {
    kCreateEnv = 3,
    kCreateSession = 7,
    kCreateSessionFromArray = 8,
    kRun = 9,
    kCreateSessionOptions = 10,
    kSetIntraOpNumThreads = 24,
    kSetInterOpNumThreads = 25,
    kGetInputCount = 30,
    kGetOutputCount = 31,
    kGetInputName = 36,
    kGetOutputName = 37,
    kCreateTensor = 49,
    kGetData = 51,
    kGetElementType = 60,
    kGetRank = 61,
    kGetExtents = 62,
    kGetTensorInfo = 65,
    kGetValueType = 67,
    kCreateCpuMemoryInfo = 69,
    kFree = 76,
    kGetAllocator = 78,
    kReleaseStatus = 93,
    kReleaseSession = 95,
    kReleaseValue = 96,
    kReleaseTensorInfo = 99,
  };

  /// True when the call was a success.
  template <Slot kSlot, class... Args>
  bool Call(Args... args) const {
    void* const status =
        reinterpret_cast<void* (*)(Args...)>(api_[kSlot])(args...);
    if (status != nullptr) Release<kReleaseStatus>(status);
    return status == nullptr;
  }
  template <Slot kSlot>
  void Release(void* handle) const {
    reinterpret_cast<void (*)(void*)>(api_[kSlot])(handle);
  }

  void* environment() const { return environment_; }
  void* options() const { return options_; }
  void* memory() const { return memory_; }
  void* allocator() const { return allocator_; }

 private:
  static constexpr uint32_t kVersion = 13;

  void* const* api_ = nullptr;
  void* environment_ = nullptr;
  void* options_ = nullptr;
  void* memory_ = nullptr;
  void* allocator_ = nullptr;
};

}  // namespace assay::overhead
