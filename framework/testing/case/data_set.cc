// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/data_set.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/testing/case/numpy_file.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

bool IsThere(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

uint64_t TakeVarint(std::string_view* bytes) {
  uint64_t number = 0;
  for (unsigned shift = 0; !bytes->empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) break;
  }
  return number;
}

/// Calls visit(bytes) for each field of that number of a protobuf message, up
/// to where it is none: names are wanted of great files without their numbers.
template <class Visit>
void ForEachField(std::string_view message, uint64_t number,
                  const Visit& visit) {
  while (!message.empty()) {
    const uint64_t tag = TakeVarint(&message);
    const uint64_t wire = tag & 7;
    uint64_t length = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0) TakeVarint(&message);
    if (wire == 2) length = TakeVarint(&message);
    if (length > message.size() || wire == 3 || wire == 4 || wire > 5) return;
    if (wire == 2 && tag >> 3 == number) visit(message.substr(0, length));
    message.remove_prefix(length);
  }
}

std::string FieldIn(std::string_view message, uint64_t number) {
  std::string text;
  ForEachField(message, number, [&](std::string_view field) { text = field; });
  return text;
}

/// A value on file, before it is known which of the graph's it is.
struct Found {
  std::string where;
  std::string name;  // empty: it says none
  std::string proto;
  std::optional<NumpyArray> array;
};

Result<Value> ValueOf(const Found& found, const ValueType& type) {
  if (found.array.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor, found.array->As(type.dtype));
    return Value(std::move(tensor));
  }
  Result<Value> value = ParseValue(std::as_bytes(std::span(found.proto)), type);
  if (!value.ok()) return value.status().WithContext(found.where);
  return value;
}

/// The .pb or the .npy of a value, also where it is a link to nothing; empty
/// where neither is there.
fs::path PathOf(const fs::path& stem) {
  for (const char* extension : {".pb", ".npy"}) {
    fs::path file = stem;
    file += extension;
    std::error_code error;
    if (fs::exists(fs::symlink_status(file, error))) return file;
  }
  return {};
}

/// The value of a file; nothing where there is none.
Result<std::optional<Found>> FindFile(const fs::path& stem, ValueKind kind) {
  const fs::path file = PathOf(stem);
  if (file.empty()) return std::optional<Found>();
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return InvalidArgument(file.string(), ": is not a regular file");
  }
  Found found;
  found.where = file.string();
  if (file.extension() == ".npy") {
    ASSAY_ASSIGN_OR_RETURN(auto arrays, ReadNumpy(file));
    found.array = std::move(arrays.at(0));
    return std::optional(std::move(found));
  }
  ASSAY_ASSIGN_OR_RETURN(found.proto, file::ReadFile(file));
  // Fields of TensorProto, and of the messages of collections.
  if (kind == ValueKind::kTensor) found.name = FieldIn(found.proto, 8);
  if (kind > ValueKind::kSparseTensor) found.name = FieldIn(found.proto, 1);
  return std::optional(std::move(found));
}

/// PREFIX0 and so on of a folder. Files are looked for by name, which costs
/// less than listing it. Only those at the end may be missing.
Result<std::vector<Found>> NumberedIn(const fs::path& folder,
                                      std::string_view prefix,
                                      const Graph& graph,
                                      std::span<const ValueId> ids) {
  std::vector<Found> all;
  for (size_t i = 0; i <= ids.size(); ++i) {
    const ValueKind kind =
        i < ids.size() ? graph[ids[i]].type.kind : ValueKind::kTensor;
    ASSAY_ASSIGN_OR_RETURN(auto found,
                           FindFile(folder / StrCat(prefix, i), kind));
    if (!found.has_value()) continue;
    if (all.size() < i) {
      return DataLoss(found->where, ": found it, but no ", prefix, all.size(),
                      ".pb before it");
    }
    if (i == ids.size()) {
      return DataLoss(found->where, ": found it, wanted ", ids.size(),
                      " files, as many as the graph has such values");
    }
    all.push_back(*std::move(found));
  }
  return all;
}

/// Files that are called as the values are.
Result<std::vector<Found>> NamedIn(const fs::path& folder, const Graph& graph,
                                   std::span<const ValueId> ids) {
  std::vector<Found> all;
  for (const ValueId id : ids) {
    const ValueInfo& info = graph[id];
    if (info.name.empty() || info.name.find('/') != std::string::npos) continue;
    ASSAY_ASSIGN_OR_RETURN(auto found,
                           FindFile(folder / info.name, info.type.kind));
    if (!found.has_value()) continue;
    found->name = info.name;
    all.push_back(*std::move(found));
  }
  return all;
}

