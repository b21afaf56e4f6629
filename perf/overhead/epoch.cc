// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/epoch.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "framework/core/text.h"
#include "framework/graph/edit/training.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"
#include "perf/overhead/every_event.h"
#include "perf/overhead/libtorch_peer.h"
#include "perf/overhead/report.h"

namespace assay::overhead {
namespace {

constexpr int64_t kBatch = 64, kSteps = 63, kClasses = 10;
constexpr float kRate = 0.01F, kMomentum = 0.9F;
constexpr uint64_t kSeed = 1;

constexpr const char* kModel = "lenet5";

Result<train::Trainee> NewTrainee() {
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel made,
                         train::MakeModel(kModel, {.seed = kSeed}));
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  return train::TraineeOf(made, loss, kSeed);
}

/// A network bound to a batch, its parameters and their gradients.
class ByHand {
 public:
  explicit ByHand(const train::Samples& samples) : samples_(samples) {}

  Status Load(Backend& backend, const train::Trainee& trainee) {
    LoadOptions options;
    for (const train::Parameter& each : trainee.parameters) {
      options.gradient_targets.push_back(each.name);
      parameters_.push_back(each.value);
    }
    ASSAY_ASSIGN_OR_RETURN(network_, backend.Load(trainee.model, options));
    if (network_->differentiable() == nullptr) {
      return Unsupported(Reason::kGradient, "the backend has no gradients");
    }
    ASSAY_RETURN_IF_ERROR(BindInputs(trainee));
    return BindGradients(trainee, options.gradient_targets);
  }

  std::span<const Tensor> parameters() const { return parameters_; }

  /// So many epochs, from the first on, as Train does.
  Status Run(int64_t epochs) {
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      ASSAY_RETURN_IF_ERROR(Epoch(epoch));
    }
    return OkStatus();
  }

 private:
  Status Epoch(int64_t epoch) {
    for (const train::Batch& batch : samples_.sampler(epoch)) {
      Gather(batch);
      ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
      ASSAY_RETURN_IF_ERROR(network_->Synchronize());
      ASSAY_RETURN_IF_ERROR(
          network_->differentiable()->RunBackward(*bound_gradients_));
      ASSAY_RETURN_IF_ERROR(network_->Synchronize());
      Update();
    }
    return OkStatus();
  }

  Status BindInputs(const train::Trainee& trainee) {
    const Shape& all = samples_.dataset->inputs().shape();
    ASSAY_ASSIGN_OR_RETURN(
        images_,
        Tensor::Allocate(DType::kFloat32, {kBatch, all[1], all[2], all[3]}));
    ASSAY_ASSIGN_OR_RETURN(
        targets_, Tensor::Allocate(DType::kFloat32, {kBatch, kClasses}));
    std::vector<Value> inputs;
    bool has_images = false;
    for (const ValueInfo& input : network_->inputs()) {
      const auto found = std::ranges::find(trainee.parameters, input.name,
                                           &train::Parameter::name);
      if (found != trainee.parameters.end()) {
        inputs.emplace_back(found->value);
      } else {
        inputs.emplace_back(has_images ? targets_ : images_);
        has_images = true;
      }
    }
    ASSAY_ASSIGN_OR_RETURN(binding_, network_->Bind(inputs, {}));
    return network_->Forward(*binding_);
  }

  Status BindGradients(const train::Trainee& trainee,
                       const std::vector<std::string>& targets) {
    std::vector<Value> cotangents;
    for (const ValueInfo& output : network_->outputs()) {
      Value& cotangent = cotangents.emplace_back();
      if (output.name != trainee.loss) continue;
      ASSAY_ASSIGN_OR_RETURN(Tensor one, Tensor::Allocate(DType::kFloat32, {}));
      one.mutable_elements<float>()[0] = 1;
      cotangent = Value(one);
    }
    std::vector<Value> gradients;
    for (const Tensor& parameter : parameters_) {
      ASSAY_ASSIGN_OR_RETURN(
          gradients_.emplace_back(),
          Tensor::Allocate(DType::kFloat32, parameter.shape()));
      ASSAY_ASSIGN_OR_RETURN(
          velocities_.emplace_back(),
          Tensor::Allocate(DType::kFloat32, parameter.shape()));
      gradients.emplace_back(gradients_.back());
    }
    ASSAY_ASSIGN_OR_RETURN(bound_gradients_,
                           network_->differentiable()->BindBackward(
                               *binding_, cotangents, targets, gradients));
    return OkStatus();
  }

