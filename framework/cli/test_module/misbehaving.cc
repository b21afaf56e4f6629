// SPDX-License-Identifier: Apache-2.0
//
// A backend for the tests of the supervisor: it returns what it is fed, and
// misbehaves at models with the operator that a setting names, for example
// misbehaving.so+crash=Neg. It loads the library that ASSAY_TEST_LIBRARY names.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/backend/registry.h"

namespace assay::test_module {
namespace {

class Echoed final : public Binding {
 public:
  Echoed(std::span<const Value> inputs, std::span<const Value> outputs)
      : input_(inputs.empty() ? Value() : inputs[0]), output_(input_) {
    if (!outputs.empty() && outputs[0].present()) output_ = outputs[0];
  }
  std::span<const Value> outputs() const override { return {&output_, 1}; }

  /// Into the caller's memory, where there is some that it fits into.
  void Copy() {
    const Tensor* from = input_.tensor();
    Tensor* to = output_.mutable_tensor();
    if (from == nullptr || to == nullptr || from->data() == to->data()) return;
    if (from->byte_size() == to->byte_size()) {
      std::ranges::copy(from->bytes(), to->mutable_data());
    }
  }

 private:
  Value input_, output_;
};

/// The exact values of an echo: its inputs as they are.
class EchoRun final : public ExactRun {
 public:
  explicit EchoRun(std::span<const Value> inputs)
      : inputs_(inputs.begin(), inputs.end()) {}
  Result<std::vector<ExactValue>> Evaluate(Precision) override {
    const Tensor* x = inputs_.empty() ? nullptr : inputs_[0].tensor();
    ExactValue answer{inputs_.empty() ? Value() : inputs_[0], {}, {}};
    if (x != nullptr && x->dtype() == DType::kFloat32) {
      auto value = *Tensor::Allocate(DType::kFloat64, x->shape());
      std::ranges::copy(x->elements<float>(),
                        value.mutable_elements<double>().begin());
      answer.value = std::move(value);
      answer.tail = *Tensor::Allocate(DType::kFloat64, x->shape());
      answer.bound = *Tensor::Allocate(DType::kFloat64, x->shape());
    }
    return std::vector<ExactValue>{std::move(answer)};
  }

 private:
  std::vector<Value> inputs_;
};

class ExactEcho final : public Exact {
 public:
  Result<std::unique_ptr<ExactRun>> At(std::span<const Value> inputs,
                                       std::span<const std::string>) override {
    return std::unique_ptr<ExactRun>(std::make_unique<EchoRun>(inputs));
  }
};

class Echo final : public Network {
 public:
  Echo(const Model& model, const LoadOptions& options)
      : is_exact_(options.exact) {
    const Graph& graph = model.graph();
    for (const auto id : graph.inputs) inputs_.push_back(graph.values[id]);
    outputs_.push_back(graph.values[graph.outputs.at(0)]);
  }
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    return std::unique_ptr<Binding>(std::make_unique<Echoed>(inputs, outputs));
  }
  Exact* exact() override { return is_exact_ ? &exact_ : nullptr; }
  Status Forward(Binding& binding) override {
    static_cast<Echoed&>(binding).Copy();
    return OkStatus();
  }

 private:
  bool is_exact_;
  ExactEcho exact_;
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
};

struct Misdeed {
  const char* setting;
  void (*commit)();
};

/// Writes what no frame is into the journals that this process has open.
void BreakJournals() {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto file = std::filesystem::read_symlink(entry.path(), error);
    if (file.extension() != ".journal") continue;
    std::ofstream(file, std::ios::app) << std::string(100, '!');
  }
}

/// The first time that the folder sees it.
void BreakJournalsOnce() {
  if (!std::filesystem::exists("broken")) BreakJournals();
  std::ofstream("broken").put('!');
}

constexpr std::array<Misdeed, 7> kMisdeeds = {{
    {"crash", [] { std::abort(); }},
    {"break", BreakJournals},
    {"break_once", BreakJournalsOnce},
    {"exit", [] { _exit(0); }},
    {"leave", [] { std::exit(3); }},
    {"hang",
     [] {
       while (true) pause();
     }},
    {"chdir", [] { static_cast<void>(chdir("/") + 0); }},
}};

bool Chosen(const LoadOptions& options, const char* setting,
            const Model& model) {
  const auto chosen = options.settings.find(setting);
  const auto& nodes = model.graph().nodes;
  return chosen != options.settings.end() &&
         (chosen->second == "all" ||
          std::ranges::find(nodes, chosen->second, &Node::op_type) !=
              nodes.end());
}

class Misbehaving final : public Backend {
 public:
  std::string_view name() const override { return "misbehaving"; }
  Result<Probe> Inspect() override {
    const char* how = std::getenv("ASSAY_TEST_INSPECT");
    if (how == nullptr) return Probe{"1", "cpu"};
    while (std::string_view(how) == "hang") pause();
    return Probe{std::string(1 << 20, '\xFF'), std::string("\0\x1B", 2)};
  }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    // Another vendor's library, in a process whose reader has run.
    const char* library = std::getenv("ASSAY_TEST_LIBRARY");
    if (library != nullptr &&
        dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) {
      return Internal(dlerror());
    }
    static bool deadly = false;
    if (deadly) std::abort();
    deadly = Chosen(options, "deadly", *model);
    const std::string& op_type = model->graph().nodes.at(0).op_type;
    if (Chosen(options, "decline", *model)) {
      return Unsupported(Reason::kOperator, op_type);
    }
    if (Chosen(options, "flaky", *model)) {
      // Fails once in a folder, whatever process asks.
      std::ofstream mark("tried", std::ios::app);
      if (mark.tellp() == 0) {
        mark << op_type;
        return Internal("not this time");
      }
    }
    if (Chosen(options, "late", *model)) {
      // Fails once in a folder, behind some loads that do not.
      std::ofstream mark("late", std::ios::app);
      const auto before = mark.tellp();
      mark << '.';
      if (before == 6) return Internal("not any more");
    }
    static std::set<std::string> seen;
    seen.insert(op_type);
    if (Chosen(options, "third", *model) && seen.size() > 2) {
      return Internal("the third operator of this process");
    }
    if (Chosen(options, "babble", *model)) {
      return Internal(std::string(70 << 20, '\xFF'));
    }
    static bool poisoned = false;
    if (poisoned) return Internal("poisoned");
    poisoned = Chosen(options, "poison", *model);
    for (const Misdeed& misdeed : kMisdeeds) {
      if (Chosen(options, misdeed.setting, *model)) misdeed.commit();
    }
    return std::unique_ptr<Network>(std::make_unique<Echo>(*model, options));
  }
};

ASSAY_REGISTER_BACKEND(Misbehaving);

}  // namespace
}  // namespace assay::test_module
