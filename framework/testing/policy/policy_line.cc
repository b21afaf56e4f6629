// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/policy_line.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <set>

#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/testing/policy/line_scanner.h"

namespace assay::policy {
namespace {

/// The outcomes that a line may expect. Every case is expected to pass without
/// a line; the others are made from expectations, or made by no case.
constexpr std::array kExpectable = {
    record::Outcome::kFail,        record::Outcome::kSuspect,
    record::Outcome::kUnsupported, record::Outcome::kFlaky,
    record::Outcome::kError,       record::Outcome::kCrash,
    record::Outcome::kTimeout};

Result<Query> ParseWhere(std::string_view text) {
  if (text.empty())
    return InvalidArgument("found nothing behind where, wanted a query");
  Result<Query> query = Query::Parse(text);
  if (!query.ok()) {
    return query.status().WithContext(StrCat("in the query '", text, "'"));
  }
  if (query->NeedsOutcome()) {
    return InvalidArgument("the query '", text,
                           "' asks for an outcome or a reason, which is what "
                           "the line is to decide");
  }
  return query;
}

Result<record::Outcome> ParseExpected(std::string_view word) {
  const auto outcome = record::ParseOutcome(word);
  const bool known =
      outcome.has_value() &&
      std::ranges::find(kExpectable, *outcome) != kExpectable.end();
  if (known) return *outcome;
  return InvalidArgument(
      "found ", word.empty() ? "the end" : StrCat("'", word, "'"),
      outcome == record::Outcome::kPass ? ", which is expected of every case"
                                        : "",
      ", wanted one of ", Joined(kExpectable));
}

Status ParseTolerance(LineScanner& scanner, cases::Limit* limit) {
  std::optional<double> rtol;
  std::optional<double> atol;
  for (int i = 0; i < 2; ++i) {
    const std::string_view word = scanner.Word();
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    auto& target = name == "rtol" ? rtol : atol;
    if ((name != "rtol" && name != "atol") || target.has_value()) {
      return InvalidArgument("found '", word, "', wanted rtol=R atol=A");
    }
    target = file::ParseDouble(word.substr(std::min(equals + 1, word.size())));
    if (!target.has_value() || !std::isfinite(*target) || *target < 0) {
      return InvalidArgument("found '", word, "', wanted ", name,
                             "= and a number of at least 0");
    }
  }
  limit->comparator = record::Comparator::kTolerance;
  limit->rtol = *rtol;
  limit->atol = *atol;
  return OkStatus();
}

/// True when the text is a day, as 2027-03-01.
bool IsDate(std::string_view text) {
  std::string form(text);
  std::ranges::replace_if(
      form, [](unsigned char c) { return std::isdigit(c) != 0; }, '0');
  if (form != "0000-00-00") return false;
  const auto year = file::ParseInt(text.substr(0, 4));
  const auto month = file::ParseInt(text.substr(5, 2));
  const auto day = file::ParseInt(text.substr(8));
  return std::chrono::year_month_day(
             std::chrono::year(static_cast<int>(*year)),
             std::chrono::month(static_cast<unsigned>(*month)),
             std::chrono::day(static_cast<unsigned>(*day)))
      .ok();
}

/// `[not] cpu:FEATURE` or `[not] isa:SET`.
Status ParseTerm(LineScanner& scanner, When* when) {
  const bool negated = scanner.Take("not");
  const std::string_view word = scanner.Word();
  for (size_t i = 0; i < When::kKeys.size(); ++i) {
    const std::string_view key = When::kKeys.at(i);
    if (!word.starts_with(key) || word.size() == key.size()) continue;
    when->Add(negated, static_cast<When::Key>(i), word.substr(key.size()));
    return OkStatus();
  }
  return InvalidArgument("found '", word,
                         "' behind when, wanted cpu:FEATURE or isa:SET");
}

/// `[when TERM [and TERM]...]` and then the end.
Status ParseWhen(LineScanner& scanner, When* when) {
  for (bool more = scanner.Take("when"); more; more = scanner.Take("and")) {
    ASSAY_RETURN_IF_ERROR(ParseTerm(scanner, when));
  }
  return scanner.AtEnd() ? OkStatus() : scanner.Wanted("the end of the line");
}

/// `[at some seeds]`, which draw the inputs of a case and not the machine that
/// it crashes on.
Status ParseSeeds(LineScanner& scanner, Expectation* expectation) {
  if (!scanner.Take("at")) return OkStatus();
  ASSAY_RETURN_IF_ERROR(scanner.Expect("some"));
  ASSAY_RETURN_IF_ERROR(scanner.Expect("seeds"));
  if (expectation->outcome != record::Outcome::kFail) {
    return InvalidArgument("found expect ", *expectation->outcome,
                           " at some seeds, wanted expect fail at some seeds: "
                           "a seed draws numbers, which decide of no other "
                           "outcome");
  }
  expectation->at_some_seeds = true;
  return OkStatus();
}

/// `where QUERY because "..." [until DATE] [when CONDITION]`.
Status ParseRest(LineScanner& scanner, Expectation* line) {
  ASSAY_RETURN_IF_ERROR(scanner.Expect("where"));
  ASSAY_ASSIGN_OR_RETURN(line->where, ParseWhere(scanner.Until("because")));
  ASSAY_RETURN_IF_ERROR(scanner.Expect("because"));
  ASSAY_ASSIGN_OR_RETURN(line->because, scanner.Quoted("a reason in quotes"));
  if (scanner.Take("until")) {
    line->until = scanner.Word();
    if (!IsDate(line->until)) {
      return InvalidArgument("found '", line->until,
                             "' behind until, wanted a day as 2027-03-01");
    }
  }
  return ParseWhen(scanner, &line->when);
}

/// `N cases of SUITE digest HEX`.
Status ParseMakes(LineScanner& scanner, FloorLine* line) {
  line->kind = FloorLine::Kind::kMakes;
  const std::string_view number = scanner.Word();
  const auto cases = file::ParseInt(number);
  if (!cases.has_value() || *cases < 1) {
    return InvalidArgument("found '", number, "', wanted a number of cases");
  }
  line->makes.cases = *cases;
  ASSAY_RETURN_IF_ERROR(scanner.Expect("cases"));
  ASSAY_RETURN_IF_ERROR(scanner.Expect("of"));
  line->name = scanner.Word();
  ASSAY_RETURN_IF_ERROR(scanner.Expect("digest"));
  line->makes.digest = scanner.Word();
  return scanner.AtEnd() ? OkStatus() : scanner.Wanted("the end of the line");
}

/// The type behind `claim accumulator`.
Result<DType> ParseAccumulator(std::string_view word) {
  constexpr std::array kTypes = {DType::kFloat16, DType::kBFloat16,
                                 DType::kFloat32, DType::kFloat64};
  const auto type = ParseDType(word);
  if (type.has_value() && std::ranges::find(kTypes, *type) != kTypes.end()) {
    return *type;
  }
  return InvalidArgument("found ",
                         word.empty() ? "the end" : StrCat("'", word, "'"),
                         " behind accumulator, wanted one of ", Joined(kTypes));
}

Result<MutantLine> ParseMutantLine(std::string_view text) {
  LineScanner scanner(text);
  MutantLine line;
  ASSAY_RETURN_IF_ERROR(scanner.Expect("mutant"));
  line.name = scanner.Word();
  ASSAY_RETURN_IF_ERROR(scanner.Expect("of"));
  line.kind = scanner.Word();
  if (scanner.Take("where")) line.where = scanner.Until("killed");
  ASSAY_RETURN_IF_ERROR(scanner.Expect("killed"));
  ASSAY_RETURN_IF_ERROR(scanner.Expect("by"));
  line.killer = scanner.Word();
  ASSAY_RETURN_IF_ERROR(scanner.Expect("because"));
  ASSAY_ASSIGN_OR_RETURN(line.because, scanner.Quoted("what is wrong"));
  if (scanner.AtEnd()) return line;
  return scanner.Wanted("the end of the line");
}

}  // namespace

bool When::Holds(const Facts& facts) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    const auto& known = term.key == Key::kCpu ? facts.cpu : facts.isa;
    const bool has = std::ranges::find(known, term.value) != known.end();
    return !known.empty() && has != term.negated;
  });
}

