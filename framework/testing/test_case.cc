// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/test_case.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kComparators = {
    "exact", "tolerance", "text", "distribution"};

// The K of "input_K.pb"; nullopt for another name.
std::optional<size_t> NumberOf(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kSuffix = ".pb";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(std::min(kSuffix.size(), name.size()));
  size_t number = 0;
  const auto parsed =
      std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = parsed.ec == std::errc() &&
                     parsed.ptr == name.data() + name.size() &&
                     (name == "0" || name[0] != '0');
  return whole ? std::optional(number) : std::nullopt;
}

// How many data files a set has of each kind.
struct FileCounts {
  size_t inputs = 0;
  size_t outputs = 0;
};

// Numbers must run from 0 without a gap.
Result<size_t> CountOf(std::vector<size_t>& numbers, std::string_view prefix,
                       const fs::path& directory) {
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != i) {
      return DataLoss(directory.string(), ": found ", prefix, numbers[i],
                      ".pb, wanted ", prefix, i, ".pb first");
    }
  }
  return numbers.size();
}

Result<FileCounts> CountFiles(const fs::path& directory) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  while (!error && entry != fs::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    if (const auto number = NumberOf(name, "input_")) {
      inputs.push_back(*number);
    } else if (const auto number = NumberOf(name, "output_")) {
      outputs.push_back(*number);
    }
    entry.increment(error);
  }
  if (error) {
    return NotFound("cannot read the data set ", directory.string(), ": ",
                    error.message());
  }
  FileCounts counts;
  ASSAY_ASSIGN_OR_RETURN(counts.inputs, CountOf(inputs, "input_", directory));
  ASSAY_ASSIGN_OR_RETURN(counts.outputs,
                         CountOf(outputs, "output_", directory));
  return counts;
}

// Where a graph takes data: its inputs that no initializer fills.
std::vector<const ValueInfo*> FedInputs(const Graph& graph) {
  std::vector<const ValueInfo*> fed;
  for (const ValueId id : graph.inputs) {
    if (graph.FindInitializer(id) == nullptr) {
      fed.push_back(&graph.values[static_cast<size_t>(id)]);
    }
  }
  return fed;
}

std::vector<const ValueInfo*> OutputsOf(const Graph& graph) {
  std::vector<const ValueInfo*> outputs;
  for (const ValueId id : graph.outputs) {
    outputs.push_back(&graph.values[static_cast<size_t>(id)]);
  }
  return outputs;
}

// Reads PREFIX0.pb to PREFIX(count - 1).pb as the declared types say.
Result<std::vector<Value>> ReadValues(
    const fs::path& directory, std::string_view prefix, size_t count,
    const std::vector<const ValueInfo*>& declared) {
  if (count > declared.size()) {
    return DataLoss(directory.string(), ": found ", prefix, declared.size(),
                    ".pb, wanted ", declared.size(),
                    " files, as many as the graph has such values");
  }
  std::vector<Value> values(declared.size());
  for (size_t i = 0; i < count; ++i) {
    const fs::path file = directory / StrCat(prefix, i, ".pb");
    ASSAY_ASSIGN_OR_RETURN(values[i], ReadValue(file, declared[i]->type));
  }
  return values;
}

Result<DataSet> ReadDataSet(const Graph& graph, const fs::path& directory) {
  ASSAY_ASSIGN_OR_RETURN(const FileCounts counts, CountFiles(directory));
  const auto outputs = OutputsOf(graph);
  if (counts.outputs == 0 || counts.outputs < outputs.size()) {
    return DataLoss(directory.string(), ": found ", counts.outputs,
                    " output files, wanted ", outputs.size(),
                    " and at least one");
  }
  DataSet set;
  ASSAY_ASSIGN_OR_RETURN(
      set.inputs,
      ReadValues(directory, "input_", counts.inputs, FedInputs(graph)));
  ASSAY_ASSIGN_OR_RETURN(
      set.expected, ReadValues(directory, "output_", counts.outputs, outputs));
  return set;
}

}  // namespace

std::string_view ToString(Comparator comparator) {
  return kComparators.at(static_cast<size_t>(comparator));
}

std::optional<Comparator> ParseComparator(std::string_view text) {
  for (size_t i = 0; i < kComparators.size(); ++i) {
    if (kComparators.at(i) == text) return static_cast<Comparator>(i);
  }
  return std::nullopt;
}

Result<CaseData> ReadCaseData(const fs::path& directory, int n_data_sets) {
  if (n_data_sets < 1) {
    return InvalidArgument(directory.string(), ": found ", n_data_sets,
                           " data sets, wanted at least one");
  }
  CaseData data;
  ASSAY_ASSIGN_OR_RETURN(data.model, Model::Read(directory / "model.onnx"));
  for (int i = 0; i < n_data_sets; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        DataSet set, ReadDataSet(data.model->graph(),
                                 directory / StrCat("test_data_set_", i)));
    data.sets.push_back(std::move(set));
  }
  return data;
}

}  // namespace assay::inline v1
