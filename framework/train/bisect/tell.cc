// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/tell.h"

#include <algorithm>
#include <optional>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/train/optdiff/step_row.h"

namespace assay::bisect {
namespace {

std::string FaultText(const char* run, const std::optional<FirstFault>& fault) {
  if (!fault.has_value()) {
    return StrCat("run ", run, ": right at every step\n");
  }
  return StrCat("run ", run, ": wrong at step ", fault->step, ": ",
                fault->fault.what, "\n");
}

}  // namespace

std::string StepText(int64_t step, int64_t steps, const Duel& duel) {
  const int64_t every = std::max<int64_t>(1, steps / 10);
  if (step > 3 && step % every != 0) return {};
  return StrCat("step ", step, ": loss a ", file::ToText(duel.a_loss()), ", b ",
                file::ToText(duel.b_loss()), "\n");
}

std::string EndText(int64_t steps, const Duel& duel) {
  const std::string faults =
      FaultText("a", duel.a_fault()) + FaultText("b", duel.b_fault());
  const auto& first = duel.difference();
  if (!first.has_value()) {
    return StrCat(faults, "in ", steps,
                  " steps they differ by what roundings explain\n");
  }
  return StrCat(faults, "they differ first at step ", first->step, ", in ",
                first->tensor, ": by ", file::ToText(first->l2),
                ", where roundings explain ", file::ToText(first->limit), "\n");
}

bool IsSame(const Duel& duel) {
  return !duel.difference().has_value() && !duel.a_fault().has_value() &&
         !duel.b_fault().has_value();
}

Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record) {
  if (file.empty()) return OkStatus();
  return file::WriteFile(
      file, record::ToCsv(record::TableOf<optdiff::StepRow>(), {record}));
}

}  // namespace assay::bisect
