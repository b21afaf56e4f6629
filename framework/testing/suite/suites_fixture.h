// SPDX-License-Identifier: Apache-2.0
//
// SuitesTest: a case with files, and one suite that runs it on a backend that
// gives y = x, in float32, and what a test wants to be wrong with it.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/backend/network_interfaces.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/measure/measure_rows_fixture.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::suite {

/// How the backend departs from y = x.
struct Fault {
  Status load, forward;
  bool no_network = false;
  bool no_exact = false;
  bool no_units = false;
  bool few_units = false;
  bool keeps = false;                         // gives what it gave first
  bool drifts = false;                        // a little more in each run
  Precision exact_from = Precision::kDouble;  // off by `bound` below
  double bound = 1;
  bool no_arbitrary = false;
  Precision least = Precision::kDouble;  // fails below
  bool slow = false;                     // an answer takes 1 ms or more
};

class CopyBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return {&y, 1}; }
  Value x, y;
};

/// Half of x, in two parts, so that it is told from the outputs.
class Halves : public ExactRun {
 public:
  Halves(const Fault& fault, std::span<const Value> inputs) : fault_(fault) {
    for (const float x : inputs[0].tensor()->elements<float>()) {
      half_.push_back(x / 2);
    }
  }
  Precision LeastPrecision() const override { return fault_.least; }
  Result<std::vector<ExactValue>> Evaluate(Precision precision) override {
    if (precision == Precision::kArbitrary && fault_.no_arbitrary) {
      return ResourceExhausted("too much");
    }
    if (precision < fault_.least) return Internal("not worth its time");
    const Tensor zeros = Doubles(std::vector<double>(half_.size(), 0));
    const Tensor off = Doubles(std::vector<double>(
        half_.size(), precision < fault_.exact_from ? fault_.bound : 0));
    return std::vector<ExactValue>{{Doubles(half_), zeros, off}};
  }
  Result<std::vector<Tensor>> EvaluateUnits(UnitKind) override {
    if (fault_.no_units) return Internal("no units");
    if (fault_.few_units) return std::vector<Tensor>();
    return std::vector<Tensor>{Doubles({7, 8}), Doubles({9})};
  }

 private:
  const Fault fault_;
  std::vector<double> half_;
};

class Copying : public Network, public Exact, public Placement {
 public:
  explicit Copying(const Fault& fault) : fault_(fault) {}
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Exact* exact() override { return fault_.no_exact ? nullptr : this; }
  Placement* placement() override { return this; }
  std::vector<PlacedNode> Placed() const override {
    return {{"Identity", "copier", "call"}};
  }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    auto binding = std::make_unique<CopyBinding>();
    binding->x = inputs[0];
    if (!outputs.empty()) binding->y = outputs[0];
    return binding;
  }
  Status Forward(Binding& bound) override {
    auto& binding = static_cast<CopyBinding&>(bound);
    ASSAY_RETURN_IF_ERROR(fault_.forward);
    if (first_.empty() || !fault_.keeps) {
      const auto x = binding.x.tensor()->elements<float>();
      first_.assign(x.begin(), x.end());
    }
    if (!binding.y.present()) binding.y = Floats(first_);
    const auto y = binding.y.mutable_tensor()->mutable_elements<float>();
    std::ranges::copy(first_, y.begin());
    if (fault_.drifts) y[0] += 1e-6F * static_cast<float>(++runs_);
    return OkStatus();
  }

  Result<std::unique_ptr<ExactRun>> At(std::span<const Value> inputs,
                                       std::span<const std::string>) override {
    ASSAY_RETURN_IF_ERROR(fault_.forward);
    if (fault_.slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++recorded;
    return std::unique_ptr<ExactRun>(std::make_unique<Halves>(fault_, inputs));
  }

  static inline int recorded = 0;

 private:
  const Fault fault_;
  const std::vector<ValueInfo> inputs_ = {{"x", {}}};
  const std::vector<ValueInfo> outputs_ = {{"y", {}}};
  std::vector<float> first_;
  int runs_ = 0;
};

/// The inputs and the expected outputs of a data set.
struct Set {
  std::vector<float> x, y;
};

inline const Set kRight = {{1, 2}, {1, 2}};
inline const Set kNear = {{1, 2}, {1, 2.00001F}};
inline const Set kOff = {{1, 2}, {1, 2.1F}};
inline const Set kDrawn = {{1, 0}, {1, 0}};  // as Bernoulli must

/// A case in files, run by one suite.
class SuitesTest : public testing::Test {
 protected:
  /// A case of y = op(x) under a limit of 1e-5 times what is wanted.
  record::PlanRow CaseOf(const std::vector<Set>& sets,
                         const std::string& op = "Identity") const {
    const auto write = [&](const std::string& file, const Value& value) {
      folder_.Write(file, *graph::SerializeValue(value, ""));
    };
    const auto size = sets[0].x.size();
    const auto model =
        graph::ModelOfText(StrCat("g (float[", size, "] x) => (float[", size,
                                  "] y) { y = ", op, "(x) }"));
    folder_.Write("model.onnx",
                  {reinterpret_cast<const char*>(model->bytes().data()),
                   model->bytes().size()});
    for (size_t i = 0; i < sets.size(); ++i) {
      const std::string set = StrCat("test_data_set_", i);
      write(set + "/input_0.pb", Floats(sets[i].x));
      write(set + "/output_0.pb", Floats(sets[i].y));
    }
    record::PlanRow row;
    row.oracle = (folder_.path() / "answers").string();
    row.sensitive = {0};
    row.test_id = "node/Identity/a";
    row.suite = "node";
    row.directory = folder_.path().string();
    row.n_data_sets = std::ssize(sets);
    row.rtol = 1e-5;
    row.limit_source = "onnx";
    if (op == "Bernoulli") row.comparator = record::Comparator::kDistribution;
    row.tolerate_source = "line 7";
    return row;
  }

  measure::Judgement Run(const Suite& suite, const record::PlanRow& row,
                         const Fault& fault = {}) {
    StubBackend backend(
        [fault](auto, const LoadOptions& options)
            -> Result<std::unique_ptr<Network>> {
          ASSAY_RETURN_IF_ERROR(fault.load);
          if (fault.no_network) return std::unique_ptr<Network>();
          Fault of_network = fault;
          of_network.no_exact = fault.no_exact || !options.exact;
          return std::make_unique<Copying>(of_network);
        },
        "copy");
    record_ = record::Record{record::ResultOf(row, facts_)};
    return suite.run(row, backend, facts_, &record_);
  }
  std::vector<record::AccuracyRow> Rows() const {
    return *record_.Rows<record::AccuracyRow>();
  }
  /// The accuracy of the last run as its table has it, without the key.
  std::string Table() const {
    std::string text;
    for (const record::RecordRow& row : record_.rows) text += row.fields + "\n";
    return text;
  }

  const file::ScratchFolder folder_;
  record::RunFacts facts_ = {.output = folder_.path() / "out"};
  record::Record record_;
};

}  // namespace assay::suite
