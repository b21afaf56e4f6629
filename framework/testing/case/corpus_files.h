// SPDX-License-Identifier: Apache-2.0
//
// The files of a corpus: written, in the layout that ReadCorpus reads, and
// checked to be those that its manifest was written of.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"

namespace assay::cases {

/// Compares the files of a case to TestCase::digests: model and data sets, and
/// what the manifest lists besides. Data loss, naming the file, when one has
/// another digest or is not listed; not found when one cannot be read. A case
/// without digests passes: the digest of a corpus without a manifest is made
/// from all its files whenever it is read.
Status CheckFiles(const TestCase& c);

/// The digest that the maker of a corpus wrote beside it, into NAME.digest;
/// empty when there is none.
std::string MadeDigest(const std::filesystem::path& corpora,
                       std::string_view name);

/// Writes down the digest of the corpus in a folder, which was just made and
/// has a manifest.
Status NoteMade(const std::filesystem::path& corpus, const std::string& name);

/// The manifest's case lines, each without the comma at its end; none where the
/// text is not laid out as ManifestText does.
std::optional<std::vector<std::string_view>> CaseLines(
    std::string_view manifest);

/// The text before the manifest's case lines, as a JSON object.
std::string HeaderOf(std::string_view manifest);

/// The digest of the manifest's case lines: a line each, without the comma at
/// its end.
std::string DigestOfLines(std::string_view manifest);

/// A manifest of these cases, each of them JSON without a newline, under the
/// digest of their lines.
std::string ManifestText(const std::string& name,
                         const std::vector<std::string>& cases);

/// manifest.json of a corpus whose cases lie below `directory`.
Status WriteManifest(const std::filesystem::path& directory,
                     const std::string& name,
                     const std::vector<TestCase>& cases);

/// model.onnx and test_data_set_N of a case; expected outputs and stated
/// gradients where there are.
Status WriteCaseFiles(const std::filesystem::path& directory,
                      const CaseData& data);

}  // namespace assay::cases
