// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/known_problems.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "perf/problems/read_problems.h"

namespace assay::problems {
namespace {

std::vector<Problem> ReadAll() {
  std::vector<Problem> all;
  for (const auto& [file, text] : SetTexts()) {
    std::vector<Problem> some = ProblemsOfText(text, file).value();
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

using ByName = std::map<std::string_view, const Problem*>;

ByName NamesOf(const std::vector<Problem>& problems) {
  ByName names;
  for (const Problem& problem : problems) names[problem.name] = &problem;
  return names;
}

}  // namespace

const std::vector<Problem>& KnownProblems() {
  static const std::vector<Problem> problems = ReadAll();
  return problems;
}

const Problem* ProblemNamed(std::string_view name) {
  static const ByName names = NamesOf(KnownProblems());
  const auto found = names.find(name);
  return found == names.end() ? nullptr : found->second;
}

}  // namespace assay::problems
