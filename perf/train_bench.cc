// SPDX-License-Identifier: Apache-2.0
//
// Training steps of a model on backends, in this process, with drawn images.
//
//   OMP_NUM_THREADS=1 build/bin/train_bench lenet5 64 build/lib/assay/*.so
//
// Behind the modules may stand peer=build/bin/libtorch_peer.so, another
// framework, which has lenet5 alone. All take turns, in blocks of 4 epochs of
// 63 steps with Momentum. A row has the medians over 10 blocks:
//
//   steps/s   of Train with every event of framework/train/event and a
//             checkpoint every 100 steps
//   trainer   the share of its time that a loop by hand around the optimizer
//             does not take: the median over the blocks, each with its own loop
//   events    the share of its time in calls of events, which a machine where
//             two loops alike differ by more can tell
//   kernels   a step of that loop over the sum of its parts alone: each node of
//             the network in a network of its own, forward and backward, and
//             the update
//   new       calls of operator new in a step of that loop

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/graph/edit/training.h"
#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/event/csv_files.h"
#include "framework/train/event/progress_line.h"
#include "framework/train/event/stop.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"
#include "perf/libtorch_peer.h"
#include "perf/network_parts.h"

namespace {
std::atomic<int64_t> news = 0;
}  // namespace

// Not inlined: GCC warns of a free of what new gave where it sees one half
// alone.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++news;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace assay;
namespace fs = std::filesystem;

// A run is as `assay train` makes it of the digits: so many epochs and steps, a
// checkpoint each 100.
constexpr int kBlocks = 10, kEpochs = 10, kSteps = 63;  // steps of an epoch
constexpr double kRate = 0.01, kMomentum = 0.9;

using perf::Got;
using perf::Must;

double SecondsOf(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers[numbers.size() / 2];
}

/// Gradients that stand still, for the time of an update.
class Still : public train::Objective {
 public:
  Still(train::NetworkObjective* objective, std::vector<Tensor> gradients)
      : objective_(*objective), gradients_(std::move(gradients)) {}

  std::span<train::Parameter> parameters() override {
    return objective_.parameters();
  }
  Result<train::Evaluation> Evaluate() override {
    return train::Evaluation{1, gradients_};
  }

 private:
  train::NetworkObjective& objective_;
  std::vector<Tensor> gradients_;
};

/// Every event of a run, with a folder of their own.
class Events {
 public:
  explicit Events(const train::Dataset& images)
      : wrong_(folder_ / "wrong_samples.csv", images) {}
  ~Events() { fs::remove_all(folder_); }

  std::vector<train::TrainingEvent*> All() {
    return {&keeps_, &log_,   &curves_, &wrong_, &line_,
            &nan_,   &asked_, &enough_, &late_};
  }

 private:
  static fs::path NewFolder() {
    fs::path folder = fs::temp_directory_path() / "assay_train_bench";
    fs::create_directories(folder);
    return folder;
  }

  const fs::path folder_ = NewFolder();
  std::ostringstream out_, mlperf_;
  std::atomic<bool> flag_ = false;
  train::CurveFile curves_{folder_ / "curves.csv", 1};
  train::Checkpoints keeps_{{.path = folder_ / "checkpoint.safetensors",
                             .every = 100,
                             .identity = {},
                             .more = {},
                             .before = [this] { return curves_.Flush(); }}};
  train::MlperfLog log_{mlperf_, {}};
  train::WrongSamples wrong_;
  train::ProgressLine line_{
      out_,
      {.is_terminal = true, .epochs = kEpochs, .steps = kEpochs * kSteps}};
  train::StopOnNan nan_{folder_ / "gradients.safetensors"};
  train::StopWhenAsked asked_{flag_};
  train::StopAtAccuracy enough_{2};
  train::StopAtTime late_{std::chrono::hours(1)};
};

/// Adds up the seconds of an event.
class Timed : public train::TrainingEvent {
 public:
  using Moment = train::TrainingMoment;

  Timed(train::TrainingEvent& inner, double* seconds)
      : inner_(inner), seconds_(*seconds) {}

