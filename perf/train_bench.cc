// SPDX-License-Identifier: Apache-2.0
//
// Training steps a second of a model on backends, in this process, with synthetic
// images; and the share of a step that is the trainer's and the optimizer's own.
//
//   OMP_NUM_THREADS=1 build/bin/train_bench lenet5 64 build/lib/assay/*.so
//
// The backends take turns, in blocks of 20 steps. A row is the median over 9
// blocks: steps a second of Train with Momentum, and the part of its time that
// forward and backward alone do not take.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/graph/edit/training.h"
#include "framework/train/data/numbers.h"
#include "framework/train/model/models.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"

namespace {

using namespace assay;

constexpr int kBlocks = 9, kSteps = 20;

template <class T>
T Got(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

/// As many images as a block has, of noise.
train::Dataset Noise(int64_t samples) {
  std::vector<float> x(static_cast<size_t>(samples * 28 * 28));
  std::vector<int64_t> labels;
  train::Numbers numbers(1);
  for (float& pixel : x) pixel = static_cast<float>(numbers.Share());
  for (int64_t i = 0; i < samples; ++i) labels.push_back(i % 10);
  return Got(train::Dataset::Of(Got(Tensor::Of<float>({samples, 1, 28, 28}, x)),
                                Got(Tensor::Of<int64_t>({samples}, labels)),
                                10));
}

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

struct Subject {
  std::string name;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<train::NetworkObjective> objective;
  std::unique_ptr<train::Optimizer> optimizer;
  std::vector<double> train, evaluate;  // seconds of a block
};

Subject Load(const std::string& module, const std::string& model) {
  Subject subject;
  subject.name = Got(LoadBackendModule(module)).front();
  subject.backend = Got(MakeBackend(subject.name));
  const train::NewModel made = Got(train::MakeModel(model, {.seed = 1}));
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  subject.objective = Got(train::NetworkObjective::Load(
      *subject.backend,
      {Got(edit::WithLoss(*made.model, loss)), made.parameters}));
  subject.optimizer =
      Got(train::MakeOptimizer({"momentum", "pytorch", "rate=0.01"})).optimizer;
  return subject;
}

void Block(Subject* subject, const train::Samples& samples) {
  train::Training training{*subject->objective, *subject->optimizer, samples};
  training.targets = train::Targets::kOneHot;
  subject->train.push_back(SecondsOf([&] { Got(train::Train(training)); }));
  subject->evaluate.push_back(SecondsOf([&] {
    for (int i = 0; i < kSteps; ++i) Got(subject->objective->Evaluate());
  }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL BATCH MODULE...\n", argv[0]);
    return 2;
  }
  try {
    const int64_t batch = std::atoll(argv[2]);
    const train::Dataset images = Noise(batch * kSteps);
    const train::Samples samples{
        &images, Got(train::ShuffledSampler({batch * kSteps, batch}, 1))};
    std::vector<Subject> subjects;
    for (int i = 3; i < argc; ++i) subjects.push_back(Load(argv[i], argv[1]));
    for (int block = 0; block <= kBlocks; ++block) {
      for (Subject& subject : subjects) {
        Block(&subject, samples);
        if (block > 0) continue;  // the first one warms
        subject.train.clear();
        subject.evaluate.clear();
      }
    }
    std::printf("%-12s %10s %8s\n", "backend", "steps/s", "own");
    for (const Subject& subject : subjects) {
      const double train = Median(subject.train);
      std::printf("%-12s %10.1f %7.1f%%\n", subject.name.c_str(),
                  kSteps / train, 100 * (1 - Median(subject.evaluate) / train));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
