// SPDX-License-Identifier: Apache-2.0
//
// ShrinkJudge: tries candidates for a smaller case on the backend, many in one
// worker, and names one that fails as the case does. The oracle says which
// outputs are right, or gives the exact answers that the suite of the case
// judges by.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/cli/repro/shrink_draft.h"
#include "framework/cli/select/chosen_case.h"
#include "framework/supervise/trial.h"

namespace assay::repro {

/// One way to be smaller; `make` is called when its turn comes.
struct Candidate {
  std::string what;
  int64_t elements = 0;  // about how many it holds
  std::function<Result<Draft>()> make;
};

struct Kept {
  size_t index = 0;  // among the candidates
  Draft draft;       // with what is expected
};

/// True where smaller cases are judged by exact answers, too; else the oracle's
/// outputs become those that are expected.
bool ByAnswers(const record::PlanRow& row);

/// "fail (shape)": as short as tells it from what is wanted.
std::string VerdictOf(const record::ResultRow& result);

/// True where two raw results are the same fail: by outcome and reason.
bool FailsAs(const record::ResultRow& found, const record::ResultRow& wanted);

/// Invalid argument for the result of a case in which there is nothing to
/// shrink.
Status CheckFails(const select::ChosenCase& chosen,
                  const record::ResultRow& result);

class ShrinkJudge {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// `wanted` is the raw result to be kept: its outcome and reason.
  ShrinkJudge(const select::ChosenCase& chosen, plan::BackendUse oracle,
              supervise::WorkFolder* work, int64_t budget, Say say);

  void Want(const record::ResultRow& wanted) { wanted_ = wanted; }

  /// The raw result of the case itself, alone in a worker.
  Result<record::ResultRow> RunCase();

  /// The first candidate, in this order, that fails as wanted, among others and
  /// alone in a worker as well. A candidate that cannot be made, or that the
  /// oracle does not run, is none.
  Result<std::optional<Kept>> First(const std::vector<Candidate>& candidates);
  Result<std::optional<Draft>> FirstDraft(
      const std::vector<Candidate>& candidates);

  /// The oracle's answers. Failed precondition, with its words, without any.
  Result<std::vector<Value>> Answers(const Draft& draft);

  /// The id of a case that is made smaller and is judged by its own suite:
  /// suite/op/case-shrunk#variant.
  std::string ShrunkId() const;

  int64_t tried() const { return tried_; }
  bool Spent() const { return tried_ >= budget_; }
  void Note(const std::string& line) const { say_(line); }

  /// The limit of candidates: the case's own, or ONNX's where that is none for
  /// floats.
  const cases::Limit& limit() const { return limit_; }

 private:
  struct Attempt {
    size_t index = 0;
    std::string id;
    Draft draft;
    std::string verdict;  // why it is not run, empty: it is
    std::string oracle;   // the folder of exact answers
  };

  std::string IdOf(size_t number) const;
  record::PlanRow RowOf(const Attempt& attempt) const;
  Status Ask(std::vector<Attempt>* attempts);
  Status AskExact(std::vector<Attempt>* attempts);
  Status Try(std::vector<Attempt>* attempts,
             std::vector<record::ResultRow>* results);
  Result<bool> FailsAlone(const Draft& draft);
  Result<std::optional<Kept>> FirstOf(const std::vector<Candidate>& candidates,
                                      size_t begin, size_t end);

  const select::ChosenCase& chosen_;
  const bool by_answers_;  // its suite judges, and needs exact answers
  supervise::Trial backend_;
  supervise::Trial oracle_;
  supervise::WorkFolder& work_;
  const int64_t budget_;
  const Say say_;
  cases::Limit limit_;
  record::ResultRow wanted_;
  int64_t tried_ = 0;
};

}  // namespace assay::repro
