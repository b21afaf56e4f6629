// SPDX-License-Identifier: Apache-2.0
//
// The kill table: which gradient checker sees which class of mutants, on the
// cases that mutants.txt names for them. The last column is of the suite, from
// the mutants.csv that `assay assess` wrote.
//
//   kill_table faulty.so backends/faulty build/corpus/onnx mutants.csv

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "framework/backend/registry.h"
#include "framework/file/file.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/policy/policy_line.h"
#include "framework/testing/record/tables.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/case/subject.h"
#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {
namespace {

constexpr std::string_view kSuite = "gradcheck";
constexpr int kWidth = 14;

/// A backend that loads with a mutant; with none where its name is empty.
class WithMutant : public Backend {
 public:
  WithMutant(Backend& backend, std::string mutant)
      : backend_(backend), mutant_(std::move(mutant)) {}

  std::string_view name() const override { return backend_.name(); }
  Result<Probe> Inspect() override { return backend_.Inspect(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    LoadOptions changed = options;
    if (!mutant_.empty()) changed.settings["mutant"] = mutant_;
    return backend_.Load(std::move(model), changed);
  }

 private:
  Backend& backend_;
  const std::string mutant_;
};

/// Mutants of a class, and how many of them a method sees.
struct Counts {
  int mutants = 0;
  std::map<std::string_view, int> killed;
};

class KillTable {
 public:
  KillTable(Backend& backend, std::map<std::string, std::string> directories,
            std::set<std::string> ours)
      : backend_(backend),
        directories_(std::move(directories)),
        ours_(std::move(ours)) {}

  void Add(const policy::MutantLine& mutant) {
    const std::string test_id = mutant.where.substr(sizeof("id:") - 1);
    Counts& counts = classes_[mutant.kind];
    ++counts.mutants;
    for (const Method& method : Methods()) {
      if (!Passes(method, test_id, "")) continue;
      if (Passes(method, test_id, mutant.name)) continue;
      ++counts.killed[method.name];
    }
    if (ours_.contains(mutant.name)) ++counts.killed[kSuite];
  }

  void Print(std::ostream& out) const {
    out << std::left << std::setw(30) << "class" << std::right << std::setw(8)
        << "mutants";
    for (const Method& method : Methods()) {
      out << std::setw(kWidth) << method.name;
    }
    out << std::setw(kWidth) << kSuite << "\n";
    Counts all;
    for (const auto& [kind, counts] : classes_) {
      PrintRow(kind, counts, out);
      all.mutants += counts.mutants;
      for (const auto& [name, n] : counts.killed) all.killed[name] += n;
    }
    PrintRow("all", all, out);
    Counts refused;
    for (const auto& [key, passes] : clean_) {
      refused.mutants = std::max(refused.mutants, ++cases_of_[key.first]);
      refused.killed[key.first] += passes ? 0 : 1;
    }
    PrintRow("right ones that it refuses", refused, out);
  }

 private:
  static void PrintRow(const std::string& name, const Counts& counts,
                       std::ostream& out) {
    out << std::left << std::setw(30) << name << std::right << std::setw(8)
        << counts.mutants;
    const auto of = [&](std::string_view method) {
      const auto found = counts.killed.find(method);
      return found == counts.killed.end() ? 0 : found->second;
    };
    for (const Method& method : Methods()) {
      out << std::setw(kWidth) << of(method.name);
    }
    out << std::setw(kWidth) << of(kSuite) << "\n";
  }

  /// The answer for the right backend is kept. A case that cannot be run is
  /// refused.
  bool Passes(const Method& method, std::string test_id,
              const std::string& mutant) {
    if (method.in_float64) {
      test_id = test_id.substr(0, test_id.rfind('.')) + ".float64";
    }
    const std::pair key(method.name, test_id);
    if (mutant.empty() && clean_.contains(key)) return clean_[key];
    const Result<bool> passes = Check(method, test_id, mutant);
    const bool yes = passes.ok() && *passes;
    if (mutant.empty()) clean_[key] = yes;
    return yes;
  }

  Result<bool> Check(const Method& method, const std::string& test_id,
                     const std::string& mutant) const {
    record::PlanRow row;
    row.test_id = test_id;
    const auto directory = directories_.find(SourceOf(test_id));
    if (directory == directories_.end()) {
      return NotFound("no case ", test_id);
    }
    row.directory = directory->second;
    ASSAY_ASSIGN_OR_RETURN(const GradientCase planned, CaseOf(row, {}));
    ASSAY_ASSIGN_OR_RETURN(const suite::Subject subject, SubjectOf(planned));
    WithMutant backend(backend_, mutant);
    ASSAY_ASSIGN_OR_RETURN(Function f, Function::Load(backend, subject));
    Draw draw(test_id, /*seed=*/0, method.name);
    return method.check(f, draw);
  }

  Backend& backend_;
  const std::map<std::string, std::string> directories_;  // by test_id
  const std::set<std::string> ours_;                      // mutants killed
  std::map<std::string, Counts> classes_;
  std::map<std::pair<std::string_view, std::string>, bool> clean_;
  mutable std::map<std::string_view, int> cases_of_;
};

Status Run(const char* module, const char* faulty, const char* onnx,
           const char* csv) {
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(module).status());
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend("faulty"));
  ASSAY_ASSIGN_OR_RETURN(const auto lines, policy::ReadMutantLines(faulty));
  ASSAY_ASSIGN_OR_RETURN(const cases::Corpus corpus, cases::ReadCorpus(onnx));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(csv));
  ASSAY_ASSIGN_OR_RETURN(const auto rows,
                         record::ParseCsv<record::MutantRow>(text));
  std::map<std::string, std::string> directories;
  for (const cases::TestCase& c : corpus.cases) {
    directories[c.test_id] = c.directory;
  }
  std::set<std::string> ours;
  for (const record::MutantRow& row : rows) {
    if (row.killed && row.suite == kSuite) ours.insert(row.mutant);
  }
  KillTable table(*backend, std::move(directories), std::move(ours));
  for (const policy::MutantLine& line : lines) {
    if (line.killer == kSuite) table.Add(line);
  }
  table.Print(std::cout);
  return OkStatus();
}

}  // namespace
}  // namespace assay::gradcheck::peers

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: kill_table MODULE FAULTY_FOLDER ONNX_CORPUS "
                 "MUTANTS_CSV\n";
    return 2;
  }
  const assay::Status status =
      assay::gradcheck::peers::Run(argv[1], argv[2], argv[3], argv[4]);
  if (!status.ok()) std::cerr << "kill_table: " << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
