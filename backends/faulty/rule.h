// SPDX-License-Identifier: Apache-2.0
//
// Mutants by rule: ignore:Conv.dilations runs every Conv as if its model did
// not give the attribute. One for each attribute that a line of mutants.txt
// names.
//
//   if (const auto what = IgnoredAttribute("ignore:Conv.dilations")) {
//     model = WithoutAttribute(*model, *what);
//   }

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "framework/graph/model.h"

namespace assay::faulty {

/// The model with another graph; its bytes, which ONNX's checker reads, stay.
std::shared_ptr<const Model> WithGraph(const Model& model, Graph graph);

struct OperatorAttribute {
  std::string op_type;
  std::string attribute;
};

/// What a mutant of such a name ignores; none for another name.
std::optional<OperatorAttribute> IgnoredAttribute(std::string_view mutant);

/// The model without the attribute, in subgraphs too.
std::shared_ptr<const Model> WithoutAttribute(const Model& model,
                                              const OperatorAttribute& what);

}  // namespace assay::faulty
