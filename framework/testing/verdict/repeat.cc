// SPDX-License-Identifier: Apache-2.0
//
// The command that repeats a verdict.

#include <string>

#include "framework/core/text.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::verdict {

std::string ReproOf(const plan::Plan& plan, const record::PlanRow& row) {
  std::string command =
      StrCat("assay run --backend ", plan.Backend(row.backend).spec,
             " --filter 'id:", row.test_id, "'");
  bool is_derived = false;  // from a case of one's own
  for (const plan::CorpusUse& corpus : plan.corpora) {
    const bool is_default =
        corpus.standard && cases::IsDefaultCorpus(corpus.name);
    const bool is_source =
        corpus.name == row.corpus || plan::LiesIn(row, corpus);
    if (is_default || !is_source) continue;
    is_derived = corpus.name != row.corpus;
    command += " ";
    command += corpus.words.empty()
                   ? "--corpus " + plan::ShellWord(corpus.directory)
                   : corpus.words;
  }
  if (is_derived) command += StrCat(" --corpus ", row.corpus);
  if (plan.selection.tier != plan::Selection().tier) {
    command += StrCat(" --tier ", plan.selection.tier);
  }
  if (plan.selection.ranks > 0) {
    command += StrCat(" --ranks ", plan.selection.ranks);
  }
  if (plan.selection.seed != 0) {
    command += StrCat(" --seed ", plan.selection.seed);
  }
  return command;
}

}  // namespace assay::verdict
