// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/judge/gradient_row.h"
#include "gradcheck/judge/judge.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {
namespace {

using Lines = std::vector<suite::Labelled>;

/// Four digits.
std::string Digits(double x) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", x);
  return text.data();
}

/// Numbers and words; of anything else the kind.
std::string AttributeText(const Attribute& attribute) {
  const auto& held = attribute.held;
  if (const auto* x = std::get_if<float>(&held)) return StrCat(*x);
  if (const auto* x = std::get_if<int64_t>(&held)) return StrCat(*x);
  if (const auto* x = std::get_if<std::string>(&held)) return *x;
  if (const auto* x = std::get_if<std::vector<int64_t>>(&held)) {
    return StrCat("[", Joined(*x), "]");
  }
  if (const auto* x = std::get_if<std::vector<float>>(&held)) {
    return StrCat("[", Joined(*x), "]");
  }
  return std::string(KindName(held));
}

std::string NodeText(const Graph& graph, const Node& node) {
  const auto name = [&](ValueId id) {
    return id == kNoValue ? std::string() : graph[id].name;
  };
  std::string attributes =
      Joined(node.attributes, ", ", [](const Attribute& attribute) {
        return StrCat(attribute.name, "=", AttributeText(attribute));
      });
  if (!attributes.empty()) attributes = StrCat("<", attributes, ">");
  return StrCat(Joined(node.outputs, ", ", name), " = ",
                node.domain.empty() ? "" : node.domain + ".", node.op_type,
                attributes, "(", Joined(node.inputs, ", ", name), ")");
}

void TellSubject(const GradientCase& c, Lines* lines) {
  const auto subject = SubjectOf(c);
  if (!subject.ok()) {
    lines->emplace_back("model", subject.status().message());
    return;
  }
  const Graph& graph = subject->model->graph();
  lines->emplace_back("model", Joined(graph.nodes, "\n", [&](const Node& node) {
                        return NodeText(graph, node);
                      }));
  std::vector<std::string> targets;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph[graph.inputs[i]].name;
    const Tensor* const tensor = i < subject->inputs[0].size()
                                     ? subject->inputs[0][i].tensor()
                                     : nullptr;
    if (tensor == nullptr) continue;
    const bool is_target =
        std::ranges::find(subject->targets, name) != subject->targets.end();
    if (is_target) targets.push_back(StrCat(name, " ", tensor->Signature()));
  }
  lines->emplace_back("targets", Joined(targets));
  std::vector<std::string> outputs;
  const std::vector<bool> flows = CarryingOutputs(*subject->model);
  for (size_t i = 0; i < flows.size(); ++i) {
    if (flows[i]) outputs.push_back(graph[graph.outputs[i]].name);
  }
  lines->emplace_back("cotangents", "of " + Joined(outputs));
}

/// True when `a` is to be told before `b`: it fails, or is nearer to its limit.
bool IsWorse(const GradientRow& a, const GradientRow& b) {
  if (a.outcome != b.outcome) return a.outcome == "fail";
  return a.headroom.value_or(2) < b.headroom.value_or(2);
}

/// Sums in another type, where the claims declare it.
std::string SumsText(const GradientRow& row) {
  const auto type = ParseDType(row.accumulator_dtype);
  if (!type.has_value() || row.accumulator_dtype == row.dtype) return "";
  return StrCat(", of sums, which are claimed to be in ", *type, ", ",
                Digits(limit::UnitRoundoff(*type)));
}

void TellWorst(const GradientRow& row, Lines* lines) {
  if (!row.worst_index.has_value()) return;
  const auto text = [](const record::Number& number) {
    return number.has_value() ? file::ToText(*number) : std::string("?");
  };
  // NaN is nearest to no number of the hull.
  const bool is_any =
      row.hull_low.has_value() && std::isnan(row.want.value_or(0));
  lines->emplace_back(
      "  worst",
      StrCat("[", *row.worst_index, "]: got ", text(row.got), ", want ",
             is_any ? "one of the hull" : text(row.want), "; ",
             Digits(1 - row.headroom.value_or(1)), " of the limit"));
  std::string limit = text(row.limit);
  if (const auto type = ParseDType(row.dtype);
      row.limit_units.has_value() && type.has_value()) {
    limit += StrCat(
        " of ", Digits(*row.limit_units),
        " condition units, depth of rounding ",
        Digits(row.limit_depth.value_or(1)), ", roundoff ",
        Digits(limit::UnitRoundoff(*type)), SumsText(row),
        ", and the oracle's bound ", Digits(row.limit_bound.value_or(0)),
        "; no order of rounding exceeds ", Digits(row.hard_limit.value_or(0)));
  }
  lines->emplace_back("  limit", limit);
  if (row.hull_low.has_value()) {
    lines->emplace_back(
        "  hull", StrCat("at a kink, where all of [", text(row.hull_low), ", ",
                         text(row.hull_high), "] is right"));
  }
}

