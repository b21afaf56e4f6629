// SPDX-License-Identifier: Apache-2.0
//
// The cost of an oracle's questions: a run is recorded and asked for a
// gradient, and then for another one.
//
//   questions_bench build/lib/assay/reference.so CASE_FOLDER...
//   questions_bench --network reference.so CASE_FOLDER [TARGETS]
//
// Prints for each case the milliseconds, medians of five, of the first question
// with the recording, of the second, and their ratio; then the same of all
// cases together. Targets are all inputs of floating-point numbers. A case
// without one is left out, and so is one that fails, which is said.
//
// For a whole network it prints the seconds of each answer and the most memory
// that the process has taken by then: of values in the least precision that is
// worth its time, of both kinds of units and of values in quad, or, with
// TARGETS, of values and two gradients after so many initializers.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/backend/registry.h"
#include "framework/testing/case/test_case.h"

namespace {

using namespace assay;
using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 5;

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

double Median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// A cotangent for each output that has a bound, its elements `next()` in turn.
template <class Next>
Result<std::vector<Value>> Cotangents(const std::vector<ExactValue>& outputs,
                                      const Next& next) {
  std::vector<Value> cotangents(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].bound.defined()) continue;
    const Shape& shape = outputs[i].value.tensor()->shape();
    ASSAY_ASSIGN_OR_RETURN(Tensor filled,
                           Tensor::Allocate(DType::kFloat64, shape));
    std::ranges::generate(filled.mutable_elements<double>(), next);
    cotangents[i] = Value(std::move(filled));
  }
  return cotangents;
}

Result<std::unique_ptr<Backend>> BackendOf(const std::string& module) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(module));
  if (names.size() == 1) return MakeBackend(names[0]);
  return InvalidArgument(module, " registers ", names.size(),
                         " backends, wanted one");
}

struct Cost {
  double first = 0;
  double second = 0;
};

void Print(const std::string& name, const Cost& cost) {
  std::printf("%s: first %.3f, second %.3f, ratio %.2f\n", name.c_str(),
              cost.first, cost.second, cost.second / cost.first);
}

Status Measure(Backend& backend, const std::string& folder, Cost* all) {
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data,
                         cases::ReadCaseInputs(folder, 1));
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(const auto network, backend.Load(data.model, options));
  const std::vector<Value>& inputs = data.sets[0].inputs;
  std::vector<std::string> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const tensor = inputs[i].tensor();
    if (tensor != nullptr && IsFloatingPoint(tensor->dtype())) {
      targets.push_back(network->inputs()[i].name);
    }
  }
  if (targets.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto before, network->exact()->At(inputs, {}));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs,
                         before->Evaluate(Precision::kDouble));
  std::vector<double> first, second;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = Clock::now();
    ASSAY_ASSIGN_OR_RETURN(const auto run,
                           network->exact()->At(inputs, targets));
    for (const double number : {1.0, -0.5}) {
      const auto asked = number == 1 ? start : Clock::now();
      ASSAY_ASSIGN_OR_RETURN(const auto cotangents,
                             Cotangents(outputs, [&] { return number; }));
      ASSAY_RETURN_IF_ERROR(run->Vjp(cotangents, Precision::kDouble).status());
      (number == 1 ? first : second).push_back(Since(asked));
    }
  }
  const Cost cost = {Median(first), Median(second)};
  Print(folder, cost);
  all->first += cost.first;
  all->second += cost.second;
  return OkStatus();
}

Status MeasureAll(const std::string& module,
                  const std::vector<std::string>& folders) {
  ASSAY_ASSIGN_OR_RETURN(const auto backend, BackendOf(module));
  Cost all;
  for (const std::string& folder : folders) {
    const Status status = Measure(*backend, folder, &all);
    if (!status.ok()) {
      std::cerr << folder << ": left out: " << status.ToString() << '\n';
    }
  }
  Print("all", all);
  return OkStatus();
}

class Watch {
 public:
  /// Prints what has passed since the last call.
  void Say(const char* what) {
    const std::chrono::duration<double> seconds = Clock::now() - last_;
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%-12s %8.2f s %8ld MiB\n", what, seconds.count(),
                usage.ru_maxrss / 1024);
    std::fflush(stdout);
    last_ = Clock::now();
  }

 private:
  Clock::time_point last_ = Clock::now();
};

std::vector<std::string> Targets(const Model& model, size_t count) {
  std::vector<std::string> targets;
  for (const Initializer& initializer : model.graph().initializers) {
    const Tensor* const tensor = initializer.value.tensor();
    if (targets.size() < count && tensor != nullptr &&
        IsFloatingPoint(tensor->dtype())) {
      targets.push_back(model.graph()[initializer.id].name);
    }
  }
  return targets;
}

Status AskValues(ExactRun& run, Watch& watch) {
  const Precision least = run.LeastPrecision();
  ASSAY_RETURN_IF_ERROR(run.Evaluate(least).status());
  watch.Say(least == Precision::kDouble ? "double" : "quad");
  ASSAY_RETURN_IF_ERROR(run.EvaluateUnits(UnitKind::kCondition).status());
  watch.Say("condition");
  ASSAY_RETURN_IF_ERROR(run.EvaluateUnits(UnitKind::kHard).status());
  watch.Say("hard");
  if (least == Precision::kDouble) {
    ASSAY_RETURN_IF_ERROR(run.Evaluate(Precision::kQuad).status());
    watch.Say("quad");
  }
  return OkStatus();
}

Status AskGradients(ExactRun& run, Watch& watch) {
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, run.Evaluate(Precision::kDouble));
  watch.Say("double");
  int next = 0;  // elements that differ: those of a softmax sum to nothing else
  ASSAY_ASSIGN_OR_RETURN(const auto cotangents,
                         Cotangents(outputs, [&] { return 1.0 + next++ % 7; }));
  for (int i = 0; i < 2; ++i) {
    ASSAY_RETURN_IF_ERROR(run.Vjp(cotangents, Precision::kDouble).status());
    watch.Say("gradient");
  }
  return OkStatus();
}

Status MeasureNetwork(const std::string& module, const std::string& folder,
                      size_t target_count) {
  Watch watch;
  ASSAY_ASSIGN_OR_RETURN(const auto backend, BackendOf(module));
  ASSAY_ASSIGN_OR_RETURN(const auto data, cases::ReadCaseInputs(folder, 1));
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         backend->Load(data.model, options));
  watch.Say("load");
  ASSAY_ASSIGN_OR_RETURN(
      const auto run, network->exact()->At(data.sets[0].inputs,
                                           Targets(*data.model, target_count)));
  watch.Say("record");
  return target_count == 0 ? AskValues(*run, watch) : AskGradients(*run, watch);
}

}  // namespace

int main(int argc, char** argv) {
  const bool network = argc > 1 && std::string(argv[1]) == "--network";
  if (network ? argc < 4 || argc > 5 : argc < 3) {
    std::cerr << "usage: questions_bench MODULE CASE_FOLDER...\n"
                 "       questions_bench --network MODULE CASE_FOLDER "
                 "[TARGETS]\n";
    return 2;
  }
  const Status status =
      network ? MeasureNetwork(argv[2], argv[3],
                               argc == 5 ? std::stoul(argv[4]) : 0)
              : MeasureAll(argv[1], {argv + 2, argv + argc});
  if (status.ok()) return 0;
  std::cerr << "questions_bench: " << status.ToString() << '\n';
  return 1;
}
