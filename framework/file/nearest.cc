// SPDX-License-Identifier: Apache-2.0

#include "framework/file/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <tuple>

#include "framework/core/text.h"

namespace assay::file {
namespace {

constexpr size_t kNearest = 5;

/// Levenshtein's distance.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string LastPart(const std::string& test_id) {
  return test_id.substr(test_id.rfind('/') + 1);
}

bool SameLetters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::vector<std::string> Nearest(const std::string& wanted,
                                 const std::vector<std::string>& known) {
  const std::string part = LastPart(wanted);
  const std::set<std::string> distinct(known.begin(), known.end());
  std::vector<std::tuple<size_t, size_t, std::string_view>> ranked;
  for (const std::string& id : distinct) {
    const bool whole = id.find(wanted) != std::string::npos;
    const bool last = !part.empty() && id.find(part) != std::string::npos;
    ranked.emplace_back(whole ? 0 : (last ? 1 : 2), Edits(wanted, id), id);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> ids;
  for (size_t i = 0; i < std::min(ranked.size(), kNearest); ++i) {
    ids.emplace_back(std::get<2>(ranked[i]));
  }
  return ids;
}

std::string NearestText(const std::string& wanted,
                        const std::vector<std::string>& known) {
  const auto ids = Nearest(wanted, known);
  return ids.empty() ? std::string()
                     : StrCat("; the nearest are ", Joined(ids));
}

std::string DidYouMean(std::string_view wanted,
                       std::span<const std::string> known) {
  // Two letters in the wrong order are two edits.
  const size_t most = std::max<size_t>(2, wanted.size() / 3);
  const std::string* best = nullptr;
  size_t fewest = std::min(most + 1, wanted.size());
  for (const std::string& word : known) {
    const size_t edits = SameLetters(wanted, word) ? 0 : Edits(wanted, word);
    if (edits >= fewest) continue;
    fewest = edits;
    best = &word;
  }
  return best == nullptr ? "" : StrCat("; did you mean ", *best, "?");
}

}  // namespace assay::file
