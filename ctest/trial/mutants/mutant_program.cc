// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/mutant_program.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "ctest/trial/mutants/mutant_schema.h"
#include "framework/file/file.h"

namespace assay::harness_mutants {
namespace {

namespace fs = std::filesystem;

/// Runs all of them, one a processor at a time; the first error.
Status RunAtOnce(const std::vector<std::function<Status()>>& jobs) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Status first;
  std::vector<std::jthread> threads(
      std::max(1U, std::thread::hardware_concurrency()));
  for (std::jthread& thread : threads) {
    thread = std::jthread([&] {
      for (size_t i = next++; i < jobs.size(); i = next++) {
        Status status = jobs[i]();
        const std::lock_guard lock(mutex);
        if (first.ok()) first = std::move(status);
      }
    });
  }
  threads.clear();  // joins them
  return first;
}

Status Run(const std::string& command, const std::string& what) {
  const Output output = Shell(command);
  if (output.wait_status == 0) return OkStatus();
  return Internal("cannot ", what, ": ", output.text);
}

/// Compiles one source with its mutants. It stands where nobody else's does.
Status Compile(const BuildTree& tree, const std::string& file,
               const std::vector<HarnessMutant>& mutants,
               const fs::path& object) {
  if (!tree.Has(file)) {
    return InvalidArgument("no library of a test has the source ", file,
                           " of the mutant ", mutants[0].name);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string right,
                         file::ReadFile(tree.root() / file));
  const Result<std::string> schema = SchemaOf(mutants, right);
  if (!schema.ok()) return schema.status().WithContext(file);
  fs::path changed = object;
  changed.replace_extension(".cc");
  std::error_code error;  // A folder that cannot be made shows when writing.
  fs::create_directories(changed.parent_path(), error);
  ASSAY_RETURN_IF_ERROR(file::WriteFile(changed, *schema));
  return Run(tree.CompileCommand(file, changed, "", object),
             StrCat("compile the mutants of ", file));
}

}  // namespace

std::string TestOf(const std::string& killer) {
  std::string name = killer == "program" ? "cli" : killer;
  if (name.starts_with("unit/")) name.erase(0, 5);
  std::ranges::replace(name, '/', '_');
  return StrCat("tests/", name, "_test");
}

std::string HostOf(const std::string& killer) {
  return killer == "program" ? "bin/assay" : TestOf(killer);
}

Status MakeMutantPrograms(const BuildTree& tree,
                          std::span<const HarnessMutant> mutants,
                          const fs::path& folder) {
  std::map<std::string, std::vector<HarnessMutant>> by_file;
  std::map<std::string, std::set<std::string>> files_of;  // by host
  for (const HarnessMutant& mutant : mutants) {
    by_file[mutant.file].push_back(mutant);
    files_of[HostOf(mutant.killer)].insert(mutant.file);
  }
  const auto object_of = [&](const std::string& file) {
    return folder / "objects" / (file.substr(0, file.rfind('.')) + ".o");
  };
  std::vector<std::function<Status()>> jobs;
  for (const auto& [file, of_file] : by_file) {
    jobs.emplace_back(
        [&] { return Compile(tree, file, of_file, object_of(file)); });
  }
  ASSAY_RETURN_IF_ERROR(RunAtOnce(jobs));
  jobs.clear();
  for (const auto& [target, files] : files_of) {
    const UnitTest* const host = tree.Find(target);
    if (host == nullptr) {
      return InvalidArgument("found no program ", target, " in ",
                             tree.build().string());
    }
    std::vector<fs::path> objects;
    for (const std::string& file : files) objects.push_back(object_of(file));
    jobs.emplace_back([&, host, objects = std::move(objects)] {
      return Run(tree.LinkCommand(*host, objects,
                                  folder / fs::path(host->target).filename()),
                 StrCat("link ", host->target, " with mutants"));
    });
  }
  return RunAtOnce(jobs);
}

}  // namespace assay::harness_mutants
