// SPDX-License-Identifier: Apache-2.0
//
// The generator of the typed operators takes this from ONNX's schema registry:
// the operators, with a C++ name for each formal parameter.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"

namespace assay::gen {

using onnx::OpSchema;

/// Where the operators of a domain stand. A domain that is not listed here
/// stops the generator.
struct DomainSpace {
  std::string domain;
  std::string space;  // inside namespace op
};
const std::vector<DomainSpace>& DomainSpaces();

/// A formal input or output, or an attribute, with its member's name.
struct Parameter {
  OpSchema::FormalParameter formal;
  std::string member;
};
struct Field {
  OpSchema::Attribute attribute;
  std::string member;
};

struct Operator {
  OpSchema schema;
  std::vector<int> versions;
  std::vector<Parameter> inputs;
  std::vector<Parameter> outputs;
  std::vector<Field> fields;
};

/// Ends the run with a message.
[[noreturn]] void Fail(const std::string& message);

/// A C++ string literal. Ends the run where that would need an escape.
std::string Quoted(const std::string& text);

/// The words with commas between them, in lines of at most kWidth columns; the
/// first line begins with `prefix`, the others with `indent`.
constexpr size_t kWidth = 80;
std::string Wrapped(const std::string& prefix, const std::string& indent,
                    const std::vector<std::string>& words);

/// The printed items between `open` and `close`, with `comma` between them.
template <class Items, class Print>
std::string Listed(const char* open, const Items& items, const char* comma,
                   Print print, const char* close) {
  std::string text;
  for (const auto& item : items) {
    text += (text.empty() ? "" : comma) + print(item);
  }
  return open + text + close;
}

/// A type by the names that DType has: "seq(tensor(float))" becomes
/// "seq(float32)".
std::string Word(const std::string& text);
std::set<std::string> WordsOf(const OpSchema::TypeConstraintParam& constraint);

bool HasBody(const Operator& op);

/// The namespace of a domain's operators inside `op`, and "op::ml::Scaler".
std::string SpaceOf(const std::string& domain);
std::string Qualified(const Operator& op);

/// Every operator by domain and name, in its newest version, and the names of
/// those that this version deprecates.
std::vector<Operator> Collect(std::vector<std::string>& deprecated);

}  // namespace assay::gen
