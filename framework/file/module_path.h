// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of an installation are, relative to the running program, so
// that a moved tree works: bin/assay, lib/assay/NAME.so, lib/assay/NAME.policy,
// share/assay/corpus/NAME, share/assay/datasets.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::file {

/// The folder above the one that holds the running program.
std::filesystem::path InstallPrefix();

/// The folder of the corpora, one of each name.
std::filesystem::path CorpusDirectory();

/// The folder of datasets that nobody gives a folder for.
std::filesystem::path DatasetDirectory();

/// The folder of the modules.
std::filesystem::path ModuleDirectory();
/// The module of a backend, NAME or NAME@VERSION.
std::filesystem::path ModulePath(std::string_view backend);

/// The folder of a module's expectations, claims and floors: NAME.policy beside
/// it. It may not exist.
std::filesystem::path PolicyPath(const std::filesystem::path& module);

/// The names of the modules in a folder, sorted.
std::vector<std::string> InstalledBackends(
    const std::filesystem::path& modules = ModuleDirectory());

}  // namespace assay::file
