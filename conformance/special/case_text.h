// SPDX-License-Identifier: Apache-2.0
//
// Cases written as text: a model, its inputs and its exact outputs, and why
// they are exact; and the corpora that are made of such text, `special` and
// others. The README of the folder describes the text.
//
//     case Neg/of: the other sign
//       types float16 int8
//       model ($T[2] x) => ($T[2] y) { y = Neg(x) }
//       x = 1, -2; y = -1, 2
//
// is read as Neg/of_float16 and Neg/of_int8.

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"

namespace assay::special {

/// One case, of which nothing is left to be replaced.
struct CaseText {
  std::string name;  // OP/what, the test_id less the suite
  std::string because;
  std::string model;   // in ONNX's text form
  std::string values;  // of inputs and outputs (value_text.h)
  /// The inputs of `model` that are its initializers, with their values.
  std::vector<std::string> initializers;
  int opset = 0;  // of ai.onnx; 0: the newest
  /// Relative to the expected output; 0, equal values, needs no reason.
  double rtol = 0;
  std::string rtol_because;
  std::string place;  // file:line
};

/// The cases of a file, each name once. Invalid argument for a wrong text, with
/// file and line.
Result<std::vector<CaseText>> ReadCases(std::string_view text,
                                        const std::string& file);

/// The model and the values of a case, as they would be read from files.
/// Invalid argument for wrong ones, with file and line.
Result<cases::CaseData> DataOf(const CaseText& text);

/// The same of a text that gives values to inputs alone: nothing is expected.
Result<cases::CaseData> InputsOf(const CaseText& text);

/// The same, or of a text that states behind => the outputs and, as `dx` for an
/// input or initializer `x` of floating-point numbers, all gradients of the sum
/// of the outputs.
Result<cases::CaseData> GradientsOf(const CaseText& text);

/// The cases of all files. Invalid argument for a wrong text or a name that two
/// files have, with file and line.
Result<std::vector<CaseText>> ReadCaseFiles(
    const std::vector<std::filesystem::path>& files);

/// How the cases of a corpus are made of their texts.
struct TextCorpus {
  std::string name;
  Result<cases::CaseData> (*data)(const CaseText& text) = nullptr;
  /// Fills test_id, suite, kind and what else the files of a case do not tell.
  void (*describe)(const CaseText& text, const Graph& graph,
                   cases::TestCase* test_case) = nullptr;
};

/// Writes the corpus, which takes the place of an older one there when all
/// went well.
Status WriteTextCorpus(const TextCorpus& corpus,
                       std::span<const CaseText> texts,
                       const std::filesystem::path& place);

/// The same of the corpus `special` and its files.
Status WriteSpecialCorpus(const std::vector<std::filesystem::path>& files,
                          const std::filesystem::path& place);

}  // namespace assay::special
