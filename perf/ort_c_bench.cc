// SPDX-License-Identifier: Apache-2.0
//
// The node suite on ONNX Runtime, called through its C ABI without its header:
// read model and data, make a session, run once, compare. One thread.
//
//   ort_c_bench LIBRARY CORPUS [--list]
//
// For every case of the corpus folder whose values are tensors of numbers; with
// --list, prints the test_ids of those that pass. Exit codes: 0 all cases that
// can be asked pass (or --list), 1 some do not, 2 usage, 99 no corpus or
// library. node_peers.py times it.

#include <dlfcn.h>

#include <iostream>
#include <string_view>

#include "framework/graph/model.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/measure/measure.h"
#include "perf/overhead/onnxruntime_abi.h"

namespace assay::perf {
namespace {

using overhead::OnnxRuntime;

/// A loaded model: the names of its inputs and outputs.
class Session {
 public:
  Session(const OnnxRuntime& ort, const std::filesystem::path& model)
      : ort_(ort) {
    if (!ort.Call<OnnxRuntime::kCreateSession>(ort.environment(), model.c_str(),
                                               ort.options(), &session_)) {
      session_ = nullptr;
      return;
    }
    Names<OnnxRuntime::kGetInputCount, OnnxRuntime::kGetInputName>(&inputs_);
    Names<OnnxRuntime::kGetOutputCount, OnnxRuntime::kGetOutputName>(&outputs_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    for (auto* names : {&inputs_, &outputs_}) {
      for (char* name : *names) {
        ort_.Call<OnnxRuntime::kFree>(ort_.allocator(),
                                      static_cast<void*>(name));
      }
    }
    if (session_ != nullptr) {
      ort_.Release<OnnxRuntime::kReleaseSession>(session_);
    }
  }
  bool loaded() const { return session_ != nullptr; }
  const std::vector<char*>& inputs() const { return inputs_; }
  const std::vector<char*>& outputs() const { return outputs_; }

  bool Run(const std::vector<void*>& inputs, std::vector<void*>* outputs) {
    outputs->assign(outputs_.size(), nullptr);
    return ort_.Call<OnnxRuntime::kRun>(
        session_, static_cast<void*>(nullptr), inputs_.data(), inputs.data(),
        inputs.size(), outputs_.data(), outputs_.size(), outputs->data());
  }

 private:
  template <OnnxRuntime::Slot kCount, OnnxRuntime::Slot kName>
  void Names(std::vector<char*>* names) {
    size_t count = 0;
    ort_.Call<kCount>(session_, &count);
    names->resize(count);
    for (size_t i = 0; i < count; ++i) {
      ort_.Call<kName>(session_, i, ort_.allocator(), &(*names)[i]);
    }
  }

  const OnnxRuntime& ort_;
  void* session_ = nullptr;
  std::vector<char*> inputs_, outputs_;
};

/// The handles of some values, released at the end.
struct Handles {
  explicit Handles(const OnnxRuntime& runtime) : ort(runtime) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    for (void* value : values) {
      if (value != nullptr) ort.Release<OnnxRuntime::kReleaseValue>(value);
    }
  }
  const OnnxRuntime& ort;
  std::vector<void*> values;
};

/// No value for a file that is not there, or holds no tensor of numbers.
Value ReadNumbers(const std::filesystem::path& file) {
  ValueType type;
  type.kind = ValueKind::kTensor;
  auto value = ReadValue(file, type);
  if (!value.ok() || value->tensor() == nullptr ||
      value->tensor()->dtype() == DType::kString) {
    return {};
  }
  return std::move(*value);
}

/// An output as a tensor over ONNX Runtime's memory.
Value View(const OnnxRuntime& ort, void* output) {
  int kind = 0;
  void* info = nullptr;
  if (!ort.Call<OnnxRuntime::kGetValueType>(output, &kind) || kind != 1 ||
      !ort.Call<OnnxRuntime::kGetTensorInfo>(output, &info)) {
    return {};
  }
  int type = 0;
  size_t rank = 0;
  ort.Call<OnnxRuntime::kGetElementType>(info, &type);
  ort.Call<OnnxRuntime::kGetRank>(info, &rank);
  std::vector<int64_t> extents(rank);
  ort.Call<OnnxRuntime::kGetExtents>(info, extents.data(), rank);
  ort.Release<OnnxRuntime::kReleaseTensorInfo>(info);
  void* data = nullptr;
  const auto dtype = DTypeFromOnnx(type);
  if (!dtype.has_value() || *dtype == DType::kString ||
      !ort.Call<OnnxRuntime::kGetData>(output, &data)) {
    return {};
  }
  auto tensor = Tensor::Borrow(*dtype, Shape(extents), data);
  return tensor.ok() ? Value(std::move(*tensor)) : Value();
}

bool PassesSet(const OnnxRuntime& ort, Session& session,
               const cases::TestCase& asked,
               const std::filesystem::path& data) {
  std::vector<Value> inputs;
  Handles fed(ort);
  for (size_t i = 0; i < session.inputs().size(); ++i) {
    inputs.push_back(ReadNumbers(data / StrCat("input_", i, ".pb")));
    Tensor* const tensor = inputs.back().mutable_tensor();
    if (tensor == nullptr) return false;
    const std::vector<int64_t> extents(tensor->shape().begin(),
                                       tensor->shape().end());
    if (!ort.Call<OnnxRuntime::kCreateTensor>(
            ort.memory(), static_cast<void*>(tensor->mutable_data()),
            static_cast<size_t>(tensor->byte_size()), extents.data(),
            extents.size(), static_cast<int>(tensor->dtype()),
            &fed.values.emplace_back())) {
      return false;
    }
  }
  Handles got(ort);
  if (!session.Run(fed.values, &got.values)) return false;
  measure::Observation seen;
  std::vector<Value> wanted;
  for (size_t i = 0; i < got.values.size(); ++i) {
    seen.outputs.push_back(View(ort, got.values[i]));
    seen.output_names.emplace_back(session.outputs()[i]);
    wanted.push_back(ReadNumbers(data / StrCat("output_", i, ".pb")));
    if (!seen.outputs.back().present() || !wanted.back().present()) {
      return false;
    }
  }
  const auto metrics =
      measure::Measure(seen.outputs, wanted, seen.output_names, asked.limit);
  return measure::Judge(seen, metrics).outcome == record::Outcome::kPass;
}

bool Passes(const OnnxRuntime& ort, const cases::TestCase& asked) {
  Session session(ort, asked.directory / "model.onnx");
  if (!session.loaded()) return false;
  for (int set = 0; set < asked.n_data_sets; ++set) {
    const auto data = asked.directory / StrCat("test_data_set_", set);
    if (!PassesSet(ort, session, asked, data)) return false;
  }
  return true;
}

int Main(int argc, char** argv) {
  const bool list = argc == 4 && std::string_view(argv[3]) == "--list";
  if (argc != 3 && !list) {
    std::cerr << "usage: ort_c_bench LIBRARY CORPUS [--list]\n";
    return 2;
  }
  const OnnxRuntime ort(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL));
  const auto corpus = cases::ReadCorpus(argv[2]);
  if (!ort.loaded() || !corpus.ok()) {
    std::cerr << "ort_c_bench: "
              << (ort.loaded()
                      ? corpus.status().message()
                      : std::string("cannot use the library ") + argv[1])
              << "\n";
    return 99;
  }
  size_t passed = 0;
  for (const cases::TestCase& asked : corpus->cases) {
    if (!Passes(ort, asked)) continue;
    ++passed;
    if (list) std::cout << asked.test_id << "\n";
  }
  return list || passed == corpus->cases.size() ? 0 : 1;
}

}  // namespace
}  // namespace assay::perf

int main(int argc, char** argv) { return assay::perf::Main(argc, argv); }
