// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/plain_corpus_case.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>

#include "framework/core/value_walk.h"
#include "framework/graph/types/check.h"
#include "framework/metric/element.h"
#include "framework/testing/case/data_set.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

std::string SpelledOut(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

std::string_view KindText(ValueKind kind) {
  return kind == ValueKind::kSparseTensor ? "sparse" : ToString(kind);
}

/// The type inside all sequences, optionals and maps.
const ValueType& Innermost(const ValueType& type) {
  const ValueType* inner = &type;
  while (inner->element != nullptr) inner = inner->element.get();
  return *inner;
}

/// The same for a model: its graph and the bodies of its functions.
template <class Visit>
void ForEachGraph(const Model& model, const Visit& visit) {
  ForEachGraph(model.graph(), visit);
  for (const Function& function : model.functions()) {
    ForEachGraph(*function.body, visit);
  }
}

std::vector<std::string> OperatorsOf(const Model& model) {
  std::set<std::string> found;
  ForEachGraph(model, [&](const Graph& graph) {
    for (const Node& node : graph.nodes) {
      found.insert(StrCat(SpelledOut(node.domain), "::", node.op_type));
    }
  });
  return {found.begin(), found.end()};
}

std::vector<std::string> DtypesOf(const Graph& graph) {
  std::set<std::string> found;
  ForEachGraph(graph, [&](const Graph& part) {
    for (const ValueInfo& value : part.values) {
      const ValueType* type = &value.type;  // a map has one of its keys
      for (; type != nullptr; type = type->element.get()) {
        if (type->dtype != DType::kUndefined) {
          found.emplace(ToString(type->dtype));
        }
      }
    }
  });
  return {found.begin(), found.end()};
}

std::vector<std::string> OutputDtypes(const Graph& graph) {
  std::set<std::string> found;
  for (const ValueId id : graph.outputs) {
    found.emplace(ToString(Innermost(graph[id].type).dtype));
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> ValueKindsOf(const Graph& graph) {
  std::set<std::string> found;
  const auto add = [&](ValueId id) {
    const ValueType* type = &graph[id].type;
    for (; type != nullptr; type = type->element.get()) {
      found.emplace(KindText(type->kind));
    }
  };
  std::ranges::for_each(graph.inputs, add);
  std::ranges::for_each(graph.outputs, add);
  return {found.begin(), found.end()};
}

std::string ShapeText(const ValueType& declared) {
  const ValueType& type = Innermost(declared);
  if (!type.dims.has_value()) return std::string(KindText(declared.kind));
  const auto text_of = [](const Dim& dim) {
    if (dim.known()) return std::to_string(dim.extent);
    return dim.symbol.empty() ? "?" : dim.symbol;
  };
  return StrCat("[", Joined(*type.dims, ",", text_of), "]");
}

std::string ShapeSignature(const Graph& graph) {
  return Joined(graph.inputs, ";",
                [&](ValueId id) { return ShapeText(graph[id].type); });
}

int OpsetOf(const TestCase& c) {
  const auto own = c.imports.find(c.domain);
  if (own != c.imports.end()) return own->second;
  // An expansion need not import the domain of what was expanded.
  const auto onnx = c.imports.find("ai.onnx");
  return onnx == c.imports.end() ? 0 : onnx->second;
}

/// The facts that follow from the model, but for those of the data.
void DescribeModel(const Model& model, TestCase* c) {
  const Graph& graph = model.graph();
  for (const auto& [domain, version] : model.opsets()) {
    c->imports.emplace(SpelledOut(domain), version);
  }
  c->operators = OperatorsOf(model);
  c->dtypes = DtypesOf(graph);
  c->value_kinds = ValueKindsOf(graph);
  c->shape_sig = ShapeSignature(graph);
  const auto dtype_of = [&](ValueId id) {
    const ValueType& type = graph[id].type;
    return std::string(type.kind == ValueKind::kTensor ? ToString(type.dtype)
                                                       : "");
  };
  std::ranges::transform(graph.inputs, std::back_inserter(c->input_dtypes),
                         dtype_of);
  std::ranges::transform(graph.outputs, std::back_inserter(c->output_dtypes),
                         dtype_of);
  if (graph.nodes.size() == 1) {
    const Node& node = graph.nodes.front();
    c->suite = "node";
    c->kind = "node";
    c->tier = Tier::kSmoke;
    c->domain = SpelledOut(node.domain);
    c->op = IdPart(OperatorName(node.domain, node.op_type));
    for (const Attribute& attribute : node.attributes) {
      c->attributes.emplace(attribute.name, AttributeText(attribute));
    }
  }
  c->opset = OpsetOf(*c);
}

/// True when a case has more bytes of data than are looked into.
bool HasMuchData(const fs::path& folder, int n_data_sets) {
  constexpr uintmax_t kMost = uintmax_t{1} << 30;
  uintmax_t bytes = 0;
  for (int i = 0; i < n_data_sets; ++i) {
    std::error_code error;
    fs::directory_iterator file(SetPath(folder, static_cast<size_t>(i)), error);
    for (; !error && file != fs::directory_iterator(); file.increment(error)) {
      std::error_code no_file;
      const uintmax_t size = file->file_size(no_file);
      if (!no_file) bytes += size;
    }
  }
  return bytes > kMost;
}

bool IsZero(const Tensor& tensor) {
  if (tensor.data() == nullptr && tensor.byte_size() > 0) return false;
  const auto bytes = tensor.bytes();
  return std::ranges::all_of(bytes,
                             [](std::byte b) { return b == std::byte{0}; });
}

/// The tensor that a value of a graph is known to be; null when it is not.
const Tensor* KnownTensor(const Graph& graph, ValueId id,
                          const std::vector<Value>& fed) {
  if (const Value* fixed = graph.FindInitializer(id)) return fixed->tensor();
  const auto input = std::ranges::find(graph.inputs, id);
  const auto k = static_cast<size_t>(input - graph.inputs.begin());
  if (k < fed.size()) return fed[k].tensor();
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Constant" || node.outputs.empty() ||
        node.outputs.front() != id) {
      continue;
    }
    const Attribute* value = node.Find("value");
    return value == nullptr ? nullptr : std::get_if<Tensor>(&value->held);
  }
  return nullptr;
}

/// True when a Dropout draws, or when the model does not tell.
bool DropoutDraws(const Graph& graph, const Node& node,
                  const std::vector<Value>& fed) {
  if (node.opset < 7) {
    const Attribute* test = node.Find("is_test");
    const auto* set = test ? std::get_if<int64_t>(&test->held) : nullptr;
    return set == nullptr || *set == 0;
  }
  // Opset 12 brought the inputs; from 7 to 11 Dropout only infers.
  const auto is_zero = [&](size_t k) {
    const Tensor* known = KnownTensor(graph, node.inputs[k], fed);
    return known != nullptr && IsZero(*known);
  };
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return false;
  if (is_zero(2)) return false;
  return !is_zero(1);  // left out it is 0.5
}

/// True when all of n > 0 elements equal the first, or all are NaN. `same(i)`
/// compares as numbers do, so that a zero equals the other zero.
template <class Same, class IsNan>
bool Repeats(int64_t n, Same same, IsNan is_nan) {
  bool equal = true;
  bool nan = true;
  for (int64_t i = 0; i < n && (equal || nan); ++i) {
    equal = equal && same(i);
    nan = nan && is_nan(i);
  }
  return equal || nan;
}

/// For numbers of so many floats, as a complex one has two.
bool RepeatsOneFloat(DType type, int64_t parts, const std::byte* data,
                     int64_t n) {
  const auto at = [&](int64_t i) {
    return metric::DecodeFloat(type, metric::ElementBits(type, data, i));
  };
  const auto equal = [&](int64_t i, int64_t k) {
    return at(parts * i + k) == at(k);
  };
  const auto nan = [&](int64_t i, int64_t k) {
    return std::isnan(at(parts * i + k));
  };
  const int64_t last = parts - 1;
  return Repeats(
      n, [&](int64_t i) { return equal(i, 0) && equal(i, last); },
      [&](int64_t i) { return nan(i, 0) || nan(i, last); });
}

bool RepeatsOneValue(const Tensor& tensor) {
  const DType type = tensor.dtype();
  const int64_t n = tensor.num_elements();
  switch (ClassOf(type)) {
    case DTypeClass::kString: {
      const auto strings = tensor.strings();
      return std::ranges::all_of(strings, [&](const std::string& text) {
        return text == strings.front();
      });
    }
    case DTypeClass::kFloat:
      return RepeatsOneFloat(type, 1, tensor.data(), n);
    case DTypeClass::kComplex:
      return RepeatsOneFloat(
          type == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64, 2,
          tensor.data(), n);
    default:
      return Repeats(
          n,
          [&](int64_t i) {
            return metric::ElementBits(type, tensor.data(), i) ==
                   metric::ElementBits(type, tensor.data(), 0);
          },
          [](int64_t) { return false; });
  }
}

/// As Python prints a float32: the shortest digits, with a point or in
/// scientific form.
std::string PlainText(float value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : (std::signbit(value) ? "-inf" : "inf");
  }
  const float size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4F && size < 1e16F);
  std::array<char, 64> buffer;
  const auto end = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), value,
      fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}
