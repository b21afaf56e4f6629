// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/own_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/graph/model.h"
#include "framework/graph/types/check.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/draw/fresh_input.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/tables.h"

namespace assay::select {
namespace {

namespace fs = std::filesystem;

/// Extents by name: that of the model, or INPUT.AXIS.
class Extents {
 public:
  static Result<Extents> Parse(const std::vector<std::string>& words) {
    Extents extents;
    for (const std::string& word : words) {
      const size_t equals = word.rfind('=');
      const auto extent = equals == std::string::npos
                              ? std::nullopt
                              : file::ParseInt(word.substr(equals + 1));
      if (!extent.has_value() || *extent < 0) {
        return InvalidArgument("found --dim ", word, ", wanted NAME=EXTENT");
      }
      const std::string name = word.substr(0, equals);
      const auto [given, is_new] = extents.given_.emplace(name, *extent);
      if (!is_new) {
        return InvalidArgument("found --dim ", word, " beside --dim ", name,
                               "=", given->second, ", wanted one extent");
      }
    }
    return extents;
  }

  /// The shape of an input; what nobody gave is noted, and 1 meanwhile.
  Result<Shape> ShapeOf(const ValueInfo& input) {
    if (input.type.kind != ValueKind::kTensor || !input.type.dims.has_value()) {
      return InvalidArgument("the input '", input.name, "' is ",
                             input.type.ToString(),
                             ", of which nothing says a shape: give --inputs");
    }
    std::vector<int64_t> shape;
    for (const Dim& dim : *input.type.dims) {
      const std::string place = StrCat(input.name, ".", shape.size());
      const bool has_name = !dim.symbol.empty() && dim.symbol != "?";
      shape.push_back(dim.known()
                          ? dim.extent
                          : ExtentOf(place, has_name ? dim.symbol : place));
    }
    return Shape(shape);
  }

  /// Invalid argument with the words that are missing.
  Status CheckAll(const Graph& graph) const {
    if (missing_.empty()) return OkStatus();
    return InvalidArgument(
        "the model takes ",
        Joined(graph.inputs, ", ",
               [&](ValueId id) {
                 return StrCat(graph[id].name, " ", graph[id].type.ToString());
               }),
        ": give ",
        Joined(missing_, " ",
               [](const std::string& name) {
                 return StrCat("--dim ", plan::ShellWord(name), "=EXTENT");
               }),
        ", or --inputs");
  }

  /// Invalid argument for a name that no input has.
  Status CheckUsed() const {
    for (const auto& [name, extent] : given_) {
      if (asked_.contains(name)) continue;
      return InvalidArgument(
          "found --dim ", name, "=", extent,
          ", wanted one of the model's open extents: ",
          asked_.empty() ? "there are none" : Joined(asked_));
    }
    return OkStatus();
  }

 private:
  /// By the place of the extent, else by its name.
  int64_t ExtentOf(const std::string& place, const std::string& name) {
    asked_.insert(place);
    asked_.insert(name);
    for (const std::string& word : {place, name}) {
      const auto given = given_.find(word);
      if (given != given_.end()) return given->second;
    }
    if (std::ranges::count(missing_, name) == 0) missing_.push_back(name);
    return 1;
  }

