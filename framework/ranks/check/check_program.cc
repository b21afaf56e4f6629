// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/check/check_program.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/ranks/check/checked_endpoint.h"
#include "framework/ranks/threads/choices.h"
#include "framework/ranks/threads/threads.h"
#include "framework/ranks/wait/call_table.h"
#include "framework/ranks/wait/noted_endpoint.h"
#include "framework/ranks/wait/synchronous_endpoint.h"
#include "framework/ranks/wait/wait_report.h"

namespace assay::ranks {
namespace {

/// What the ranks of one run ended with.
struct RunEnd {
  Finding finding = Finding::kNone;
  std::string text;
  std::vector<std::string> results;
};

Finding FindingOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnsupported:
      return Finding::kParameter;
    case StatusCode::kDataLoss:
      return Finding::kMatching;
    default:
      return Finding::kOrder;
  }
}

RunEnd RunOnce(int ranks, const Program& program, bool is_synchronous,
               Choices* choices) {
  Board board(ranks);
  CallTable calls = CallTable::InMemory(ranks);
  RunEnd end;
  end.results.resize(static_cast<size_t>(ranks));
  std::vector<std::string> left;
  const std::vector<Status> ended = RunThreads(
      ranks,
      [&](Endpoint& mine) -> Status {
        std::unique_ptr<Endpoint> synchronous;
        if (is_synchronous) {
          ASSAY_ASSIGN_OR_RETURN(synchronous, SynchronousEndpoint::Of(mine));
        }
        NotedEndpoint noted(is_synchronous ? *synchronous : mine, &calls);
        CheckedEndpoint checked(&board, noted);
        ASSAY_ASSIGN_OR_RETURN(end.results[static_cast<size_t>(mine.rank())],
                               program(checked));
        board.EndWell(mine.rank());
        noted.End();
        return OkStatus();
      },
      choices, &left);
  std::tie(end.finding, end.text) = board.found();
  if (end.finding != Finding::kNone) return end;
  for (size_t rank = 0; rank < ended.size(); ++rank) {
    // The others are cancelled with who failed.
    if (ended[rank].ok() || ended[rank].code() == StatusCode::kCancelled) {
      continue;
    }
    end.finding = FindingOf(ended[rank]);
    end.text = StrCat("rank ", rank, ": ", ended[rank].message());
    const std::vector<RankState> states = calls.ReadAll();
    if (IsAnyInCall(states)) {
      end.text +=
          StrCat("; ", end.finding == Finding::kOrder ? ReportOf(states).text
                                                      : CallsText(states));
    }
    return end;
  }
  if (!left.empty()) {
    end.finding = Finding::kLost;
    end.text = Joined(left, "; ");
  }
  return end;
}

/// A rank that ended otherwise than in the first run.
std::string Difference(const std::vector<std::string>& first,
                       const std::vector<std::string>& now) {
  for (size_t rank = 0; rank < now.size(); ++rank) {
    if (first[rank] == now[rank]) continue;
    return StrCat("rank ", rank, " ends with ", now[rank], " in one order and ",
                  first[rank], " in another");
  }
  return "";
}

}  // namespace

Checked CheckProgram(int ranks, const Program& program, int64_t most) {
  Checked checked;
  std::optional<std::vector<std::string>> first;
  for (const bool is_synchronous : {false, true}) {
    ListedChoices orders;
    int64_t runs = 0;
    do {
      RunEnd end = RunOnce(ranks, program, is_synchronous, &orders);
      ++checked.runs;
      if (end.finding == Finding::kNone) {
        if (!first.has_value()) first = end.results;
        end.text = Difference(*first, end.results);
        if (!end.text.empty()) end.finding = Finding::kRace;
      }
      if (end.finding != Finding::kNone) {
        checked.finding = end.finding;
        checked.text = StrCat(ToString(end.finding), ": ", end.text);
        return checked;
      }
    } while (++runs < most && orders.GoOn());
  }
  return checked;
}

}  // namespace assay::ranks