/// Invalid argument where a value is there by its number and by its name.
Status CheckNotNamed(const fs::path& folder, const Graph& graph,
                     std::span<const ValueId> ids,
                     const std::vector<Found>& numbered) {
  for (const ValueId id : ids) {
    const std::string& name = graph[id].name;
    if (name.empty() || name.find('/') != std::string::npos) continue;
    const fs::path file = PathOf(folder / name);
    if (file.empty() ||
        std::ranges::count(numbered, file.string(), &Found::where) > 0) {
      continue;
    }
    return InvalidArgument(file.string(), ": found it for '", name, "' beside ",
                           numbered[0].where,
                           ", wanted files by number or by name");
  }
  return OkStatus();
}

/// The arrays of an .npz that are inputs, or outputs: those called so, numbered
/// as files are, or packed into one that is called `packed`. `others` are the
/// values of the other sort.
Result<std::vector<Found>> ArraysIn(const fs::path& file,
                                    std::string_view packed, const Graph& graph,
                                    std::span<const ValueId> ids,
                                    std::span<const ValueId> others) {
  const std::string prefix =
      StrCat(packed.substr(0, packed.size() - 1), "_");  // "input_"
  const auto is_one_of = [&](std::span<const ValueId> values,
                             const std::string& name) {
    return std::ranges::any_of(
        values, [&](ValueId id) { return graph[id].name == name; });
  };
  ASSAY_ASSIGN_OR_RETURN(std::vector<NumpyArray> arrays, ReadNumpy(file));
  std::vector<Found> all;
  for (NumpyArray& array : arrays) {
    const std::string name = array.name;
    if (is_one_of(ids, name)) {
      all.push_back({array.where, name, {}, std::move(array)});
    } else if (is_one_of(others, name)) {
      continue;
    } else if (name == packed) {
      ASSAY_ASSIGN_OR_RETURN(auto parts, array.Parts());
      for (NumpyArray& part : parts) {
        all.push_back({part.where, {}, {}, std::move(part)});
      }
    } else if (name == StrCat(prefix, all.size())) {
      all.push_back({array.where, {}, {}, std::move(array)});
    } else if (!name.starts_with("input") && !name.starts_with("output")) {
      return InvalidArgument(
          array.where, ": found it, wanted ",
          Joined(ids, ", ", [&](ValueId id) { return graph[id].name; }));
    }
  }
  if (all.size() > ids.size()) {
    return DataLoss(all[ids.size()].where, ": found it, wanted ", ids.size(),
                    " arrays, as many as the graph has such values");
  }
  return all;
}

/// By the names in the files; nothing where one is missing, is there twice or
/// is none of a value.
std::optional<std::vector<ValueId>> ByName(const std::vector<Found>& all,
                                           const Graph& graph,
                                           std::span<const ValueId> ids) {
  std::vector<ValueId> found;
  for (const Found& one : all) {
    const auto id = std::ranges::find_if(ids, [&](ValueId each) {
      return !one.name.empty() && graph[each].name == one.name;
    });
    if (id == ids.end() || std::ranges::count(found, *id) > 0) {
      return std::nullopt;
    }
    found.push_back(*id);
  }
  return found;
}

/// Calls visit(bytes) for each field of that number of a model's graph.
template <class Visit>
void ForEachInGraph(const Model& model, uint64_t number, const Visit& visit) {
  const auto bytes = model.bytes();
  ForEachField(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 7,
      [&](std::string_view graph) { ForEachField(graph, number, visit); });
}

/// The inputs of a model as it declares them, those with an initializer among
/// the others; Graph has them apart.
std::vector<ValueId> Declared(const Model& model) {
  std::vector<ValueId> ids;
  ForEachInGraph(model, 11, [&](std::string_view input) {
    ids.push_back(model.graph().FindValue(FieldIn(input, 1)));
  });
  return ids;
}

std::vector<ValueId> InputsOf(const Graph& graph) {
  std::vector<ValueId> ids = graph.inputs;
  ids.insert(ids.end(), graph.overridable.begin(), graph.overridable.end());
  return ids;
}

Result<std::vector<Found>> FindOutputs(const Model& model,
                                       const fs::path& source) {
  const Graph& graph = model.graph();
  if (source.extension() == ".npz") {
    return ArraysIn(source, "outputs", graph, graph.outputs, InputsOf(graph));
  }
  return NumberedIn(source, "output_", graph, graph.outputs);
}

Status CheckType(const ValueInfo& declared, const Value& value,
                 std::string_view what, const fs::path& source) {
  const ValueType found = value.Type();
  if (declared.type.kind != ValueKind::kTensor ||
      Accepts(declared.type, found)) {
    return OkStatus();
  }
  return InvalidArgument(source.string(), ": found ", found.ToString(), " for ",
                         what, " '", declared.name,
                         "', which the model "
                         "declares as ",
                         declared.type.ToString());
}

}  // namespace

