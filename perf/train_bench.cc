// SPDX-License-Identifier: Apache-2.0
//
// A training step of a model on backends, in this process, with drawn images.
//
//   OMP_NUM_THREADS=1 build/bin/train_bench lenet5 64 build/lib/assay/*.so
//
// All take turns, in blocks of 63 steps with Momentum. A row has the medians
// over 10 blocks:
//
//   steps/s   of a loop around the optimizer, on one batch
//   kernels   a step of that loop over the sum of its parts alone: each node of
//             the network in a network of its own, forward and backward, and
//             the update
//   new       calls of operator new in a step of that loop

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/graph/edit/training.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"
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

constexpr int kBlocks = 10, kSteps = 63;  // steps of a block

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

/// A backend that takes its turn.
class Subject {
 public:
  Subject(std::string name, const char* model, std::span<const Tensor> batch)
      : name_(std::move(name)), backend_(Got(MakeBackend(name_))) {
    const train::NewModel made = Got(train::MakeModel(model, {.seed = 1}));
    edit::LossEdit loss;
    loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
    const train::Trainee trainee =
        Got(train::TraineeOf(made, loss, /*seed=*/1));
    parts_.emplace(*backend_, trainee, batch);
    objective_ = Got(train::NetworkObjective::Load(*backend_, trainee));
    optimizer_ = Got(train::MakeOptimizer({"momentum", "pytorch", "rate=0.01"}))
                     .optimizer;
    Must(objective_->Put(batch));
    const auto gradients = Got(objective_->Evaluate()).gradients;
    still_.emplace(objective_.get(),
                   std::vector(gradients.begin(), gradients.end()));
  }

  void Block() {
    const double parts = SecondsOf([&] {
      for (int i = 0; i < kSteps; ++i) {
        parts_->Run();
        Got(optimizer_->Step(*still_));
      }
    });
    steps_.push_back(SecondsOf([&] {
      for (int i = 0; i < kSteps; ++i) Got(optimizer_->Step(*objective_));
    }));
    kernels_.push_back(steps_.back() / parts);
    const int64_t before = news;
    Got(optimizer_->Step(*objective_));
    news_ = news - before;
  }

  void Print() const {
    std::printf("%-18s %8.1f %8.3f %5ld\n", name_.c_str(),
                kSteps / Median(steps_), Median(kernels_), news_);
  }
  void Forget() {
    steps_.clear();
    kernels_.clear();
  }

 private:
  std::string name_;
  std::unique_ptr<Backend> backend_;
  std::optional<perf::NetworkParts> parts_;
  std::unique_ptr<train::NetworkObjective> objective_;
  std::unique_ptr<train::Optimizer> optimizer_;
  std::optional<Still> still_;
  std::vector<double> steps_, kernels_;
  int64_t news_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL BATCH MODULE...\n", argv[0]);
    return 2;
  }
  try {
    const int64_t size = std::atoll(argv[2]);
    const train::Dataset images = Got(train::DrawnImages(size, /*seed=*/1));
    const train::Batch all = train::Shuffled(size, /*key=*/1);
    std::vector<Tensor> batch(2);
    batch[0] = Got(images.Inputs(all));
    batch[1] = Got(images.OneHot(all, batch[0].dtype()));
    std::vector<std::unique_ptr<Subject>> subjects;
    for (int i = 3; i < argc; ++i) {
      subjects.push_back(std::make_unique<Subject>(
          Got(LoadBackendModule(argv[i])).front(), argv[1], batch));
    }
    for (int block = 0; block <= kBlocks; ++block) {
      for (const auto& subject : subjects) {
        subject->Block();
        if (block == 0) subject->Forget();  // the first one warms
      }
    }
    std::printf("%-18s %8s %8s %5s\n", "", "steps/s", "kernels", "new");
    for (const auto& subject : subjects) subject->Print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