bool When::AsksForIsa() const {
  return std::ranges::any_of(
      terms_, [](const Term& term) { return term.key == Key::kIsa; });
}

std::string When::text() const {
  if (terms_.empty()) return "";
  return StrCat("when ", Joined(terms_, " and ", [](const Term& term) {
                  return StrCat(term.negated ? "not " : "",
                                kKeys.at(static_cast<size_t>(term.key)),
                                term.value);
                }));
}

Result<Expectation> ParseExpectation(std::string_view text) {
  LineScanner scanner(text);
  Expectation line;
  if (scanner.Take("expect")) {
    ASSAY_ASSIGN_OR_RETURN(line.outcome, ParseExpected(scanner.Word()));
    ASSAY_RETURN_IF_ERROR(ParseSeeds(scanner, &line));
  } else if (scanner.Take("tolerate")) {
    ASSAY_RETURN_IF_ERROR(ParseTolerance(scanner, &line.tolerance.emplace()));
  } else {
    return scanner.Wanted("include, expect or tolerate");
  }
  ASSAY_RETURN_IF_ERROR(ParseRest(scanner, &line));
  return line;
}

Result<Claim> ParseClaim(std::string_view text) {
  LineScanner scanner(text);
  Claim claim = {};
  claim.text = text;
  ASSAY_RETURN_IF_ERROR(scanner.Expect("claim"));
  if (scanner.Take("deterministic")) {
    claim.kind = Claim::Kind::kDeterministic;
    ASSAY_RETURN_IF_ERROR(scanner.Expect("run-to-run"));
    if (scanner.AtEnd()) return claim;
    return scanner.Wanted("the end of the line");
  }
  if (scanner.Take("gradient")) {
    claim.kind = Claim::Kind::kGradient;
  } else if (scanner.Take("forward")) {
    claim.kind = Claim::Kind::kForward;
  } else if (scanner.Take("accumulator")) {
    claim.kind = Claim::Kind::kAccumulator;
    ASSAY_ASSIGN_OR_RETURN(claim.accumulator, ParseAccumulator(scanner.Word()));
  } else {
    return scanner.Wanted("forward, gradient, accumulator or deterministic");
  }
  ASSAY_RETURN_IF_ERROR(scanner.Expect("where"));
  // Without this a reason would be read as texts to look for.
  ASSAY_ASSIGN_OR_RETURN(claim.where, ParseWhere(scanner.Until("because")));
  if (const std::string asked = claim.where.AsksOfCase(); !asked.empty()) {
    return InvalidArgument(
        "the claim asks for ", asked,
        ", wanted op, domain, opset, dtype, rank, attr or backend: "
        "a claim is of operators, whatever cases test them");
  }
  if (scanner.AtEnd()) return claim;
  return scanner.Wanted("the end of the line");
}

