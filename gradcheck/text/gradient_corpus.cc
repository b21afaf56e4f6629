// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/text/gradient_corpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <regex>
#include <utility>

#include "conformance/special/case_text.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/graph/types/check.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

using special::CaseText;

/// The class of a case of the field, by the folder of the file.
InputClass ClassOf(const CaseText& text) {
  const std::filesystem::path folder =
      std::filesystem::path(text.place).parent_path().filename();
  for (const InputClass input_class :
       {InputClass::kBorders, InputClass::kSpecial}) {
    if (folder == ToString(input_class)) return input_class;
  }
  return InputClass::kField;
}

/// The type of the first input that a gradient may be taken by.
DType TypeOf(const Graph& graph) {
  const auto first = std::ranges::find_if(
      graph.inputs, [&](ValueId id) { return Carries(graph[id].type.dtype); });
  return first == graph.inputs.end() ? DType::kFloat32
                                     : graph[*first].type.dtype;
}

/// The type that a name ends in, behind _; nothing for other names.
std::optional<DType> EndOf(std::string_view name) {
  const auto type = ParseDType(name.substr(name.rfind('_') + 1));
  return type.has_value() && Carries(*type) ? type : std::nullopt;
}

/// The tensor in another type; invalid argument where that has not each number.
Result<Tensor> InType(const Tensor& tensor, DType type) {
  const std::vector<double> numbers = NumbersOf(tensor);
  ASSAY_ASSIGN_OR_RETURN(Tensor typed, TensorOf(type, tensor.shape(), numbers));
  const std::vector<double> kept = NumbersOf(typed);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (kept[i] == numbers[i] || std::isnan(numbers[i])) continue;
    return InvalidArgument("found ", numbers[i], ", wanted a number that ",
                           type, " has");
  }
  return typed;
}

/// The case in another type; invalid argument where that has not each of its
/// numbers, or where an operator is not of that type.
Result<cases::CaseData> InType(cases::CaseData data, DType type) {
  const auto own = std::move(data.model);
  ASSAY_ASSIGN_OR_RETURN(data.model, edit::Retyped(*own, type));
  ASSAY_RETURN_IF_ERROR(types::CheckModel(*data.model));
  const Graph& graph = data.model->graph();
  for (const Node& node : graph.nodes) {
    const auto op = FindOperator(node.domain, node.op_type);
    if (op.has_value() && ComputesInFloat32(*op)) {
      return InvalidArgument(node.op_type, " computes in float32");
    }
  }
  if (TypeOf(graph) != type) {
    return InvalidArgument("an operator has no ", type);
  }
  for (const Initializer& initializer : own->graph().initializers) {
    const Tensor* const tensor = initializer.value.tensor();
    const DType wanted = graph[initializer.id].type.dtype;
    if (tensor == nullptr || wanted != type) continue;
    ASSAY_RETURN_IF_ERROR(InType(*tensor, type).status());
  }
  std::vector<Value>& inputs = data.sets.at(0).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType wanted = graph[graph.inputs[i]].type.dtype;
    const Tensor* const tensor = inputs[i].tensor();
    if (tensor == nullptr || tensor->dtype() == wanted) continue;
    ASSAY_ASSIGN_OR_RETURN(inputs[i], InType(*tensor, wanted));
  }
  return data;
}

/// A text of another type than its model's is that of the model in this type.
Result<cases::CaseData> DataOf(const CaseText& text) {
  ASSAY_ASSIGN_OR_RETURN(cases::CaseData data, special::InputsOf(text));
  const auto type = EndOf(text.name);
  if (!type.has_value() || *type == TypeOf(data.model->graph())) return data;
  return InType(std::move(data), *type);
}

Status CheckThread(const CaseText& report) {
  static const std::regex kThread(
      "\\([A-Za-z0-9.-]+/[A-Za-z0-9._-]+ (issues?|pull requests?) "
      "[0-9]+.*\\)$");
  if (std::regex_search(report.because, kThread)) return OkStatus();
  return InvalidArgument(report.place, ": found '", report.because,
                         "', wanted the thread at its end, as "
                         "(OWNER/REPOSITORY issue 9)");
}

/// Each text, and each report in float32 in the types that have its numbers.
Result<std::vector<CaseText>> InTypes(std::vector<CaseText> texts) {
  constexpr std::array kOthers = {DType::kFloat64, DType::kFloat16,
                                  DType::kBFloat16};
  std::vector<CaseText> all;
  for (CaseText& text : texts) {
    if (ClassOf(text) == InputClass::kField) {
      ASSAY_RETURN_IF_ERROR(CheckThread(text));
      ASSAY_ASSIGN_OR_RETURN(const auto data, special::InputsOf(text));
      for (const DType type : kOthers) {
        if (TypeOf(data.model->graph()) != DType::kFloat32) break;
        if (!InType(data, type).ok()) continue;
        all.push_back(text);
        all.back().name += StrCat("_", type);
      }
    }
    all.push_back(std::move(text));
  }
  return all;
}

void Describe(std::string_view name, const Graph& graph, InputClass input_class,
              cases::TestCase* c) {
  c->test_id = StrCat("gradcheck/", name, Suffix({input_class, TypeOf(graph)}));
  c->suite = "gradcheck";
  c->tier = cases::Tier::kCi;
  c->claim = cases::ClaimKind::kGradient;
}

void DescribeField(const CaseText& text, const Graph& graph,
                   cases::TestCase* c) {
  std::string_view name = text.name;
  if (EndOf(name).has_value()) name = name.substr(0, name.rfind('_'));
  Describe(name, graph, ClassOf(text), c);
  c->kind = ToString(ClassOf(text));
}

void DescribeGraph(const CaseText& text, const Graph& graph,
                   cases::TestCase* c) {
  Describe(text.name, graph, InputClass::kOfficial, c);
  c->kind = "graph";
  c->attributes.clear();  // of a network of one node
}

}  // namespace

Status WriteGradientCorpus(std::string_view name,
                           const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& place) {
  special::TextCorpus corpus{std::string(name), &DataOf, &DescribeField};
  if (name == "graphs") {
    corpus.data = &special::GradientsOf;
    corpus.describe = &DescribeGraph;
  } else if (name != "field") {
    return InvalidArgument("found the corpus '", name,
                           "', wanted field or graphs");
  }
  ASSAY_ASSIGN_OR_RETURN(auto texts, special::ReadCaseFiles(files));
  if (name == "field") {
    ASSAY_ASSIGN_OR_RETURN(texts, InTypes(std::move(texts)));
  }
  return special::WriteTextCorpus(corpus, texts, place);
}

}  // namespace assay::gradcheck
