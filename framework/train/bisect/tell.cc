// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/tell.h"

#include <algorithm>
#include <iostream>
#include <string>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/train/optdiff/step_row.h"

namespace assay::bisect {
namespace {

void TellFault(const char* run, const std::optional<FirstFault>& fault) {
  if (!fault.has_value()) {
    std::cout << "run " << run << ": right at every step\n";
    return;
  }
  std::cout << "run " << run << ": wrong at step " << fault->step << ": "
            << fault->fault.what << "\n";
}

}  // namespace

void Told::Step(int64_t step, int64_t steps, const Duel& duel) {
  steps_ = step;
  const int64_t every = std::max<int64_t>(1, steps / 10);
  if (step > 3 && step % every != 0) return;
  std::cout << "step " << step << ": loss a " << file::ToText(duel.a_loss())
            << ", b " << file::ToText(duel.b_loss()) << std::endl;
}

bool Told::End(const Duel& duel) const {
  TellFault("a", duel.a_fault());
  TellFault("b", duel.b_fault());
  const auto& first = duel.difference();
  if (first.has_value()) {
    std::cout << "they differ first at step " << first->step << ", in "
              << first->tensor << ": by " << file::ToText(first->l2)
              << ", where roundings explain " << file::ToText(first->limit)
              << "\n";
  } else {
    std::cout << "in " << steps_
              << " steps they differ by what roundings explain\n";
  }
  return !first.has_value() && !duel.a_fault().has_value() &&
         !duel.b_fault().has_value();
}

Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record) {
  if (file.empty()) return OkStatus();
  return file::WriteFile(
      file, record::ToCsv(record::TableOf<optdiff::StepRow>(), {record}));
}

}  // namespace assay::bisect
