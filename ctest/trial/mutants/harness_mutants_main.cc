// SPDX-License-Identifier: Apache-2.0
//
// Makes the programs with the mutants of our own checkers, runs our tests on
// each, of which some test must fail, and on the same programs with no mutant on,
// which must pass. Prints a table, and exits with 1 unless every mutant is killed.
//
//   bin/harness_mutants [NAME...]      # some of them, or those of killers
//
// What became of them goes into trust/harness_mutants.csv (table mutants) in the
// build's folder. It has a row for every mutant of the list; one that has not run
// yet is of no build.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <span>
#include <thread>

#include "ctest/trial/mutants/harness_mutant.h"
#include "ctest/trial/mutants/mutant_program.h"
#include "ctest/trial/mutants/run_test.h"
#include "framework/core/text.h"
#include "framework/file/build_id.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::harness_mutants {
namespace {

namespace fs = std::filesystem;

const fs::path& Build() {
  static const fs::path build = ASSAY_BUILD;
  return build;
}

/// A test program, which of its tests to run, on which assay program, and with
/// which mutant on.
struct Job {
  std::string name;
  std::string mutant;  // empty: none
  fs::path test;
  std::string filter;
  fs::path program;
  TestOutput output;
};

/// Outside of the build, which backends must not write into.
const fs::path& Work() {
  static const fs::path work =
      fs::temp_directory_path() / StrCat("assay_mutants.", getpid());
  return work;
}

void Run(Job& job) {
  job.output = RunTest({.folder = Work() / job.name,
                        .test = job.test,
                        .filter = job.filter,
                        .assay = job.program,
                        .mutant = job.mutant});
}

/// Those that start the assay program, and take seconds, first; two a processor,
/// since they wait for limits of time more than they compute.
void RunAll(std::vector<Job>& jobs) {
  std::vector<Job*> order;
  for (Job& job : jobs) order.push_back(&job);
  std::ranges::stable_partition(order, [](const Job* job) {
    return job->program != Build() / "bin" / "assay";
  });
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads(
      2 * std::max(1U, std::thread::hardware_concurrency()));
  for (std::jthread& thread : threads) {
    thread = std::jthread([&] {
      for (size_t i = next++; i < order.size(); i = next++) Run(*order[i]);
    });
  }
  threads.clear();  // joins them
  std::error_code ignored;
  fs::remove_all(Work(), ignored);
}

/// Tests on a program that has all mutants of their killer in it.
Job JobOf(const std::string& name, const HarnessMutant& mutant) {
  const fs::path changed =
      Build() / "mutants" / fs::path(HostOf(mutant.killer)).filename();
  if (mutant.killer == "program") {
    return {name,          "",      Build() / TestOf(mutant.killer),
            mutant.filter, changed, {}};
  }
  return {name, "", changed, mutant.filter, Build() / "bin" / "assay", {}};
}

/// The tests that mutants run, with none on.
std::vector<Job> CleanJobs(const std::vector<HarnessMutant>& mutants) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<Job> jobs;
  for (const HarnessMutant& mutant : mutants) {
    if (!seen.emplace(mutant.killer, mutant.filter).second) continue;
    jobs.push_back(JobOf(StrCat("right", jobs.size()), mutant));
  }
  return jobs;
}

record::MutantRow RowOf(const HarnessMutant& mutant, const TestOutput& output) {
  record::MutantRow row;
  row.mutant = mutant.name;
  row.mutant_class = mutant.mutant_class;
  row.suite = "harness";
  row.expected_killer = mutant.killer;
  row.killed = output.Killed();
  if (row.killed) {
    row.killed_by = mutant.killer;
    row.killing_case = output.first_failure;
  }
  return row;
}

std::string Cut(const std::string& text, size_t size) {
  return text.size() <= size ? text : text.substr(0, size - 3) + "...";
}

void PrintTable(const std::vector<record::MutantRow>& rows) {
  std::cout << std::left << std::setw(29) << "mutant" << std::setw(12)
            << "class"
            << "killed by\n";
  std::map<std::string, std::pair<int, int>> classes;
  for (const record::MutantRow& row : rows) {
    auto& [killed, count] = classes[row.mutant_class];
    killed += row.killed ? 1 : 0;
    ++count;
    std::cout << std::setw(29) << row.mutant << std::setw(12)
              << row.mutant_class
              << (row.killed ? Cut(row.killing_case, 39) : "nobody") << "\n";
  }
  std::cout << "\n"
            << std::setw(12) << "class"
            << "killed of\n";
  for (const auto& [name, counts] : classes) {
    std::cout << std::setw(12) << name << counts.first << " of "
              << counts.second << "\n";
  }
}