std::string PlainText(int64_t value) { return std::to_string(value); }
std::string PlainText(const std::string& value) { return value; }

template <class T>
std::string PlainText(const std::vector<T>& list) {
  const auto text_of = [](const T& item) { return PlainText(item); };
  return StrCat("[", Joined(list, ",", text_of), "]");
}

std::string PlainText(const Tensor& tensor) {
  return StrCat("tensor(", tensor.dtype(), ",", tensor.shape().ToString(), ")");
}
std::string PlainText(std::monostate) { return "undefined"; }
std::string PlainText(const ValueType&) { return "type_proto"; }
std::string PlainText(const std::vector<ValueType>&) { return "type_protos"; }
std::string PlainText(const SparseTensor&) { return "sparse_tensor"; }
std::string PlainText(const std::vector<SparseTensor>&) {
  return "sparse_tensors";
}
std::string PlainText(const std::vector<Tensor>&) { return "tensors"; }
std::string PlainText(const std::shared_ptr<const Graph>&) { return "graph"; }
std::string PlainText(const std::vector<std::shared_ptr<const Graph>>&) {
  return "graphs";
}

}  // namespace

std::string IdPart(std::string name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' ||
           c == '-';
  };
  std::ranges::replace_if(
      name, [&](char c) { return !allowed(c); }, '_');
  return name.empty() ? "_" : name;
}

