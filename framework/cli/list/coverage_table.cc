// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/coverage_table.h"

#include <algorithm>
#include <array>

#include "framework/core/text.h"

namespace assay::list {
namespace {

/// How much is touched of what there is.
struct Share {
  int64_t have = 0;
  int64_t want = 0;

  template <class Name>
  static Share Of(const Touched<Name>& touched) {
    Share share;
    share.want = std::ssize(touched);
    for (const auto& [name, n_cases] : touched) share.have += n_cases > 0;
    return share;
  }
  void Add(const Share& other) {
    have += other.have;
    want += other.want;
  }
  std::string ToString() const { return StrCat(have, "/", want); }
};

/// `text` at the right end of a column.
std::string Right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string Scores(const Coverage& row) {
  std::string text;
  for (const auto& [backend, score] : row.backends) {
    text += StrCat("  ", backend, " ", score.passed, "/", score.judged);
  }
  return text;
}

template <class Name>
std::string Holes(const Coverage& row, std::string_view kind,
                  const Touched<Name>& touched) {
  std::string text;
  for (const auto& [name, n_cases] : touched) {
    if (n_cases == 0) text += StrCat(row.op, " ", kind, " ", name, "\n");
  }
  return text;
}

using Cells = std::array<std::string, 5>;
constexpr size_t kWidths[] = {7, 8, 8, 9, 9};  // of them, up to 80 columns

std::string Line(const std::string& first, size_t width, const Cells& cells) {
  std::string text = first + std::string(width - first.size(), ' ');
  for (size_t i = 0; i < cells.size(); ++i) {
    text += Right(cells.at(i), kWidths[i]);
  }
  return text;
}

}  // namespace

std::string CoverageTable(const std::vector<Coverage>& rows) {
  size_t width = 8;
  for (const Coverage& row : rows) width = std::max(width, row.op.size());
  std::string text = Line("operator", width,
                          {"cases", "models", "opsets", "dtypes", "values"}) +
                     "\n";
  int64_t without = 0;
  std::array<Share, 3> totals;
  for (const Coverage& row : rows) {
    without += row.node_cases == 0 ? 1 : 0;
    const std::array<Share, 3> shares = {
        Share::Of(row.opsets), Share::Of(row.dtypes), Share::Of(row.values)};
    for (size_t i = 0; i < shares.size(); ++i) totals.at(i).Add(shares.at(i));
    text +=
        Line(row.op, width,
             {StrCat(row.node_cases), StrCat(row.models), shares[0].ToString(),
              shares[1].ToString(), shares[2].ToString()}) +
        Scores(row) + "\n";
  }
  return text + StrCat(rows.size(), " operators, ", without,
                       " without a case of their own; touched are ",
                       totals[0].ToString(), " versions,\n",
                       totals[1].ToString(), " element types and ",
                       totals[2].ToString(), " values of attributes\n");
}

std::string HoleLines(const std::vector<Coverage>& rows) {
  std::string text;
  for (const Coverage& row : rows) {
    text += Holes(row, "opset", row.opsets);
    text += Holes(row, "dtype", row.dtypes);
    text += Holes(row, "value", row.values);
  }
  return text;
}

}  // namespace assay::list
