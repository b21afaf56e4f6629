// SPDX-License-Identifier: Apache-2.0
//
// A backend on a real library: ONNX Runtime, called through its C ABI without
// its header. The ABI is a table of functions in a fixed order; a Slot is a
// place in it. A setting `threads` is the number of threads of a session.
#include <assay/backend.h>
#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <deque>

using namespace assay;

enum Slot : size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorWithData = 49,
  kGetTensorMutableData = 51,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kReleaseStatus = 93,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTensorTypeAndShape = 99,
  kReleaseSessionOptions = 100,
};

/// The library and the handles that all sessions share.
class Library {
 public:
  /// The one of this process, opened at the first call, or why there is none.
  static Result<const Library*> Get() {
    static const auto* const opened = new Result<const Library*>(Open());
    return *opened;
  }

  const char* version() const { return version_; }
  void* env() const { return env_; }
  void* memory() const { return memory_; }

  template <class... Args>
  Status Call(Slot slot, Args... args) const {
    void* const failed =
        reinterpret_cast<void* (*)(Args...)>(table_[slot])(args...);
    if (failed == nullptr) return OkStatus();
    const Status status = Internal(reinterpret_cast<const char* (*)(void*)>(
        table_[kGetErrorMessage])(failed));
    Release(kReleaseStatus, failed);
    return status;
  }
  void Release(Slot slot, void* handle) const {
    reinterpret_cast<void (*)(void*)>(table_[slot])(handle);
  }

 private:
  static Result<const Library*> Open() {
    void* const file = dlopen(ONNXRUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) return Unavailable(dlerror());
    struct Base {
      void* const* (*table)(uint32_t version);
      const char* (*version)();
    };
    const auto base =
        reinterpret_cast<const Base* (*)()>(dlsym(file, "OrtGetApiBase"));
    if (base == nullptr) return Unavailable("no OrtGetApiBase in the library");
    auto library = std::make_unique<Library>();
    library->version_ = base()->version();
    library->table_ = base()->table(/*version=*/13);
    if (library->table_ == nullptr) return Unavailable("no ABI of version 13");
    constexpr int kFatal = 4;  // the least that is logged
    ASSAY_RETURN_IF_ERROR(
        library->Call(kCreateEnv, kFatal, "assay", &library->env_));
    ASSAY_RETURN_IF_ERROR(
        library->Call(kCreateCpuMemoryInfo, 0, 0, &library->memory_));
    return library.release();
  }

  void* const* table_ = nullptr;
  const char* version_ = nullptr;
  void* env_ = nullptr;
  void* memory_ = nullptr;
};

/// A handle that is released at the end of its scope.
class Handle {
 public:
  Handle(const Library& library, Slot release)
      : library_(library), release_(release) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (held != nullptr) library_.Release(release_, held);
  }
  void* held = nullptr;

 private:
  const Library& library_;
  const Slot release_;
};

/// A loaded model.
struct Session {
  explicit Session(const Library& opened) : library(opened) {}

  Result<std::vector<Value>> Run(std::span<const Value> values) const {
    std::deque<Handle> fed;
    std::vector<void*> from;
    for (const Value& value : values) {
      const Tensor& x = *value.tensor();
      const std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
      ASSAY_RETURN_IF_ERROR(
          library.Call(kCreateTensorWithData, library.memory(), x.data(),
                       static_cast<size_t>(x.byte_size()), dims.data(),
                       dims.size(), static_cast<int>(x.dtype()),
                       &fed.emplace_back(library, kReleaseValue).held));
      from.push_back(fed.back().held);
    }
    std::vector<void*> to(outputs.size(), nullptr);
    const Status ran =
        library.Call(kRun, handle.held, nullptr, inputs.data(), from.data(),
                     from.size(), outputs.data(), outputs.size(), to.data());
    std::deque<Handle> made;
    for (void* const value : to) {
      made.emplace_back(library, kReleaseValue).held = value;
    }
    ASSAY_RETURN_IF_ERROR(ran);
    std::vector<Value> results;
    for (void* const value : to) {
      ASSAY_ASSIGN_OR_RETURN(Tensor y, Copied(value));
      results.emplace_back(std::move(y));
    }
    return results;
  }