  Status BeforeRun(const Moment& m) override {
    return In(&Event::BeforeRun, m);
  }
  Status BeforeEpoch(const Moment& m) override {
    return In(&Event::BeforeEpoch, m);
  }
  Status BeforeTrainingSet(const Moment& m) override {
    return In(&Event::BeforeTrainingSet, m);
  }
  Status BeforeStep(const Moment& m) override {
    return In(&Event::BeforeStep, m);
  }
  Status AfterStep(const Moment& m) override {
    return In(&Event::AfterStep, m);
  }
  Status AfterTrainingSet(const Moment& m) override {
    return In(&Event::AfterTrainingSet, m);
  }
  Status AfterEpoch(const Moment& m) override {
    return In(&Event::AfterEpoch, m);
  }
  Status AfterRun(const Moment& m) override { return In(&Event::AfterRun, m); }
  std::string StopAfterStep(const Moment& m) override {
    return In(&Event::StopAfterStep, m);
  }
  std::string StopAfterTest(const Moment& m) override {
    return In(&Event::StopAfterTest, m);
  }

 private:
  using Event = train::TrainingEvent;

  template <class Said>
  Said In(Said (Event::*call)(const Moment&), const Moment& moment) {
    const auto start = std::chrono::steady_clock::now();
    Said said = (inner_.*call)(moment);
    seconds_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return said;
  }

  train::TrainingEvent& inner_;
  double& seconds_;
};

/// The bare loop, a step of it behind each step of the trainer: what slows the
/// machine for a while slows both, and each finds the caches as a step left
/// them. It goes through batches of its own, so that neither finds the other's
/// images in a cache.
class BareLoop : public train::TrainingEvent {
 public:
  BareLoop(const train::Sampler& sampler,
           std::function<void(const train::Batch&)> step)
      : sampler_(sampler), step_(std::move(step)) {}

  double seconds() const { return seconds_; }

  Status BeforeEpoch(const train::TrainingMoment& moment) override {
    seconds_ += SecondsOf([&] { batches_ = sampler_(moment.epoch + kEpochs); });
    return OkStatus();
  }
  Status AfterStep(const train::TrainingMoment& moment) override {
    seconds_ += SecondsOf([&] { step_(batches_[moment.steps % kSteps]); });
    return OkStatus();
  }

 private:
  const train::Sampler& sampler_;
  const std::function<void(const train::Batch&)> step_;
  std::vector<train::Batch> batches_;
  double seconds_ = 0;
};

/// A subject that takes its turn. Each block gives the seconds of one epoch.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual void Block() = 0;
  virtual void Print() const = 0;
  virtual void Forget() = 0;
};

class PeerSubject : public Subject {
 public:
  PeerSubject(void* library, const char* model, int64_t batch) {
    const auto find = [&](const char* name) { return dlsym(library, name); };
    name_ =
        reinterpret_cast<decltype(&assay_peer_name)>(find("assay_peer_name"));
    steps_ =
        reinterpret_cast<decltype(&assay_peer_steps)>(find("assay_peer_steps"));
    peer_ = reinterpret_cast<decltype(&assay_peer_begin)>(
        find("assay_peer_begin"))(model, batch, kRate, kMomentum);
    if (peer_ == nullptr) throw std::runtime_error("the peer lacks the model");
  }

  void Block() override {
    seconds_.push_back(SecondsOf([&] { steps_(peer_, kEpochs * kSteps); }));
  }
  void Print() const override {
    std::printf("%-18s %8.1f\n", name_(), kEpochs * kSteps / Median(seconds_));
  }
  void Forget() override { seconds_.clear(); }

 private:
  decltype(&assay_peer_name) name_;
  decltype(&assay_peer_steps) steps_;
  void* peer_;
  std::vector<double> seconds_;
};

class BackendSubject : public Subject {
 public:
  BackendSubject(std::string name, const char* model,
                 const train::Dataset& images, const train::Samples& samples)
      : name_(std::move(name)),
        backend_(Got(MakeBackend(name_))),
        images_(images),
        samples_(samples),
        batches_(samples.sampler(0)) {
    const train::NewModel made = Got(train::MakeModel(model, {.seed = 1}));
    edit::LossEdit loss;
    loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
    const train::Trainee trainee =
        Got(train::TraineeOf(made, loss, /*seed=*/1));
    parts_.emplace(*backend_, trainee, Drawn(batches_[0]));
    objective_ = Got(train::NetworkObjective::Load(*backend_, trainee));
    optimizer_ = NewOptimizer();
    Must(objective_->Put(Drawn(batches_[0])));
    const auto gradients = Got(objective_->Evaluate()).gradients;
    still_.emplace(objective_.get(),
                   std::vector(gradients.begin(), gradients.end()));
  }

