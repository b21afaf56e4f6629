// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/check/board.h"

#include <array>
#include <utility>

#include "framework/core/text.h"

namespace assay::ranks {

std::string_view ToString(Finding finding) {
  constexpr std::array<std::string_view, 9> kNames = {
      "none",     "parameter", "leak", "lifecycle", "concurrency",
      "matching", "order",     "race", "lost"};
  return kNames[static_cast<size_t>(finding)];
}

void Board::Leave(int rank, std::string begun) {
  const std::lock_guard lock(mutex_);
  begun_[static_cast<size_t>(rank)] = std::move(begun);
}

void Board::EndWell(int rank) {
  const std::string& begun = begun_[static_cast<size_t>(rank)];
  if (begun.empty()) return;
  Find(Finding::kLeak, StrCat("rank ", rank, " did not wait for ", begun));
}

void Board::Find(Finding finding, std::string text) {
  const std::lock_guard lock(mutex_);
  if (finding_ != Finding::kNone) return;
  finding_ = finding;
  text_ = std::move(text);
}

std::pair<Finding, std::string> Board::found() {
  const std::lock_guard lock(mutex_);
  return {finding_, text_};
}

Status Board::Come(const std::string& group, int64_t number, int rank,
                   const std::string& call) {
  First first;
  {
    const std::lock_guard lock(mutex_);
    first = collectives_.try_emplace({group, number}, First{rank, call})
                .first->second;
  }
  if (first.call == call) return OkStatus();
  const std::string text =
      StrCat("ranks do not do the same in collective ", number, ": rank ",
             first.rank, " does ", first.call, "; rank ", rank, " does ", call);
  Find(Finding::kMatching, text);
  return FailedPrecondition(text);
}

}  // namespace assay::ranks