Result<FloorLine> ParseFloorLine(std::string_view text) {
  LineScanner scanner(text);
  FloorLine line;
  if (scanner.Take("makes")) {
    ASSAY_RETURN_IF_ERROR(ParseMakes(scanner, &line));
    return line;
  }
  if (scanner.Take("all")) {
    line.kind = FloorLine::Kind::kAll;
  } else if (scanner.Take("but")) {
    ASSAY_RETURN_IF_ERROR(scanner.Expect("not"));
    line.kind = FloorLine::Kind::kButNot;
  } else {
    line.name = scanner.Word();
    if (!cases::IsTestId(line.name)) {
      return InvalidArgument("found '", line.name,
                             "', wanted all where, but not where, makes, or a "
                             "test_id: suite/op/case in letters, digits and "
                             "_.#+-");
    }
    ASSAY_RETURN_IF_ERROR(ParseWhen(scanner, &line.when));
    return line;
  }
  ASSAY_RETURN_IF_ERROR(scanner.Expect("where"));
  ASSAY_ASSIGN_OR_RETURN(line.where, ParseWhere(scanner.Until("when")));
  if (line.where.NeedsBackend()) {
    return InvalidArgument("the query '", line.where.text(),
                           "' asks for a backend, but a floor is the same for "
                           "all instances");
  }
  if (line.where.NeedsRanks()) {
    return InvalidArgument("the query '", line.where.text(),
                           "' asks for ranks, but a floor is of what the table "
                           "of cases has: name operators or cases");
  }
  ASSAY_RETURN_IF_ERROR(ParseWhen(scanner, &line.when));
  return line;
}

std::optional<std::vector<std::string>> IdsOf(std::string_view query) {
  constexpr std::string_view kId = "id:";
  constexpr std::string_view kOr = " or ";
  std::vector<std::string> ids;
  while (true) {
    if (!query.starts_with(kId)) return std::nullopt;
    const size_t end = std::min(query.find(' '), query.size());
    ids.emplace_back(query.substr(kId.size(), end - kId.size()));
    if (!cases::IsTestId(ids.back())) return std::nullopt;  // has a wildcard
    query.remove_prefix(end);
    if (query.empty()) return ids;
    if (!query.starts_with(kOr)) return std::nullopt;
    query.remove_prefix(kOr.size());
  }
}

std::string QueryOf(const std::vector<std::string>& test_ids) {
  return Joined(test_ids, " or ",
                [](const std::string& id) { return StrCat("id:", id); });
}

std::optional<std::string> ParseInclude(std::string_view text) {
  LineScanner scanner(text);
  if (!scanner.Take("include")) return std::nullopt;
  return std::string(scanner.Until(""));
}

std::vector<std::string> CpuFeatures(std::string_view cpuinfo) {
  std::vector<std::string> features;
  while (!cpuinfo.empty()) {
    const std::string_view line = CutFront(&cpuinfo);
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    const size_t colon = std::min(line.find(':'), line.size() - 1);
    LineScanner words(line.substr(colon + 1));
    while (!words.AtEnd()) features.emplace_back(words.Word());
    break;
  }
  return features;
}

Result<std::vector<MutantLine>> ReadMutantLines(
    const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kMutantsFile;
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  std::vector<MutantLine> lines;
  std::set<std::string> names;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = CutFront(&rest);
    if (line.empty() || line.front() == '#') continue;
    Result<MutantLine> parsed = ParseMutantLine(line);
    Status status = parsed.status();
    if (status.ok() && !names.insert(parsed->name).second) {
      status = InvalidArgument("found the mutant ", parsed->name,
                               " a second time, wanted each once");
    }
    if (!status.ok()) {
      return status.WithContext(StrCat(file.string(), ":", number));
    }
    lines.push_back(*std::move(parsed));
  }
  return lines;
}

}  // namespace assay::policy