/// True when every program without a mutant passed, with at least one test.
bool AllClean(std::span<const Job> jobs) {
  bool clean = true;
  for (const Job& job : jobs) {
    if (job.output.Clean()) continue;
    clean = false;
    std::cout << job.test.filename().string() << " " << job.filter
              << ", with no mutant on, does not pass: " << job.output.Describe()
              << "\n";
  }
  return clean;
}

Result<std::vector<HarnessMutant>> AllMutants() {
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         file::ReadFile(ASSAY_MUTANT_LIST));
  return ParseHarnessMutants(text);
}

/// Those of killers, or of such names; all without any.
std::vector<HarnessMutant> Chosen(std::vector<HarnessMutant> mutants,
                                  const std::set<std::string>& names) {
  std::erase_if(mutants, [&](const HarnessMutant& mutant) {
    return !names.empty() && !names.contains(mutant.name) &&
           !names.contains(mutant.killer);
  });
  return mutants;
}

/// Puts the rows into the table in place of the old ones, of which those of other
/// builds are as good as none. A table that stays as
/// it is is not written, and need not be read again.
Status PutIntoTable(const std::vector<HarnessMutant>& all,
                    const std::vector<record::MutantRow>& rows,
                    const std::string& build_id, const fs::path& table) {
  std::map<std::string, record::MutantRow> known;
  for (const HarnessMutant& mutant : all) {
    known[mutant.name] = RowOf(mutant, TestOutput());
  }
  std::string old;
  if (const auto text = file::ReadFile(table); text.ok()) old = *text;
  if (const auto past = record::ParseCsv<record::MutantRow>(old); past.ok()) {
    for (const record::MutantRow& row : *past) {
      if (row.build_id != build_id) continue;
      if (known.contains(row.mutant)) known[row.mutant] = row;
    }
  }
  for (const record::MutantRow& row : rows) known[row.mutant] = row;
  std::vector<record::MutantRow> whole;
  for (const HarnessMutant& mutant : all) whole.push_back(known[mutant.name]);
  const std::string text = record::ToCsv(whole);
  return text == old ? OkStatus() : file::WriteFile(table, text);
}

Result<int> RunMutants(const std::set<std::string>& names) {
  ASSAY_ASSIGN_OR_RETURN(const auto all, AllMutants());
  const std::vector<HarnessMutant> mutants = Chosen(all, names);
  if (mutants.empty()) return InvalidArgument("no mutant is chosen");
  ASSAY_ASSIGN_OR_RETURN(const BuildTree tree,
                         BuildTree::Read(ASSAY_ROOT, Build()));
  ASSAY_RETURN_IF_ERROR(MakeMutantPrograms(tree, mutants, Build() / "mutants"));
  std::vector<Job> jobs;
  for (const HarnessMutant& mutant : mutants) {
    jobs.push_back(JobOf(mutant.name, mutant));
    jobs.back().mutant = mutant.name;
  }
  for (Job& job : CleanJobs(mutants)) jobs.push_back(std::move(job));
  RunAll(jobs);
  if (!AllClean(std::span(jobs).subspan(mutants.size()))) return 1;
  ASSAY_ASSIGN_OR_RETURN(const std::string build_id, file::BuildId(Build()));
  std::vector<record::MutantRow> rows;
  for (size_t i = 0; i < mutants.size(); ++i) {
    rows.push_back(RowOf(mutants[i], jobs[i].output));
    rows.back().build_id = build_id;
  }
  PrintTable(rows);
  int survivors = 0;
  for (size_t i = 0; i < mutants.size(); ++i) {
    if (rows[i].killed) continue;
    ++survivors;
    std::cout << rows[i].mutant << " survives " << mutants[i].killer << ", "
              << jobs[i].output.Describe() << ": " << mutants[i].because
              << "\n";
  }
  std::cout << rows.size() - survivors << " of " << rows.size()
            << " mutants are killed\n";
  const fs::path table = Build() / "trust" / "harness_mutants.csv";
  std::error_code error;  // A folder that cannot be made shows when writing.
  fs::create_directories(table.parent_path(), error);
  ASSAY_RETURN_IF_ERROR(PutIntoTable(all, rows, build_id, table));
  std::cout << "written to " << table.string() << "\n";
  return survivors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::harness_mutants

int main(int argc, char** argv) {
  const auto code = assay::harness_mutants::RunMutants(
      std::set<std::string>(argv + 1, argv + argc));
  if (code.ok()) return *code;
  std::cerr << "harness_mutants: " << code.status().message() << "\n";
  return 99;
}