Limit DefaultLimit(const std::vector<std::string>& output_dtypes,
                   const std::vector<std::string>& random) {
  constexpr double kRtol = 1e-3;
  constexpr double kAtol = 1e-7;
  constexpr double kBFloat16Rtol = 0x1p-6;  // two units in the last place
  if (!random.empty()) {
    return {record::Comparator::kDistribution, kRtol, kAtol,
            StrCat("random: ", Joined(random))};
  }
  const auto is_float = [](const std::string& dtype) {
    return dtype.starts_with("float") || dtype.starts_with("bfloat") ||
           dtype.starts_with("complex");
  };
  const auto has = [&](std::string_view dtype) {
    return std::ranges::find(output_dtypes, dtype) != output_dtypes.end();
  };
  const auto floats = std::ranges::count_if(output_dtypes, is_float);
  if (floats == 0 && has("string")) {
    return {record::Comparator::kText, 0, 0, "strings are equal"};
  }
  if (floats == 0 && !has("undefined") && !output_dtypes.empty()) {
    return {record::Comparator::kExact, 0, 0,
            "integers and booleans are equal"};
  }
  // Beside another float type, one rtol a case would loosen that one as well.
  if (has("bfloat16") && floats == 1) {
    return {record::Comparator::kTolerance, kBFloat16Rtol, kAtol,
            "onnx runner: bfloat16, 2^-6"};
  }
  return {record::Comparator::kTolerance, kRtol, kAtol, "onnx runner: default"};
}

