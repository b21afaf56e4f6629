// SPDX-License-Identifier: Apache-2.0
//
// Trial: one change of one of our sources, and what became of it. Tables of
// trials, for people and for other programs.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::random_mutants {

enum class TrialEnd : uint8_t {
  kKilled,
  kSurvived,
  kSameCode,     // the optimised object is that of the right source
  kEquivalent,   // listed as one that no test can see
  kNotCompiled,  // another is drawn in its place
};
std::string_view ToString(TrialEnd end);

struct Trial {
  std::string file;
  int line = 0;
  std::string kind;    // of the change
  std::string before;  // the text that went, and what came
  std::string after;
  TrialEnd end = TrialEnd::kNotCompiled;
  std::string killed_by;  // program and test
  double seconds = 0;
};

/// "a.cc:12 operator: < becomes <="
std::string Describe(const Trial& trial);

/// Killed and survived trials: those that a test could see.
struct Kills {
  int killed = 0;
  int survived = 0;
  int equivalent = 0;  // listed, or of the same code

  void Add(const Trial& trial);
  double Percent() const;  // of those that are not equivalent; 0 of none
};
Kills CountKills(const std::vector<Trial>& trials);

std::string TrialsCsv(const std::vector<Trial>& trials);

/// Kills by file and by kind, and each survivor.
std::string TrialsMarkdown(const std::vector<Trial>& trials);

}  // namespace assay::random_mutants