void TellGradient(const GradientRow& row, Lines* lines) {
  std::string text =
      StrCat(row.dtype, row.shape, " for the cotangent ", row.cotangent, ": ",
             row.outcome == "fail" ? "beyond its limit" : "within its limit",
             ", ", row.case_class);
  const auto add = [&](std::string_view what, const record::Number& number) {
    if (number.has_value()) text += StrCat(what, Digits(*number));
  };
  add("; max error ", row.max_abs_err);
  add(", in units ", row.max_unit_err);
  add(", p99 ", row.p99_unit_err);
  if (row.unknown.value_or(0) > 0) {
    text += StrCat("; ", *row.unknown, " elements are not known");
  }
  if (row.kink_count.value_or(0) > 0) {
    text += StrCat("; ", *row.kink_count, " at a kink, convention ",
                   row.kink_convention.empty() ? "none" : row.kink_convention);
  }
  lines->emplace_back("by " + row.input, text);
  TellWorst(row, lines);
}

/// The checks of all gradients together.
void TellTogether(const GradientRow& row, Lines* lines) {
  const auto add = [&](const char* label, const char* from,
                       const record::Number& error,
                       const record::Number& bound) {
    if (!error.has_value()) return;
    lines->emplace_back(label,
                        StrCat("along signs off ", from, " by ", Digits(*error),
                               ", may be ", Digits(bound.value_or(0))));
  };
  add("tangent", "the exact tangent", row.adjoint_err, row.adjoint_bound);
  add("differences", "differences of the backend's own outputs", row.dir_err,
      row.dir_bound);
}

namespace fs = std::filesystem;

/// Makes the folder; writes nothing for a value that is not there.
Status Write(const fs::path& folder, std::string_view what, size_t index,
             const Value& value, const std::string& name) {
  if (!value.present()) return OkStatus();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(folder));
  ASSAY_ASSIGN_OR_RETURN(const auto bytes, graph::SerializeValue(value, name));
  return file::WriteFile(folder / StrCat(what, "_", index, ".pb"), bytes);
}

Status Write(const fs::path& folder, std::string_view what, size_t index,
             const Tensor& tensor, const std::string& name) {
  return Write(folder, what, index, tensor.defined() ? Value(tensor) : Value(),
               name);
}

/// Writes the files of one cotangent: the cotangent, the gradients of the
/// backend, and the exact ones.
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
    ASSAY_ASSIGN_OR_RETURN(const auto dy, trial_.Directions(kind, case_));
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

std::vector<suite::Labelled> Tell(const GradientCase& c,
                                  const record::Record& record) {
  Lines lines;
  lines.emplace_back("inputs", StrCat(ToString(c.variant.input_class), ": ",
                                      MeaningOf(c.variant.input_class)));
  TellSubject(c, &lines);
  const auto rows = record.Rows<GradientRow>();
  if (!rows.ok()) {
    lines.emplace_back("gradients", rows.status().message());
    return lines;
  }
  if (rows->empty()) {
    lines.emplace_back("gradients", "none was compared");
    return lines;
  }
  std::map<int64_t, const GradientRow*> worst;  // by target
  for (const GradientRow& one : *rows) {
    const GradientRow*& known = worst[one.input_index];
    if (known == nullptr || IsWorse(one, *known)) known = &one;
  }
  for (const auto& [index, one] : worst) TellGradient(*one, &lines);
  TellTogether(rows->front(), &lines);
  return lines;
}

Status WriteEvidence(const GradientCase& c, Backend& backend,
                     const fs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const suite::Subject subject, SubjectOf(c));
  ASSAY_ASSIGN_OR_RETURN(Trial trial, Trial::Load(backend, subject));
  ASSAY_RETURN_IF_ERROR(trial.Forward());
  const Writer writer(c, subject, trial, folder);
  for (size_t i = 0; i < trial.outputs().size(); ++i) {
    ASSAY_RETURN_IF_ERROR(writer.Outputs("got", i, trial.outputs()[i]));
  }
  // Without answers, as where the oracle declines, the results of the backend
  // are left.
  GradientAnswers answers;
  if (auto read = ReadGradientAnswers(c); read.ok()) answers = *std::move(read);
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
