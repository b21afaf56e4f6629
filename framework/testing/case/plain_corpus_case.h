// SPDX-License-Identifier: Apache-2.0
//
// The facts of one case folder, derived from its model and data by the rules
// with which conformance/corpus writes a manifest.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/testing/case/test_case.h"

namespace assay::cases {

/// A case, and why it is none: a fault of the files in its folder.
struct Described {
  TestCase test_case;
  Status fault = OkStatus();
  bool is_stated = true;  // its data sets state outputs
};

/// All but test_id and corpus. A model that cannot be read gives a case of kind
/// model without further facts; data of more than a GiB are not looked into.
/// Weights are not read, so that memory stays within that.
Described DescribeFolder(const std::filesystem::path& folder, int n_data_sets);

/// Makes `expanded`, described by its own files, the expansion of `base`.
void BecomeExpansion(const TestCase& base, TestCase* expanded);

/// `name` with the characters that an id may not have as '_'.
std::string IdPart(std::string name);

/// How the outputs of a case are compared, as ONNX's own runner does, from the
/// sorted element types of its outputs and the operators in it that draw random
/// numbers.
Limit DefaultLimit(const std::vector<std::string>& output_dtypes,
                   const std::vector<std::string>& random);

/// Why the right answers prove little, empty when they do prove something: each
/// tensor of them has no element or repeats one value. A single element is an
/// answer, not a repetition.
std::string VacuityOf(const std::vector<DataSet>& sets);

/// The operators of a model that draw random numbers, sorted. A Dropout draws
/// when it is in training mode with a ratio; `fed` are the values of the
/// graph's inputs, or nothing where they are not known.
std::vector<std::string> RandomOperators(const Model& model,
                                         const std::vector<Value>& fed);

/// A short text for an attribute, as a manifest has it.
std::string AttributeText(const Attribute& attribute);

}  // namespace assay::cases
