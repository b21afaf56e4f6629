// SPDX-License-Identifier: Apache-2.0
//
// A backend for the tests of the supervisor: it returns what it is fed, and
// misbehaves at the operator that a setting names, for example
// misbehaving.so+crash=Neg. It loads the library that ASSAY_TEST_LIBRARY names.

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"

namespace {

using assay::Backend;
using assay::Binding;
using assay::LoadOptions;
using assay::Model;
using assay::Network;
using assay::OkStatus;
using assay::Probe;
using assay::Result;
using assay::Status;
using assay::Value;
using assay::ValueInfo;

class Echoed final : public Binding {
 public:
  explicit Echoed(std::span<const Value> inputs)
      : values_(inputs.begin(), inputs.end()) {
    values_.resize(1);
  }
  std::span<const Value> outputs() const override { return values_; }

 private:
  std::vector<Value> values_;
};

class Echo final : public Network {
 public:
  explicit Echo(const Model& model) {
    const assay::Graph& graph = model.graph();
    for (const auto id : graph.inputs) inputs_.push_back(graph.values[id]);
    outputs_.push_back(graph.values[graph.outputs.at(0)]);
  }
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Result<std::unique_ptr<Binding>> Bind(std::span<const Value> inputs,
                                        std::span<const Value>) override {
    return std::unique_ptr<Binding>(std::make_unique<Echoed>(inputs));
  }
  Status Forward(Binding&) override { return OkStatus(); }

 private:
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
};

struct Misdeed {
  const char* setting;
  void (*commit)();
};

constexpr std::array<Misdeed, 4> kMisdeeds = {{
    {"crash", [] { std::abort(); }},
    {"exit", [] { _exit(0); }},
    {"hang",
     [] {
       while (true) pause();
     }},
    {"chdir", [] { static_cast<void>(chdir("/") + 0); }},
}};

class Misbehaving final : public Backend {
 public:
  std::string_view name() const override { return "misbehaving"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    // Another vendor's library, in a process whose reader has run.
    const char* library = std::getenv("ASSAY_TEST_LIBRARY");
    if (library != nullptr &&
        dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) {
      return assay::Internal(dlerror());
    }
    const std::string& op_type = model->graph().nodes.at(0).op_type;
    const auto declined = options.settings.find("decline");
    if (declined != options.settings.end() &&
        (declined->second == "all" || declined->second == op_type)) {
      return assay::Unsupported(assay::Reason::kOperator, op_type);
    }
    for (const Misdeed& misdeed : kMisdeeds) {
      const auto chosen = options.settings.find(misdeed.setting);
      if (chosen != options.settings.end() && chosen->second == op_type) {
        misdeed.commit();
      }
    }
    return std::unique_ptr<Network>(std::make_unique<Echo>(*model));
  }
};

ASSAY_REGISTER_BACKEND(Misbehaving);

}  // namespace
