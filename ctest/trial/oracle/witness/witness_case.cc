// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/witness/witness_case.h"

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "conformance/special/value_text.h"
#include "framework/core/text.h"
#include "framework/graph/model_text.h"

namespace assay::witness {
namespace {

/// The number that a word is, all of it.
Result<double> NumberOf(std::string_view word) {
  const std::string text(word);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') {
    return InvalidArgument("found '", text, "', wanted a number");
  }
  return number;
}

/// Words of the form VALUE or VALUE:TAIL.
Result<Numbers> NumbersOf(std::string_view words) {
  Numbers numbers;
  while (!words.empty()) {
    std::string_view rest = CutFront(&words, " ");
    Number number;
    ASSAY_ASSIGN_OR_RETURN(number.value, NumberOf(CutFront(&rest, ":")));
    if (!rest.empty()) {
      ASSAY_ASSIGN_OR_RETURN(number.tail, NumberOf(rest));
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// The shape of "float[2,3]".
Result<Shape> ShapeOf(std::string_view type) {
  CutFront(&type, "[");
  if (type.empty() || type.back() != ']') {
    return InvalidArgument("found no extents in brackets");
  }
  type.remove_suffix(1);
  std::vector<int64_t> extents;
  while (!type.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const double extent, NumberOf(CutFront(&type, ",")));
    extents.push_back(static_cast<int64_t>(extent));
  }
  return Shape(extents);
}

/// Reads one case after the other.
class Reader {
 public:
  Status Read(std::string_view line) {
    const std::string_view word = CutFront(&line, " ");
    if (word == "case") return Begin(line);
    if (word == "opset") return ReadOpset(line);
    if (word == "graph") return ReadGraph(line);
    if (word == "input") return ReadInput(line);
    const std::string_view name = CutFront(&line, " ");
    ASSAY_ASSIGN_OR_RETURN(Numbers numbers, NumbersOf(line));
    if (!current_.has_value()) return InvalidArgument("found no case before");
    const auto place = places_.find(word);
    if (place == places_.end()) {
      return InvalidArgument("found '", std::string(word), "'");
    }
    ((*current_).*(place->second))[std::string(name)] = std::move(numbers);
    return OkStatus();
  }

  Status End() {
    if (!current_.has_value()) return OkStatus();
    if (current_->model == nullptr || current_->outputs.empty()) {
      return InvalidArgument(current_->name, " has no graph or no output");
    }
    for (const ValueId id : current_->model->graph().inputs) {
      const std::string& name = current_->model->graph()[id].name;
      const auto given = inputs_.find(name);
      if (given == inputs_.end()) {
        return InvalidArgument(current_->name, " has no input ", name);
      }
      current_->inputs.push_back(given->second);
    }
    cases_.push_back(*std::move(current_));
    current_.reset();
    inputs_.clear();
    return OkStatus();
  }

  std::vector<WitnessCase> cases() && { return std::move(cases_); }

 private:
  using Place = NamedNumbers WitnessCase::*;

  Status Begin(std::string_view name) {
    ASSAY_RETURN_IF_ERROR(End());
    current_.emplace();
    current_->name = name;
    opset_ = 0;
    return OkStatus();
  }

  Status ReadOpset(std::string_view text) {
    ASSAY_ASSIGN_OR_RETURN(const double opset, NumberOf(text));
    opset_ = static_cast<int>(opset);
    return OkStatus();
  }

  Status ReadGraph(std::string_view text) {
    if (!current_.has_value()) return InvalidArgument("found no case before");
    ASSAY_ASSIGN_OR_RETURN(current_->model,
                           graph::ParseModelText(text, opset_));
    return OkStatus();
  }

  Status ReadInput(std::string_view line) {
    if (!current_.has_value() || current_->model == nullptr) {
      return InvalidArgument("found no graph before");
    }
    const std::string_view name = CutFront(&line, " ");
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(CutFront(&line, " ")));
    ASSAY_ASSIGN_OR_RETURN(const Numbers numbers, NumbersOf(line));
    const Graph& graph = current_->model->graph();
    const ValueId id = graph.FindValue(name);
    if (id == kNoValue) {
      return InvalidArgument("the graph has no ", std::string(name));
    }
    ASSAY_ASSIGN_OR_RETURN(const int64_t size, shape.NumElements());
    if (std::cmp_not_equal(size, numbers.size())) {
      return InvalidArgument("found ", numbers.size(), " numbers, wanted ",
                             size);
    }
    const DType type = graph[id].type.dtype;
    std::vector<uint64_t> bits;
    try {
      for (const Number& number : numbers) {
        bits.push_back(special::EncodeExactly(type, number.value));
      }
    } catch (const std::invalid_argument& error) {
      return InvalidArgument(error.what());
    }
    inputs_[std::string(name)] = Value(special::Pack(type, shape, bits));
    return OkStatus();
  }

  const std::map<std::string_view, Place> places_ = {
      {"output", &WitnessCase::outputs},
      {"cotangent", &WitnessCase::cotangents},
      {"gradient", &WitnessCase::gradients},
      {"tangent", &WitnessCase::tangents},
      {"jvp", &WitnessCase::jvps},
      {"condition", &WitnessCase::conditions},
  };
  std::optional<WitnessCase> current_;
  int opset_ = 0;  // of the case; 0: the newest
  std::map<std::string, Value> inputs_;
  std::vector<WitnessCase> cases_;
};

}  // namespace

Result<std::vector<WitnessCase>> ParseWitness(std::string_view text) {
  Reader reader;
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view one = CutFront(&text);
    if (one.empty() || one.front() == '#') continue;
    const Status read = reader.Read(one);
    if (!read.ok()) return read.WithContext(StrCat("line ", line));
  }
  ASSAY_RETURN_IF_ERROR(reader.End());
  return std::move(reader).cases();
}

}  // namespace assay::witness
