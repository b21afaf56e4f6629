// SPDX-License-Identifier: Apache-2.0
//
// The backend of every hostile module: it returns what it is fed and, where the
// setting `at` names the first operator of a model, commits the misdeed that
// the setting `act` names. Other settings, for tests of the supervisor: nap_us
// (sleep in each Load), and crash_share and decline_share (one of N models,
// told by a hash).

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "ctest/trial/hostile/misdeed.h"
#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/core/numbers.h"

namespace {

using assay::Binding;
using assay::LoadOptions;
using assay::Model;
using assay::Network;
using assay::Result;
using assay::Status;
using assay::Tensor;
using assay::Value;
using assay::ValueInfo;

/// The caller's tensor where it is one of as many bytes as the input has.
const Tensor* GivenFor(const Value& fed, std::span<const Value> outputs) {
  const Tensor* from = fed.tensor();
  const Tensor* to = outputs.empty() ? nullptr : outputs[0].tensor();
  const bool fits = from != nullptr && to != nullptr && to->data() != nullptr &&
                    to->dtype() == from->dtype() &&
                    to->byte_size() == from->byte_size();
  return fits ? to : nullptr;
}

class Echoed final : public Binding {
 public:
  /// With `own`, the output has memory of its own where none is given.
  Echoed(std::span<const Value> inputs, std::span<const Value> outputs,
         bool own)
      : fed_(inputs.empty() ? Value() : inputs[0]), values_(1, fed_) {
    const Tensor* const from = fed_.tensor();
    if (const Tensor* const to = GivenFor(fed_, outputs)) {
      place_ = *to;
      given_ = true;
    } else if (own && from != nullptr && from->byte_size() > 0) {
      place_ = *from->Clone();
    }
    if (place_.data() != nullptr) values_[0] = place_;
  }
  std::span<const Value> outputs() const override { return values_; }

  hostile::Output Echo() {
    if (place_.data() == nullptr) return {};
    Tensor from = *fed_.tensor();
    const auto size = static_cast<size_t>(place_.byte_size());
    std::memcpy(place_.mutable_data(), from.data(), size);
    return {reinterpret_cast<unsigned char*>(place_.mutable_data()), size,
            given_, reinterpret_cast<unsigned char*>(from.mutable_data())};
  }

 private:
  Value fed_;
  Tensor place_;
  bool given_ = false;  // it is the caller's
  std::vector<Value> values_;
};

class EchoNetwork final : public Network {
 public:
  /// Without a misdeed it only echoes.
  EchoNetwork(const Model& model, const hostile::Misdeed* misdeed)
      : misdeed_(misdeed) {
    const assay::Graph& graph = model.graph();
    for (const auto id : graph.inputs) inputs_.push_back(graph.values[id]);
    outputs_.push_back(graph.values[graph.outputs.at(0)]);
    if (misdeed != nullptr && misdeed->words.output != nullptr) {
      outputs_[0].name = misdeed->words.output;
    }
  }
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    if (misdeed_ != nullptr && misdeed_->words.declines != nullptr) {
      return assay::Unsupported(assay::Reason::kOperator,
                                misdeed_->words.declines);
    }
    return std::unique_ptr<Binding>(
        std::make_unique<Echoed>(inputs, outputs, /*own=*/misdeed_ != nullptr));
  }
  Status Forward(Binding& binding) override {
    const hostile::Output output = static_cast<Echoed&>(binding).Echo();
    if (misdeed_ == nullptr) return assay::OkStatus();
    misdeed_->commit(output);
    const char* const error = misdeed_->words.error;
    return error == nullptr ? assay::OkStatus() : assay::Internal(error);
  }

 private:
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
  const hostile::Misdeed* misdeed_;
};

/// The misdeed of that name; null where there is none.
const hostile::Misdeed* MisdeedNamed(std::string_view name) {
  const auto& misdeeds = hostile::Misdeeds();
  const auto found = std::ranges::find(misdeeds, name, &hostile::Misdeed::name);
  return found == misdeeds.end() ? nullptr : &*found;
}

/// The misdeed that `settings` choose, or else the module's name; null where
/// neither does.
Result<const hostile::Misdeed*> ChosenBy(const assay::Settings& settings) {
  const auto act = settings.find("act");
  if (act == settings.end()) return MisdeedNamed(hostile::NameOfModule());
  const hostile::Misdeed* const chosen = MisdeedNamed(act->second);
  if (chosen == nullptr) {
    return assay::InvalidArgument("found the behaviour ", act->second,
                                  ", wanted one of ", hostile::NameOfModule());
  }
  return chosen;
}

class EchoBackend final : public assay::Backend {
 public:
  std::string_view name() const override { return hostile::NameOfModule(); }
  Result<assay::Probe> Inspect() override {
    // No setting is known yet.
    const auto* const misdeed = MisdeedNamed(hostile::NameOfModule());
    const hostile::Words words =
        misdeed == nullptr ? hostile::Words() : misdeed->words;
    return assay::Probe{words.version, words.device};
  }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    std::this_thread::sleep_for(
        std::chrono::microseconds(Number(options, "nap_us")));
    if (IsOneOf(*model, Number(options, "decline_share"))) {
      return assay::Unsupported(assay::Reason::kOperator, "by its hash");
    }
    if (IsOneOf(*model, Number(options, "crash_share"))) std::abort();
    ASSAY_ASSIGN_OR_RETURN(const hostile::Misdeed* const misdeed,
                           ChosenBy(options.settings));
    const auto at = options.settings.find("at");
    const bool misbehaves = at != options.settings.end() &&
                            !model->graph().nodes.empty() &&
                            at->second == model->graph().nodes[0].op_type;
    return std::unique_ptr<Network>(
        std::make_unique<EchoNetwork>(*model, misbehaves ? misdeed : nullptr));
  }

 private:
  static long Number(const LoadOptions& options, const char* setting) {
    const auto found = options.settings.find(setting);
    return found == options.settings.end()
               ? 0
               : std::strtol(found->second.c_str(), nullptr, 10);
  }

  /// True when a model is one of those that a hash picks, one of `share`.
  static bool IsOneOf(const Model& model, long share) {
    if (share <= 0) return false;
    return (assay::core::StableHash(model.bytes()) >> 32U) %
               static_cast<uint64_t>(share) ==
           0;
  }
};

ASSAY_REGISTER_BACKEND(EchoBackend);

}  // namespace
