// SPDX-License-Identifier: Apache-2.0
//
// What exact answers for a whole network cost.
//
//   network_bench build/lib/assay/reference.so CASE_FOLDER [TARGETS]
//
// Prints the seconds of each answer and the most memory that the process has
// taken by then: of values in the least precision that is worth its time, of
// both kinds of units and of values in quad, or, with TARGETS, of values and
// two gradients after so many initializers.

#include <sys/resource.h>

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

/// A cotangent for each output that has a bound, whose elements differ, so that
/// that of a softmax is not in vain.
Result<std::vector<Value>> Cotangents(const std::vector<ExactValue>& outputs) {
  std::vector<Value> cotangents(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].bound.defined()) continue;
    ASSAY_ASSIGN_OR_RETURN(
        Tensor filled,
        Tensor::Allocate(DType::kFloat64, outputs[i].value.tensor()->shape()));
    int next = 0;
    for (double& x : filled.mutable_elements<double>()) x = 1 + next++ % 7;
    cotangents[i] = Value(std::move(filled));
  }
  return cotangents;
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
  ASSAY_ASSIGN_OR_RETURN(const auto cotangents, Cotangents(outputs));
  for (int i = 0; i < 2; ++i) {
    ASSAY_RETURN_IF_ERROR(run.Vjp(cotangents, Precision::kDouble).status());
    watch.Say("gradient");
  }
  return OkStatus();
}

Status Measure(const std::string& module, const std::string& folder,
               size_t target_count) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(module));
  if (names.size() != 1) {
    return InvalidArgument(module, " registers ", names.size(),
                           " backends, wanted one");
  }
  Watch watch;
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(names[0]));
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
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: network_bench MODULE CASE_FOLDER [TARGETS]\n";
    return 2;
  }
  const size_t targets = argc == 4 ? std::stoul(argv[3]) : 0;
  const Status status = Measure(argv[1], argv[2], targets);
  if (status.ok()) return 0;
  std::cerr << "network_bench: " << status.ToString() << '\n';
  return 1;
}