  std::map<std::string, int64_t> given_;
  std::set<std::string> asked_;
  std::vector<std::string> missing_;
};

/// Elements for an input of this shape. Invalid argument where they are too
/// many, or where an operator takes certain ones alone.
Result<Tensor> Drawn(const Graph& graph, ValueId id, const Shape& shape,
                     int64_t seed) {
  const ValueInfo& info = graph[id];
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  constexpr int64_t kMost = int64_t{1} << 31;
  if (count > kMost / std::max(1, BitsOf(info.type.dtype) / 8)) {
    return InvalidArgument("the input '", info.name, "' is ", info.type.dtype,
                           shape.ToString(), " of ", count,
                           " elements: more bytes, wanted at most ", kMost);
  }
  draw::Draw draw(info.name, seed, "own model");
  return draw::FreshInput(graph, id, shape, draw);
}

Result<cases::SetValues> DrawnInputs(const Model& model, const OwnModel& own,
                                     int64_t seed) {
  const Graph& graph = model.graph();
  ASSAY_ASSIGN_OR_RETURN(Extents extents, Extents::Parse(own.dims));
  std::vector<Shape> shapes;
  cases::SetValues set;
  for (const ValueId id : graph.inputs) {
    ASSAY_ASSIGN_OR_RETURN(shapes.emplace_back(), extents.ShapeOf(graph[id]));
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                           Drawn(graph, id, shapes.back(), seed));
    set.inputs.emplace_back(std::move(tensor));
  }
  ASSAY_RETURN_IF_ERROR(extents.CheckAll(graph));
  ASSAY_RETURN_IF_ERROR(extents.CheckUsed());
  const Status fits =
      own.dims.empty() ? OkStatus() : types::CheckShapes(model, shapes);
  if (fits.ok()) return set;
  return InvalidArgument("bad case: --dim ", Joined(own.dims, " --dim "), ": ",
                         fits.message());
}

/// With the names above it, and without a slash at the end.
fs::path Absolute(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

/// The files of a model as typed: of a folder its model and, where it has a
/// data set and nobody gives another, its data.
struct Source {
  fs::path model;
  fs::path inputs;  // empty: drawn
  std::string name;
};

Result<Source> SourceOf(const OwnModel& own) {
  std::error_code error;
  Source source = {Absolute(own.file), own.inputs, ""};
  source.name = source.model.stem().string();
  ASSAY_RETURN_IF_ERROR(record::CheckPath(source.model));
  ASSAY_RETURN_IF_ERROR(record::CheckPath(source.inputs));
  if (!fs::is_directory(source.model, error)) return source;
  const fs::path folder = std::move(source.model);
  source.name = folder.filename().string();
  const auto model = cases::ModelFileOf(folder);
  if (!model.ok())
    return InvalidArgument("bad case: ", model.status().message());
  source.model = *model;
  if (own.inputs.empty() && own.dims.empty() &&
      fs::exists(cases::SetPath(folder, 0), error)) {
    source.inputs = folder;
  }
  return source;
}

/// Files by their paths below the case's folder.
using Files = std::map<std::string, std::string>;

Status AddValue(const std::string& file, const std::string& name,
                const Value& value, Files* files) {
  if (!value.present()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN((*files)[file], graph::SerializeValue(value, name));
  return OkStatus();
}

Status AddSet(size_t index, const Graph& graph, const cases::SetValues& set,
              const std::vector<Value>& expected, Files* files) {
  const std::string folder = StrCat("test_data_set_", index, "/");
  size_t number = 0;
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(AddValue(StrCat(folder, "input_", number++, ".pb"),
                                   graph[graph.inputs[i]].name, set.inputs[i],
                                   files));
  }
  for (const auto& [name, tensor] : set.overriding) {
    ASSAY_RETURN_IF_ERROR(AddValue(StrCat(folder, "input_", number++, ".pb"),
                                   name, tensor, files));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(AddValue(StrCat(folder, "output_", i, ".pb"),
                                   graph[graph.outputs[i]].name, expected[i],
                                   files));
  }
  // A model without inputs has a data set all the same.
  if (number == 0) files->emplace(folder + "no_inputs.txt", "");
  return OkStatus();
}

/// The data sets that a person gives: one, or a folder of them.
Status AddGiven(const Model& model, const fs::path& inputs, Files* files) {
  std::vector<fs::path> sources;
  std::error_code error;
  while (fs::exists(cases::SetPath(inputs, sources.size()), error)) {
    sources.push_back(cases::SetPath(inputs, sources.size()));
  }
  if (sources.empty()) sources.push_back(inputs);
  for (size_t i = 0; i < sources.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const auto set,
                           cases::ReadInputs(model, sources[i]));
    std::vector<Value> expected;
    if (cases::HasOutputs(model, sources[i])) {
      ASSAY_ASSIGN_OR_RETURN(expected, cases::ReadOutputs(model, sources[i]));
    }
    ASSAY_RETURN_IF_ERROR(
        cases::CheckDeclared(model.graph(), sources[i], set.inputs, expected));
    ASSAY_RETURN_IF_ERROR(AddSet(i, model.graph(), set, expected, files));
  }
  return OkStatus();
}

/// The lines of model.txt: the model's file, and those of its external data.
Result<std::string> ModelLines(const Model& model, const fs::path& file) {
  std::string lines = file.string() + "\n";
  for (const std::string& name : cases::ExternalFiles(model)) {
    lines += (file.parent_path() / name).string() + "\n";
  }
  return lines;
}

}  // namespace

Result<OwnCorpus> MakeCorpus(const OwnModel& own, int64_t seed,
                             const fs::path& place) {
  ASSAY_ASSIGN_OR_RETURN(const Source source, SourceOf(own));
  const fs::path& file = source.model;
  const auto read = Model::Read(file, cases::kMostOfFacts);
  if (!read.ok()) return InvalidArgument("bad case: ", read.status().message());
  const Model& model = **read;
  Files files;
  if (source.inputs.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto set, DrawnInputs(model, own, seed));
    ASSAY_RETURN_IF_ERROR(AddSet(0, model.graph(), set, {}, &files));
  } else if (const Status given = AddGiven(model, source.inputs, &files);
             !given.ok()) {
    return InvalidArgument("bad case: ", given.message());
  }
  ASSAY_ASSIGN_OR_RETURN(files[cases::kModelFile], ModelLines(model, file));
  file::Sha256Stream digest;
  for (const auto& [path, bytes] : files) {
    digest.Add(StrCat(path, " ", bytes.size(), "\n"));
    digest.Add(bytes);
  }
  OwnCorpus made;
  made.directory = Absolute(place) / digest.Finish().substr(0, 16) / "own";
  const fs::path folder = made.directory / cases::IdPart(source.name);
  for (const auto& [path, bytes] : files) {
    ASSAY_RETURN_IF_ERROR(file::MakeDirectory((folder / path).parent_path()));
    ASSAY_RETURN_IF_ERROR(file::WriteFile(folder / path, bytes));
  }
  made.words = StrCat("--model ", plan::ShellWord(Absolute(own.file).string()));
  for (const std::string& dim : own.dims) {
    made.words += StrCat(" --dim ", plan::ShellWord(dim));
  }
  if (!own.inputs.empty()) {
    made.words +=
        StrCat(" --inputs ", plan::ShellWord(Absolute(own.inputs).string()));
  }
  return made;
}

}  // namespace assay::select
