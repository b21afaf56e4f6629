// SPDX-License-Identifier: Apache-2.0

#include "framework/file/module_path.h"

#include <algorithm>

#include "framework/core/text.h"

namespace assay::file {

namespace fs = std::filesystem;

fs::path InstallPrefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path();
}

fs::path CorpusDirectory() {
  return InstallPrefix() / "share" / "assay" / "corpus";
}

fs::path DatasetDirectory() {
  return InstallPrefix() / "share" / "assay" / "datasets";
}

fs::path ModuleDirectory() { return InstallPrefix() / "lib" / "assay"; }

fs::path ModulePath(std::string_view backend) {
  return ModuleDirectory() / StrCat(backend, ".so");
}

fs::path PolicyPath(const fs::path& module) {
  fs::path policy = module;
  return policy.replace_extension(".policy");
}

std::vector<std::string> InstalledBackends(const fs::path& modules) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(modules, error)) {
    if (entry.path().extension() == ".so") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace assay::file
