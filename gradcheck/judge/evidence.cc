// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/evidence.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "framework/file/file.h"
#include "framework/graph/value_bytes.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

/// Makes the folder; writes nothing for a value that is not there.
Status Write(const fs::path& folder, std::string_view what, size_t index,
             const Value& value, const std::string& name) {
  if (!value.present()) return OkStatus();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(folder));
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                         graph::SerializeValue(value, name));
  return file::WriteFile(folder / StrCat(what, "_", index, ".pb"), bytes);
}

Status Write(const fs::path& folder, std::string_view what, size_t index,
             const Tensor& tensor, const std::string& name) {
  return Write(folder, what, index, tensor.defined() ? Value(tensor) : Value(),
               name);
}

/// One cotangent: what flows in, what comes out, and what should.
class Writer {
 public:
  Writer(const GradientCase& c, const suite::Subject& subject, Trial& trial,
         fs::path folder)
      : case_(c),
        graph_(subject.model->graph()),
        trial_(trial),
        folder_(std::move(folder)) {}

  Status Outputs(std::string_view whose, size_t index,
                 const Value& value) const {
    return Write(folder_ / whose, "output", index, value,
                 graph_[graph_.outputs[index]].name);
  }

  /// `exact` has one answer for each target, or none.
  Status Gradients(Cotangent kind,
                   const std::vector<measure::ExactAnswer>& exact) const {
    std::string word(ToString(kind));
    std::ranges::replace(word, ' ', '_');
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> dy,
                           trial_.Directions(kind, case_));
    for (size_t i = 0; i < dy.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(Write(folder_ / "exact" / word, "cotangent", i,
                                  dy[i], graph_[graph_.outputs[i]].name));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> got,
                           trial_.Backward(dy, trial_.targets()));
    for (size_t i = 0; i < got.size(); ++i) {
      const std::string& name = trial_.targets()[i];
      ASSAY_RETURN_IF_ERROR(
          Write(folder_ / "got" / word, "gradient", i, got[i], name));
      if (i >= exact.size()) continue;
      ASSAY_RETURN_IF_ERROR(
          Exact(folder_ / "exact" / word, i, name, exact[i], got[i]));
    }
    return OkStatus();
  }

 private:
  Status Exact(const fs::path& folder, size_t index, const std::string& name,
               const measure::ExactAnswer& exact, const Value& got) const {
    ASSAY_RETURN_IF_ERROR(Write(folder, "gradient", index, exact.value, name));
    ASSAY_RETURN_IF_ERROR(
        Write(folder, "hull_low", index, exact.hull.low, name));
    ASSAY_RETURN_IF_ERROR(
        Write(folder, "hull_high", index, exact.hull.high, name));
    const Compared found =
        Compare(*got.tensor(), exact,
                {.type = case_.variant.type,
                 .exact = case_.variant.input_class == InputClass::kExact,
                 .accumulator = trial_.Accumulator(case_)});
    if (!found.mismatch.empty()) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(
        Tensor limits,
        Tensor::Of<double>(exact.value.tensor()->shape(), found.limits));
    return Write(folder, "limit", index, limits, name);
  }

  const GradientCase& case_;
  const Graph& graph_;
  Trial& trial_;
  fs::path folder_;
};

}  // namespace

Status WriteEvidence(const GradientCase& c, Backend& backend,
                     const fs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const suite::Subject subject, SubjectOf(c));
  ASSAY_ASSIGN_OR_RETURN(Trial trial, Trial::Load(backend, subject));
  ASSAY_RETURN_IF_ERROR(trial.Forward());
  const Writer writer(c, subject, trial, folder);
  for (size_t i = 0; i < trial.outputs().size(); ++i) {
    ASSAY_RETURN_IF_ERROR(writer.Outputs("got", i, trial.outputs()[i]));
  }
  // Without answers, as where the oracle declines, what was got is left.
  GradientAnswers answers;
  if (auto read = ReadGradientAnswers(c); read.ok()) {
    answers = *std::move(read);
  }
  for (size_t i = 0; i < answers.outputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(writer.Outputs("exact", i, answers.outputs[i].value));
  }
  for (size_t i = 0; i < kCotangents.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        writer.Gradients(kCotangents[i], answers.gradients[i]));
  }
  return OkStatus();
}

std::vector<suite::Labelled> EvidenceFiles() {
  return {{"exact",
           "outputs, and for each of four cotangents the gradients with the "
           "limit of each element"},
          {"got", "the outputs and gradients that the backend gave"}};
}

}  // namespace assay::gradcheck
