// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/test_case.h"

#include <system_error>

#include "framework/graph/edit/model_edit.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/case/random_weights.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kTiers = {"smoke", "ci", "nightly",
                                                    "scale"};

bool Exists(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

/// The part of a case that is read.
enum class Part : uint8_t { kAll, kInputs };

/// A case with random weights.
Result<CaseData> ReadRandomData(const fs::path& directory, Part part) {
  ASSAY_ASSIGN_OR_RETURN(RandomCase random, ReadRandomCase(directory));
  CaseData data;
  ASSAY_ASSIGN_OR_RETURN(
      data.model, edit::WithInitializers(*random.source, random.weights));
  DataSet set;
  set.inputs = std::move(random.inputs);
  if (part == Part::kAll) {
    ASSAY_ASSIGN_OR_RETURN(set.expected,
                           ReadOutputs(*random.source, SetPath(directory, 0)));
  }
  data.sets.push_back(std::move(set));
  return data;
}

bool SameTensors(const std::map<std::string, Tensor>& a,
                 const std::map<std::string, Tensor>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.Signature() == y.second.Signature() &&
           std::ranges::equal(x.second.bytes(), y.second.bytes());
  });
}

/// The data sets of a model, whose initializers get the values that these give
/// them.
Result<CaseData> ReadSets(std::shared_ptr<const Model> model,
                          const fs::path& directory, int n_data_sets,
                          Part part) {
  if (model->graph().outputs.empty()) {
    return DataLoss(directory.string(),
                    ": found no output of the graph, wanted at least one");
  }
  CaseData data;
  std::map<std::string, Tensor> overriding;
  for (int i = 0; i < n_data_sets; ++i) {
    const fs::path source = SetPath(directory, static_cast<size_t>(i));
    ASSAY_ASSIGN_OR_RETURN(SetValues values, ReadInputs(*model, source));
    if (i > 0 && !SameTensors(values.overriding, overriding)) {
      return Unsupported(Reason::kReader, source.string(),
                         ": gives initializers other values than the data set "
                         "before it, wanted the same");
    }
    overriding = std::move(values.overriding);
    DataSet set{std::move(values.inputs), {}};
    if (part == Part::kAll) {
      ASSAY_ASSIGN_OR_RETURN(set.expected, ReadOutputs(*model, source));
    }
    data.sets.push_back(std::move(set));
  }
  data.model = std::move(model);
  if (overriding.empty()) return data;
  ASSAY_ASSIGN_OR_RETURN(data.model,
                         edit::WithInitializers(*data.model, overriding));
  return data;
}

Result<CaseData> ReadPart(const fs::path& directory, int n_data_sets, Part part,
                          uint64_t most_external = kAllExternal) {
  if (n_data_sets < 1) {
    return InvalidArgument(directory.string(), ": found ", n_data_sets,
                           " data sets, wanted at least one");
  }
  const Result<fs::path> file = ModelFileOf(directory);
  if (!file.ok()) {
    const Status random = ReadRandomSource(directory).status();
    if (random.code() == StatusCode::kNotFound) return file.status();
    return ReadRandomData(directory, part);
  }
  ASSAY_ASSIGN_OR_RETURN(auto model, Model::Read(*file, most_external));
  return ReadSets(std::move(model), directory, n_data_sets, part);
}

}  // namespace

std::string_view ToString(Tier tier) {
  return kTiers[static_cast<size_t>(tier)];
}

std::optional<Tier> TierNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kTiers, name);
  if (found == kTiers.end()) return std::nullopt;
  return static_cast<Tier>(found - kTiers.begin());
}

Result<CaseData> ReadCaseData(const fs::path& directory, int n_data_sets) {
  return ReadPart(directory, n_data_sets, Part::kAll);
}

Result<CaseData> ReadCaseFacts(const fs::path& directory, int n_data_sets) {
  ASSAY_ASSIGN_OR_RETURN(CaseData data, ReadPart(directory, n_data_sets,
                                                 Part::kInputs, kMostOfFacts));
  const Graph& graph = data.model->graph();
  for (const ValueId id : graph.outputs) {
    if (graph[id].type.kind != ValueKind::kNone) continue;
    return InvalidArgument(directory.string(), ": the model declares no type ",
                           "for its output '", graph[id].name,
                           "', which ONNX requires");
  }
  std::vector<bool> states;
  for (size_t i = 0; i < data.sets.size(); ++i) {
    states.push_back(HasOutputs(*data.model, SetPath(directory, i)));
  }
  const bool any = std::ranges::count(states, true) > 0;
  for (size_t i = 0; i < data.sets.size(); ++i) {
    const fs::path source = SetPath(directory, i);
    DataSet& set = data.sets[i];
    if (any) {
      ASSAY_ASSIGN_OR_RETURN(set.expected, ReadOutputs(*data.model, source));
    }
    ASSAY_RETURN_IF_ERROR(
        CheckDeclared(data.model->graph(), source, set.inputs, set.expected));
  }
  return data;
}

Result<CaseData> ReadCaseInputs(const fs::path& directory, int n_data_sets) {
  return ReadPart(directory, n_data_sets, Part::kInputs);
}

Result<Stated> ReadStated(const fs::path& directory, size_t n_outputs,
                          const std::vector<std::string>& names) {
  const fs::path set = directory / "test_data_set_0";
  const auto file = [&](const std::string& name) {
    return set / StrCat("gradient_", name, ".pb");
  };
  Stated stated;
  if (std::ranges::none_of(
          names, [&](const auto& name) { return Exists(file(name)); })) {
    return stated;
  }
  ValueType tensor;
  tensor.kind = ValueKind::kTensor;
  for (size_t i = 0; i < n_outputs; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        Value output, ReadValue(set / StrCat("output_", i, ".pb"), tensor));
    stated.outputs.push_back(std::move(output));
  }
  for (const std::string& name : names) {
    ASSAY_ASSIGN_OR_RETURN(stated.gradients[name],
                           ReadValue(file(name), tensor));
  }
  return stated;
}

bool IsTestId(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           std::string_view("_.#+-/").find(c) != std::string_view::npos;
  };
  return std::ranges::all_of(text, allowed) &&
         std::ranges::count(text, '/') == 2 && !text.starts_with('/') &&
         !text.ends_with('/') && text.find("//") == std::string_view::npos;
}

std::string_view CaseOfTwin(std::string_view test_id) {
  constexpr std::string_view kMark = "_expanded";
  return test_id.substr(
      0, test_id.size() - (test_id.ends_with(kMark) ? kMark.size() : 0));
}

}  // namespace assay::cases