  void Gather(const train::Batch& batch) {
    const Tensor& all = samples_.dataset->inputs();
    const auto labels = samples_.dataset->labels().elements<int64_t>();
    const auto row =
        static_cast<size_t>(all.byte_size() / samples_.dataset->samples());
    std::byte* image = images_.mutable_data();
    float* target = targets_.mutable_elements<float>().data();
    std::fill_n(target, kBatch * kClasses, 0.0F);
    for (const int64_t sample : batch) {
      std::memcpy(image, all.data() + static_cast<size_t>(sample) * row, row);
      target[labels[static_cast<size_t>(sample)]] = 1;
      image += row;
      target += kClasses;
    }
  }

  void Update() {
    for (size_t p = 0; p < parameters_.size(); ++p) {
      float* const x = parameters_[p].mutable_elements<float>().data();
      float* const v = velocities_[p].mutable_elements<float>().data();
      const float* const g = gradients_[p].elements<float>().data();
      for (int64_t i = 0; i < parameters_[p].num_elements(); ++i) {
        v[i] = kMomentum * v[i] + g[i];
        x[i] -= kRate * v[i];
      }
    }
  }

  const train::Samples& samples_;
  std::unique_ptr<Network> network_;
  Tensor images_, targets_;
  std::vector<Tensor> parameters_, gradients_, velocities_;
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<GradientBinding> bound_gradients_;
};

/// The same by Train.
class ByTrainer {
 public:
  ByTrainer(const train::Samples& samples, bool has_events)
      : samples_(samples), has_events_(has_events) {}

  Status Load(Backend& backend, train::Trainee trainee) {
    ASSAY_ASSIGN_OR_RETURN(
        auto made, train::MakeOptimizer({"momentum", "pytorch", "rate=0.01"}));
    optimizer_ = std::move(made.optimizer);
    ASSAY_ASSIGN_OR_RETURN(
        objective_, train::NetworkObjective::Load(backend, std::move(trainee)));
    return OkStatus();
  }

  Status Run(int64_t epochs) {
    train::Training training{*objective_, *optimizer_, samples_};
    training.epochs = epochs;
    training.targets = train::Targets::kOneHot;
    std::optional<EveryEvent> every;  // of one run: they open files
    if (has_events_) {
      every.emplace(*samples_.dataset, epochs, epochs * kSteps);
      training.events = every->All();
    }
    return train::Train(training).status();
  }

  std::span<const train::Parameter> parameters() const {
    return objective_->parameters();
  }

 private:
  const train::Samples& samples_;
  bool has_events_;
  std::unique_ptr<train::Optimizer> optimizer_;
  std::unique_ptr<train::NetworkObjective> objective_;
};

/// After one epoch from the same beginnings; sums may be rounded otherwise.
Status CheckLearntAlike(const ByHand& hand, const ByTrainer& trainer) {
  constexpr float kAlike = 1e-4F;
  for (size_t p = 0; p < hand.parameters().size(); ++p) {
    const auto a = hand.parameters()[p].elements<float>();
    const auto b = trainer.parameters()[p].value.elements<float>();
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::abs(a[i] - b[i]) <= kAlike) continue;
      return FailedPrecondition("an epoch by hand left ", a[i], " in '",
                                trainer.parameters()[p].name, "', and Train ",
                                b[i]);
    }
  }
  return OkStatus();
}