  void Block() override {
    Events events(images_);
    train::Training training{*objective_, *optimizer_, samples_};
    training.epochs = kEpochs;
    training.targets = train::Targets::kOneHot;
    // Every second block asks what the events take; the others go without its
    // clocks.
    double in_events = 0;
    const bool is_timed = ++blocks_ % 2 == 0;
    std::deque<Timed> timed;
    for (train::TrainingEvent* const event : events.All()) {
      training.events.push_back(
          is_timed ? &timed.emplace_back(*event, &in_events) : event);
    }
    BareLoop bare(samples_.sampler, [&](const train::Batch& batch) {
      Must(objective_->Put(Drawn(batch)));
      Got(optimizer_->Step(*objective_));
    });
    training.events.push_back(&bare);
    const double train =
        SecondsOf([&] { Got(train::Train(training)); }) - bare.seconds();
    const double parts = SecondsOf([&] {
      for (int i = 0; i < kSteps; ++i) {
        parts_->Run();
        Got(optimizer_->Step(*still_));
      }
    });
    const double step = SecondsOf([&] {
      for (int i = 0; i < kSteps; ++i) Got(optimizer_->Step(*objective_));
    });
    train_.push_back(train);
    if (is_timed) {
      events_.push_back(in_events / train);
    } else {
      own_.push_back(train / bare.seconds() - 1);
    }
    kernels_.push_back(step / parts);
    const int64_t before = news;
    Got(optimizer_->Step(*objective_));
    news_ = news - before;
  }

  void Print() const override {
    std::printf("%-18s %8.1f %7.2f%% %7.2f%% %8.3f %5ld\n", name_.c_str(),
                kEpochs * kSteps / Median(train_), 100 * Median(own_),
                100 * Median(events_), Median(kernels_), news_);
  }
  void Forget() override {
    train_.clear();
    own_.clear();
    events_.clear();
    kernels_.clear();
  }

 private:
  static std::unique_ptr<train::Optimizer> NewOptimizer() {
    return Got(train::MakeOptimizer({"momentum", "pytorch", "rate=0.01"}))
        .optimizer;
  }

  std::vector<Tensor> Drawn(const train::Batch& batch) const {
    std::vector<Tensor> drawn(2);
    drawn[0] = Got(images_.Inputs(batch));
    drawn[1] = Got(images_.OneHot(batch, drawn[0].dtype()));
    return drawn;
  }

  std::string name_;
  std::unique_ptr<Backend> backend_;
  const train::Dataset& images_;
  const train::Samples& samples_;
  std::vector<train::Batch> batches_;
  std::optional<perf::NetworkParts> parts_;
  std::unique_ptr<train::NetworkObjective> objective_;
  std::unique_ptr<train::Optimizer> optimizer_;
  std::optional<Still> still_;
  std::vector<double> train_, own_, events_, kernels_;
  int64_t blocks_ = 0, news_ = 0;
};

std::unique_ptr<Subject> Load(const std::string& argument, const char* model,
                              const train::Dataset& images,
                              const train::Samples& samples, int64_t batch) {
  constexpr std::string_view kPeer = "peer=";
  if (!argument.starts_with(kPeer)) {
    return std::make_unique<BackendSubject>(
        Got(LoadBackendModule(argument)).front(), model, images, samples);
  }
  void* const library = dlopen(argument.c_str() + kPeer.size(),
                               RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return std::make_unique<PeerSubject>(library, model, batch);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL BATCH MODULE... [peer=FILE]\n",
                 argv[0]);
    return 2;
  }
  try {
    const int64_t batch = std::atoll(argv[2]);
    const train::Dataset images =
        Got(train::DrawnImages(batch * kSteps, /*seed=*/1));
    const train::Samples samples{
        &images, Got(train::ShuffledSampler({batch * kSteps, batch}, 1))};
    std::vector<std::unique_ptr<Subject>> subjects;
    for (int i = 3; i < argc; ++i) {
      subjects.push_back(Load(argv[i], argv[1], images, samples, batch));
    }
    for (int block = 0; block <= kBlocks; ++block) {
      for (const auto& subject : subjects) {
        subject->Block();
        if (block == 0) subject->Forget();  // the first one warms
      }
    }
    std::printf("%-18s %8s %8s %8s %8s %5s\n", "", "steps/s", "trainer",
                "events", "kernels", "new");
    for (const auto& subject : subjects) subject->Print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
