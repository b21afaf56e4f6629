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
#include <typeinfo>
#include <utility>

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

  /// A value of ONNX Runtime over a tensor's memory.
  Status Over(const Tensor& tensor, void** value) const {
    const std::vector<int64_t> dims(tensor.shape().begin(),
                                    tensor.shape().end());
    return library.Call(kCreateTensorWithData, library.memory(), tensor.data(),
                        static_cast<size_t>(tensor.byte_size()), dims.data(),
                        dims.size(), static_cast<int>(tensor.dtype()), value);
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

/// The values of a run, made once: those over memory of the caller's stay, and
/// the others are made by each run and copied.
class SessionBinding final : public Binding {
 public:
  SessionBinding(const Network* network, const Session& session)
      : network(network), session_(session) {}

  /// As Network::Bind, whose checks are done.
  Status Tie(std::span<const Value> inputs, std::span<const Value> outputs) {
    inputs_.assign(inputs.begin(), inputs.end());
    for (const Value& value : inputs) {
      void*& made = fed_.emplace_back(session_.library, kReleaseValue).held;
      ASSAY_RETURN_IF_ERROR(session_.Over(*value.tensor(), &made));
      from_.push_back(made);
    }
    results_.resize(session_.outputs.size());
    std::ranges::copy(outputs, results_.begin());
    to_.resize(results_.size());
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!results_[i].present()) {
        unbound_.push_back(i);
        continue;
      }
      void*& made = fed_.emplace_back(session_.library, kReleaseValue).held;
      ASSAY_RETURN_IF_ERROR(session_.Over(*results_[i].tensor(), &made));
      to_[i] = made;
    }
    return OkStatus();
  }

  Status Run() {
    const Status ran = session_.library.Call(
        kRun, session_.handle.held, nullptr, session_.inputs.data(),
        from_.data(), from_.size(), session_.outputs.data(), to_.size(),
        to_.data());
    if (unbound_.empty()) return ran;
    return Take(ran);
  }

  std::span<const Value> outputs() const override { return results_; }

  const Network* const network;

 private:
  /// Copies what the run has made, and releases it, whether it failed or not.
  Status Take(const Status& ran) {
    std::deque<Handle> made;
    for (const size_t i : unbound_) {
      made.emplace_back(session_.library, kReleaseValue).held =
          std::exchange(to_[i], nullptr);
    }
    ASSAY_RETURN_IF_ERROR(ran);
    for (size_t i = 0; i < unbound_.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Tensor y, session_.Copied(made[i].held));
      results_[unbound_[i]] = Value(std::move(y));
    }
    return OkStatus();
  }

  const Session& session_;
  std::vector<Value> inputs_, results_;
  std::deque<Handle> fed_;
  std::vector<void*> from_, to_;
  std::vector<size_t> unbound_;  // places of outputs without memory
};

class SessionNetwork final : public Network {
 public:
  explicit SessionNetwork(std::unique_ptr<Session> session)
      : session_(std::move(session)) {}

  std::span<const ValueInfo> inputs() const override {
    return session_->signature.inputs;
  }
  std::span<const ValueInfo> outputs() const override {
    return session_->signature.outputs;
  }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_RETURN_IF_ERROR(
        CheckBind(this->inputs(), this->outputs(), inputs, outputs));
    auto binding = std::make_unique<SessionBinding>(this, *session_);
    ASSAY_RETURN_IF_ERROR(binding->Tie(inputs, outputs));
    return std::unique_ptr<Binding>(std::move(binding));
  }

  Status Forward(Binding& binding) override {
    if (typeid(binding) == typeid(SessionBinding)) {
      auto& own = static_cast<SessionBinding&>(binding);
      if (own.network == this) return own.Run();
    }
    return InvalidArgument("the binding was made by another network");
  }

 private:
  const std::unique_ptr<Session> session_;
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
    auto session = std::make_unique<Session>(*library);
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
    return std::make_unique<SessionNetwork>(std::move(session));
  }
};

ASSAY_REGISTER_BACKEND(ExampleOnnxRuntime);