Result<fs::path> ModelFileOf(const fs::path& directory) {
  fs::path usual = directory / "model.onnx";
  if (IsThere(usual)) return usual;
  const Result<std::string> named = file::ReadFile(directory / kModelFile);
  if (named.ok()) return fs::path(named->substr(0, named->find('\n')));
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".onnx") found.push_back(entry->path());
  }
  if (found.empty()) return NotFound(usual.string(), ": does not exist");
  if (found.size() == 1) return found[0];
  std::ranges::sort(found);
  return InvalidArgument(directory.string(), ": found ", found.size(),
                         " models, first ", found[0].filename().string(),
                         " and ", found[1].filename().string(),
                         ", wanted one, or one called model.onnx");
}

std::vector<std::string> ExternalFiles(const Model& model) {
  std::vector<std::string> files;
  ForEachInGraph(model, 5, [&](std::string_view tensor) {
    ForEachField(tensor, 13, [&](std::string_view entry) {
      if (FieldIn(entry, 1) != "location") return;
      const std::string file = FieldIn(entry, 2);
      if (std::ranges::count(files, file) == 0) files.push_back(file);
    });
  });
  return files;
}

fs::path SetPath(const fs::path& directory, size_t index) {
  fs::path folder = directory / StrCat("test_data_set_", index);
  fs::path archive = directory / StrCat("test_data_", index, ".npz");
  return !IsThere(folder) && IsThere(archive) ? archive : folder;
}

Result<SetValues> ReadInputs(const Model& model, const fs::path& source) {
  const Graph& graph = model.graph();
  if (!IsThere(source)) return NotFound(source.string(), ": does not exist");
  const std::vector<ValueId> ids = InputsOf(graph);
  std::vector<Found> all;
  if (source.extension() == ".npz") {
    ASSAY_ASSIGN_OR_RETURN(
        all, ArraysIn(source, "inputs", graph, ids, graph.outputs));
  } else {
    ASSAY_ASSIGN_OR_RETURN(all, NumberedIn(source, "input_", graph, ids));
    if (all.empty()) {
      ASSAY_ASSIGN_OR_RETURN(all, NamedIn(source, graph, ids));
    } else {
      ASSAY_RETURN_IF_ERROR(CheckNotNamed(source, graph, ids, all));
    }
  }
  auto places = ByName(all, graph, ids);
  if (!places.has_value()) {
    places = all.size() > graph.inputs.size() ? Declared(model) : graph.inputs;
  }
  SetValues set;
  set.inputs.resize(graph.inputs.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const ValueId id = places->at(i);
    ASSAY_ASSIGN_OR_RETURN(Value value, ValueOf(all[i], graph[id].type));
    all[i] = {};  // its bytes are no longer wanted
    const auto input = std::ranges::find(graph.inputs, id);
    if (input != graph.inputs.end()) {
      set.inputs[static_cast<size_t>(input - graph.inputs.begin())] =
          std::move(value);
    } else if (const Tensor* const tensor = value.tensor()) {
      set.overriding[graph[id].name] = *tensor;
    }
  }
  return set;
}

Result<std::vector<Value>> ReadOutputs(const Model& model,
                                       const fs::path& source) {
  const Graph& graph = model.graph();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Found> all,
                         FindOutputs(model, source));
  if (all.size() < graph.outputs.size()) {
    return NotFound((source / StrCat("output_", all.size(), ".pb")).string(),
                    ": does not exist");
  }
  const auto places = ByName(all, graph, graph.outputs);
  std::vector<Value> values(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const auto at = places.has_value()
                        ? static_cast<size_t>(
                              std::ranges::find(graph.outputs, (*places)[i]) -
                              graph.outputs.begin())
                        : i;
    ASSAY_ASSIGN_OR_RETURN(values[at],
                           ValueOf(all[i], graph[graph.outputs[at]].type));
  }
  return values;
}

bool HasOutputs(const Model& model, const fs::path& source) {
  if (source.extension() == ".npz") {
    const auto found = FindOutputs(model, source);
    return !found.ok() || !found->empty();
  }
  // One too many is seen when they are read.
  for (size_t i = 0; i <= model.graph().outputs.size(); ++i) {
    if (!PathOf(source / StrCat("output_", i)).empty()) return true;
  }
  return false;
}

Status CheckDeclared(const Graph& graph, const fs::path& source,
                     const std::vector<Value>& inputs,
                     const std::vector<Value>& expected) {
  const size_t n_inputs = std::min(inputs.size(), graph.inputs.size());
  for (size_t i = 0; i < n_inputs; ++i) {
    const ValueInfo& info = graph[graph.inputs[i]];
    if (inputs[i].present()) {
      ASSAY_RETURN_IF_ERROR(CheckType(info, inputs[i], "the input", source));
    } else if (info.type.kind != ValueKind::kOptional) {
      return InvalidArgument(source.string(),
                             ": found no value for the input '", info.name,
                             "', wanted one");
    }
  }
  const size_t n_outputs = std::min(expected.size(), graph.outputs.size());
  for (size_t i = 0; i < n_outputs; ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckType(graph[graph.outputs[i]], expected[i], "the output", source));
  }
  return OkStatus();
}

}  // namespace assay::cases