std::vector<std::string> RandomOperators(const Model& model,
                                         const std::vector<Value>& fed) {
  constexpr std::string_view kRandom[] = {"Bernoulli",     "Multinomial",
                                          "RandomNormal",  "RandomNormalLike",
                                          "RandomUniform", "RandomUniformLike"};
  std::set<std::string> found;
  ForEachGraph(model, [&](const Graph& graph) {
    const bool main = &graph == &model.graph();
    for (const Node& node : graph.nodes) {
      if (!node.domain.empty()) continue;
      const bool draws = std::ranges::count(kRandom, node.op_type) > 0;
      if (draws ||
          (node.op_type == "Dropout" &&
           DropoutDraws(graph, node, main ? fed : std::vector<Value>()))) {
        found.insert(node.op_type);
      }
    }
  });
  return {found.begin(), found.end()};
}

Described DescribeFolder(const fs::path& folder, int n_data_sets) {
  Described described;
  TestCase& c = described.test_case;
  c.directory = folder;
  c.n_data_sets = n_data_sets;
  c.suite = "model";
  c.kind = "model";
  c.domain = "ai.onnx";
  c.op = IdPart(folder.parent_path().filename().string());
  c.limit = DefaultLimit({}, {});
  const bool is_read = !HasMuchData(folder, n_data_sets);
  Result<CaseData> data = FailedPrecondition("more than is looked into");
  if (is_read) data = ReadCaseFacts(folder, n_data_sets);
  Result<std::shared_ptr<const Model>> model = FailedPrecondition("");
  if (data.ok()) {
    model = data->model;
  } else if (const auto file = ModelFileOf(folder); file.ok()) {
    model = Model::Read(*file, kMostOfFacts);
  }
  // A valid model that our reader does not read is each backend's to decline.
  if (is_read &&
      (model.ok() || data.status().code() != StatusCode::kUnsupported)) {
    described.fault = data.status();
  }
  if (!model.ok()) return described;
  if (const Status valid = types::CheckModel(**model);
      described.fault.ok() && !valid.ok()) {
    described.fault = valid;
  }
  DescribeModel(**model, &c);
  const std::vector<Value> fed =
      data.ok() ? data->sets.front().inputs : std::vector<Value>();
  c.limit = DefaultLimit(OutputDtypes((*model)->graph()),
                         RandomOperators(**model, fed));
  described.is_stated = HasOutputs(**model, SetPath(folder, 0));
  if (!data.ok()) return described;
  if (described.is_stated) c.vacuous = VacuityOf(data->sets);
  return described;
}

void BecomeExpansion(const TestCase& base, TestCase* expanded) {
  expanded->suite = base.suite;
  expanded->kind = "expanded";
  expanded->op = base.op;
  expanded->domain = base.domain;
  expanded->attributes = base.attributes;
  expanded->opset = OpsetOf(*expanded);
}

std::string VacuityOf(const std::vector<DataSet>& sets) {
  bool empty = true;
  bool constant = true;
  for (const DataSet& set : sets) {
    for (const Value& value : set.expected) {
      ForEachTensor(value, [&](const Tensor& tensor) {
        if (tensor.num_elements() == 0) return;
        empty = false;
        constant =
            constant && tensor.num_elements() > 1 && RepeatsOneValue(tensor);
      });
    }
  }
  if (empty) return "zero-size output";
  return constant ? "constant output" : "";
}

std::string AttributeText(const Attribute& attribute) {
  std::string text = std::visit(
      [](const auto& held) { return PlainText(held); }, attribute.held);
  constexpr size_t kMaxText = 64;
  if (text.size() > kMaxText) text.replace(kMaxText - 3, text.npos, "...");
  return text;
}

}  // namespace assay::cases
