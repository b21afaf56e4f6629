// SPDX-License-Identifier: Apache-2.0
//
// What an oracle's questions cost: a run is recorded and asked for a gradient,
// and then for another one.
//
//   questions_bench build/lib/assay/reference.so CASE_FOLDER...
//
// Prints for each case the milliseconds, medians of five, of the first question
// with the recording, of the second, and their ratio; then the same of all
// cases together. Targets are all inputs of floating-point numbers. A case
// without one is left out, and so is one that fails, which is said.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
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

/// A cotangent of this number for each output that has a bound.
Result<std::vector<Value>> Cotangents(const std::vector<ExactValue>& outputs,
                                      double number) {
  std::vector<Value> cotangents(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].bound.defined()) continue;
    const Shape& shape = outputs[i].value.tensor()->shape();
    ASSAY_ASSIGN_OR_RETURN(Tensor filled,
                           Tensor::Allocate(DType::kFloat64, shape));
    std::ranges::fill(filled.mutable_elements<double>(), number);
    cotangents[i] = Value(std::move(filled));
  }
  return cotangents;
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
                             Cotangents(outputs, number));
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
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(module));
  if (names.size() != 1) {
    return InvalidArgument(module, " registers ", names.size(),
                           " backends, wanted one");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(names[0]));
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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: questions_bench MODULE CASE_FOLDER...\n";
    return 2;
  }
  const Status status = MeasureAll(argv[1], {argv + 2, argv + argc});
  if (status.ok()) return 0;
  std::cerr << "questions_bench: " << status.ToString() << '\n';
  return 1;
}
