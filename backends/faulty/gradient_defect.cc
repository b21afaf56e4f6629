// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/gradient_defect.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace assay::faulty {

const GradientRule* FindGradientRule(std::string_view name,
                                     std::string_view op_type) {
  static const std::vector<GradientRule> rules = [] {
    using Table = std::vector<GradientRule> (*)();
    constexpr Table kTables[] = {NumberGradientRules, PlaceGradientRules,
                                 ReadingGradientRules, MemoryGradientRules,
                                 FormulaGradientRules};
    std::vector<GradientRule> all;
    for (const Table table : kTables)
      std::ranges::move(table(), std::back_inserter(all));
    return all;
  }();
  const auto found = std::ranges::find_if(rules, [&](const GradientRule& rule) {
    return rule.name == name &&
           (rule.op_type.empty() || rule.op_type == op_type);
  });
  return found == rules.end() ? nullptr : &*found;
}

std::optional<GradientMutant> ParseGradientMutant(std::string_view mutant) {
  constexpr std::string_view kRule = "gradient:";
  constexpr std::string_view kAs = "as:";
  if (!mutant.starts_with(kRule)) return std::nullopt;
  mutant.remove_prefix(kRule.size());
  GradientMutant what;
  if (mutant.starts_with(kAs)) {
    what.mutant = mutant.substr(kAs.size());
    return what;
  }
  const size_t colon = mutant.find(':');
  const size_t dot = mutant.rfind('.');
  if (colon == mutant.npos || dot == mutant.npos || dot < colon) {
    return std::nullopt;
  }
  what.rule = mutant.substr(0, colon);
  what.op_type = mutant.substr(colon + 1, dot - colon - 1);
  const char* const end = mutant.data() + mutant.size();
  const auto read = std::from_chars(mutant.data() + dot + 1, end, what.input);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return what;
}

}  // namespace assay::faulty