/// Another framework, for as long as the process lives.
class Peer {
 public:
  Status Load(const std::string& file) {
    // Its own symbols before those of this program.
    void* const library =
        dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) return Unavailable(dlerror());
    const auto begin = reinterpret_cast<decltype(&assay_peer_begin)>(
        dlsym(library, "assay_peer_begin"));
    steps_ = reinterpret_cast<decltype(&assay_peer_steps)>(
        dlsym(library, "assay_peer_steps"));
    if (begin == nullptr || steps_ == nullptr) {
      return Unavailable("found no peer in ", file);
    }
    peer_ = begin(kModel, kBatch, double{kRate}, double{kMomentum});
    if (peer_ == nullptr) return Unavailable("the peer has no ", kModel);
    return OkStatus();
  }

  Status Run(int64_t epochs) {
    steps_(peer_, epochs * kSteps);
    return OkStatus();
  }

 private:
  decltype(&assay_peer_steps) steps_ = nullptr;
  void* peer_ = nullptr;
};

class LeNetEpochs final : public Epochs {
 public:
  explicit LeNetEpochs(train::Dataset images) : images_(std::move(images)) {}

  Status Load(Backend& backend, const std::string& peer_file) {
    samples_.dataset = &images_;
    ASSAY_ASSIGN_OR_RETURN(
        samples_.sampler,
        train::ShuffledSampler({kBatch * kSteps, kBatch}, kSeed));
    backend_ = backend.name();
    for (const bool has_events : {false, true}) {
      ASSAY_RETURN_IF_ERROR(AddByHand(backend, has_events));
    }
    if (peer_file.empty()) return OkStatus();
    const auto peer = std::make_shared<Peer>();
    ASSAY_RETURN_IF_ERROR(peer->Load(peer_file));
    Add(
        "peer", [peer](int64_t epochs) { return peer->Run(epochs); },
        pairs_.back().framework);
    return OkStatus();
  }

  std::vector<Pair> pairs() override { return pairs_; }

 private:
  Status AddByHand(Backend& backend, bool has_events) {
    const auto hand = std::make_shared<ByHand>(samples_);
    const auto trainer = std::make_shared<ByTrainer>(samples_, has_events);
    ASSAY_ASSIGN_OR_RETURN(auto trainee, NewTrainee());
    ASSAY_RETURN_IF_ERROR(hand->Load(backend, trainee));
    ASSAY_ASSIGN_OR_RETURN(trainee, NewTrainee());
    ASSAY_RETURN_IF_ERROR(trainer->Load(backend, std::move(trainee)));
    ASSAY_RETURN_IF_ERROR(hand->Run(1));
    ASSAY_RETURN_IF_ERROR(trainer->Run(1));
    ASSAY_RETURN_IF_ERROR(CheckLearntAlike(*hand, *trainer));
    Add(
        has_events ? "events" : "trainer",
        [hand](int64_t epochs) { return hand->Run(epochs); },
        [trainer](int64_t epochs) { return trainer->Run(epochs); });
    return OkStatus();
  }

  void Add(const char* variant, Calls native, Calls framework) {
    pairs_.push_back({.test_id = StrCat(kEpoch, kModel, "#", variant),
                      .backend = backend_,
                      .settings = "",
                      .native = std::move(native),
                      .framework = std::move(framework)});
  }

  const train::Dataset images_;
  train::Samples samples_;
  std::string backend_;
  std::vector<Pair> pairs_;
};

}  // namespace

Result<std::unique_ptr<Epochs>> Epochs::Make(Backend& backend,
                                             const std::string& peer) {
  ASSAY_ASSIGN_OR_RETURN(auto images,
                         train::DrawnImages(kBatch * kSteps, kSeed));
  auto epochs = std::make_unique<LeNetEpochs>(std::move(images));
  ASSAY_RETURN_IF_ERROR(epochs->Load(backend, peer));
  return std::unique_ptr<Epochs>(std::move(epochs));
}

}  // namespace assay::overhead
