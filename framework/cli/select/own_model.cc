// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/own_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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
#include "framework/metric/element.h"
#include "framework/testing/case/data_set.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/draw/draw.h"
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
      extents.given_[word.substr(0, equals)] = *extent;
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

/// The extent of an axis of a value, where the model tells it.
std::optional<int64_t> ExtentOf(const Graph& graph, ValueId id, int64_t axis) {
  const ValueType type = graph.FindInitializer(id) != nullptr
                             ? graph.FindInitializer(id)->Type()
                             : graph[id].type;
  if (!type.dims.has_value()) return std::nullopt;
  const auto rank = std::ssize(*type.dims);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const Dim& dim = (*type.dims)[static_cast<size_t>(axis)];
  return dim.known() ? std::optional(dim.extent) : std::nullopt;
}

/// The rows of a table that integers of a node's input point into.
std::optional<int64_t> RowsOf(const Graph& graph, const Node& node,
                              const std::set<ValueId>& integers) {
  const auto reads = [&](size_t i) {
    return i < node.inputs.size() && integers.contains(node.inputs[i]);
  };
  if (node.op_type == "OneHot" && reads(0) && node.inputs.size() > 1) {
    const Value* const depth = graph.FindInitializer(node.inputs[1]);
    const Tensor* const tensor = depth == nullptr ? nullptr : depth->tensor();
    if (tensor == nullptr || tensor->dtype() != DType::kInt64 ||
        tensor->num_elements() != 1) {
      return std::nullopt;
    }
    return tensor->elements<int64_t>()[0];
  }
  if (!node.op_type.starts_with("Gather") || !reads(1)) return std::nullopt;
  const Attribute* const found = node.Find("axis");
  const int64_t* const axis =
      found == nullptr ? nullptr : std::get_if<int64_t>(&found->held);
  return ExtentOf(graph, node.inputs[0], axis == nullptr ? 0 : *axis);
}

/// Integers of an input are drawn below this: rows of a table that they point
/// into, else a byte of a picture, else 0 and 1, as of a mask.
int64_t MostOf(const Graph& graph, ValueId id) {
  constexpr std::string_view kSame =
      " Cast Reshape Squeeze Unsqueeze Flatten Transpose Identity ";
  std::set<ValueId> integers = {id};
  std::optional<int64_t> rows;
  for (const Node& node : graph.nodes) {
    const auto extent = RowsOf(graph, node, integers);
    if (extent.has_value() && *extent > 0) {
      rows = std::min(rows.value_or(*extent), *extent);
    }
    if (!node.inputs.empty() && integers.contains(node.inputs[0]) &&
        kSame.find(StrCat(" ", node.op_type, " ")) != kSame.npos) {
      integers.insert(node.outputs[0]);
    }
  }
  const DType type = graph[id].type.dtype;
  const int64_t most = rows.value_or(type == DType::kUint8 ? 256 : 2);
  return type == DType::kInt8 ? std::min<int64_t>(most, 128) : most;
}

/// A number of mean 0 and variance 1.
double Number(draw::Draw* draw) {
  return (2 * draw->Uniform() - 1) * std::sqrt(3);
}

template <class T>
void Put(const T& element, int64_t place, Tensor* tensor) {
  std::memcpy(tensor->mutable_data() + static_cast<size_t>(place) * sizeof(T),
              &element, sizeof(T));
}

/// Bit patterns of a type of at most 8 bits: any of an integer's; of a float,
/// the least number that is not below one of variance 1.
void FillNarrow(draw::Draw* draw, Tensor* tensor) {
  const DType type = tensor->dtype();
  const int width = BitsOf(type);
  const bool is_float = IsFloatingPoint(type);
  std::map<double, uint64_t> patterns;
  for (uint64_t bits = 0; is_float && bits < uint64_t{1} << width; ++bits) {
    const double number = metric::DecodeFloat(type, bits);
    if (std::isfinite(number)) patterns.emplace(number, bits);
  }
  const bool has_sign = is_float && patterns.begin()->first < 0;
  std::fill_n(tensor->mutable_data(), tensor->byte_size(), std::byte{0});
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const uint64_t bits =
        is_float
            ? patterns
                  .lower_bound(has_sign ? Number(draw) : std::abs(Number(draw)))
                  ->second
            : static_cast<uint64_t>(draw->Index(int64_t{1} << width));
    for (int k = 0; k < width; ++k) {
      const auto place = static_cast<size_t>(i * width + k);
      tensor->mutable_data()[place / 8] |=
          static_cast<std::byte>((bits >> k & 1U) << place % 8);
    }
  }
}

/// Words of the model's own, and some numbers, as a Cast wants them.
std::vector<std::string> WordsOf(const Graph& graph) {
  constexpr int kNumbers = 10;
  std::vector<std::string> words;
  for (int i = 0; i < kNumbers; ++i) words.push_back(StrCat(i));
  ForEachGraph(graph, [&](const Graph& part) {
    for (const Node& node : part.nodes) {
      for (const Attribute& attribute : node.attributes) {
        const auto* const list =
            std::get_if<std::vector<std::string>>(&attribute.held);
        if (list != nullptr)
          words.insert(words.end(), list->begin(), list->end());
      }
    }
  });
  return words;
}

Result<Tensor> Drawn(const Graph& graph, ValueId id, const Shape& shape,
                     int64_t seed) {
  const ValueInfo& info = graph[id];
  const DType type = info.type.dtype;
  draw::Draw draw(info.name, seed, "own model");
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  constexpr int64_t kMost = int64_t{1} << 31;
  if (count > kMost / std::max(1, BitsOf(type) / 8)) {
    return InvalidArgument("the input '", info.name, "' is ", type,
                           shape.ToString(), " of ", count,
                           " elements: more bytes, wanted at most ", kMost);
  }
  if (draw::Carries(type)) {
    std::vector<double> numbers(static_cast<size_t>(count));
    for (double& x : numbers) x = Number(&draw);
    return draw::TensorOf(type, shape, numbers);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  if (type == DType::kString) {
    const std::vector<std::string> words = WordsOf(graph);
    for (std::string& text : tensor.mutable_strings()) {
      text = words[static_cast<size_t>(draw.Index(std::ssize(words)))];
    }
    return tensor;
  }
  if (type == DType::kComplex64 || type == DType::kComplex128) {
    for (int64_t i = 0; i < 2 * count; ++i) {
      const double part = Number(&draw);
      if (type == DType::kComplex64) {
        Put(static_cast<float>(part), i, &tensor);
      } else {
        Put(part, i, &tensor);
      }
    }
    return tensor;
  }
  if (BitsOf(type) < 8 || IsFloatingPoint(type)) {
    FillNarrow(&draw, &tensor);
    return tensor;
  }
  const auto size = static_cast<size_t>(BitsOf(type) / 8);
  const int64_t most = type == DType::kBool ? 2 : MostOf(graph, id);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = draw.Index(most);
    std::memcpy(tensor.mutable_data() + static_cast<size_t>(i) * size, &number,
                size);
  }
  return tensor;
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