  Result<Tensor> Copied(void* value) const {
    Handle info(library, kReleaseTensorTypeAndShape);
    int type = 0;
    size_t rank = 0;
    void* data = nullptr;
    ASSAY_RETURN_IF_ERROR(
        library.Call(kGetTensorTypeAndShape, value, &info.held));
    ASSAY_RETURN_IF_ERROR(
        library.Call(kGetTensorElementType, info.held, &type));
    ASSAY_RETURN_IF_ERROR(library.Call(kGetDimensionsCount, info.held, &rank));
    std::vector<int64_t> dims(rank);
    ASSAY_RETURN_IF_ERROR(
        library.Call(kGetDimensions, info.held, dims.data(), rank));
    ASSAY_RETURN_IF_ERROR(library.Call(kGetTensorMutableData, value, &data));
    ASSAY_ASSIGN_OR_RETURN(
        Tensor y,
        Tensor::Allocate(DTypeFromOnnx(type).value_or(DType{}), Shape(dims)));
    std::copy_n(static_cast<const std::byte*>(data), y.byte_size(),
                y.mutable_data());
    return y;
  }

  const Library& library;
  Handle handle{library, kReleaseSession};
  Signature signature;
  std::vector<const char*> inputs;  // its names
  std::vector<const char*> outputs;
};

/// This adapter passes tensors of numbers on, and no other values. The numbers
/// of element types are ONNX's own, up to this one.
constexpr DType kLastType = DType::kInt4;

Status CheckTensors(std::span<const ValueInfo> infos,
                    std::vector<const char*>* names) {
  for (const ValueInfo& info : infos) {
    const ValueType& type = info.type;
    if (type.kind != ValueKind::kTensor || type.dtype == DType::kString) {
      return Unsupported(Reason::kValueKind, "'", info.name, "' is ",
                         type.ToString(), ", wanted a tensor of numbers");
    }
    if (type.dtype > kLastType) {
      return Unsupported(Reason::kDType, "'", info.name, "' is ",
                         type.ToString());
    }
    names->push_back(info.name.c_str());
  }
  return OkStatus();
}

Result<int> Threads(const std::map<std::string, std::string>& settings) {
  int threads = 1;
  for (const auto& [name, text] : settings) {
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, threads);
    if (name != "threads" || read.ptr != end || threads < 1) {
      return InvalidArgument("found the setting ", name, "=", text,
                             ", wanted threads=1 or more");
    }
  }
  return threads;
}

class ExampleOnnxRuntime : public Backend {
 public:
  std::string_view name() const override { return "example_onnxruntime"; }

  Result<Probe> Inspect() override {
    ASSAY_ASSIGN_OR_RETURN(const Library* library, Library::Get());
    return Probe{library->version(), "cpu"};
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(const int threads, Threads(options.settings));
    ASSAY_ASSIGN_OR_RETURN(const Library* library, Library::Get());
    if (!options.gradient_targets.empty() || !options.extra_outputs.empty()) {
      return Unsupported(Reason::kGradient, "a session gives its outputs only");
    }
    const auto session = std::make_shared<Session>(*library);
    Signature& signature = session->signature;
    ASSAY_ASSIGN_OR_RETURN(signature, SignatureOf(*model, options));
    ASSAY_RETURN_IF_ERROR(CheckTensors(signature.inputs, &session->inputs));
    ASSAY_RETURN_IF_ERROR(CheckTensors(signature.outputs, &session->outputs));
    Handle settings(*library, kReleaseSessionOptions);
    ASSAY_RETURN_IF_ERROR(library->Call(kCreateSessionOptions, &settings.held));
    ASSAY_RETURN_IF_ERROR(
        library->Call(kSetIntraOpNumThreads, settings.held, threads));
    const Status made = library->Call(
        kCreateSessionFromArray, library->env(), model->bytes().data(),
        model->bytes().size(), settings.held, &session->handle.held);
    if (!made.ok()) return Unsupported(Reason::kOperator, made.message());
    return MakeFunctionNetwork(
        signature, [session](auto values) { return session->Run(values); });
  }
};

ASSAY_REGISTER_BACKEND(ExampleOnnxRuntime);
