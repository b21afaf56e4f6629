// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/policy.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/metric/element.h"
#include "framework/testing/policy/line_scanner.h"

namespace assay::policy {
namespace {

namespace fs = std::filesystem;

/// "ml.Scaler" of "ai.onnx.ml::Scaler".
std::string NameOf(std::string_view qualified) {
  const size_t colons = qualified.find("::");
  return cases::OperatorName(qualified.substr(0, colons),
                             qualified.substr(colons + 2));
}

/// The sentence without its reason.
std::string Sentence(const Expectation& line) {
  const std::string verb =
      line.outcome.has_value()
          ? StrCat("expect ", ToString(*line.outcome),
                   line.at_some_seeds ? " at some seeds" : "")
          : StrCat("tolerate rtol=", file::ToText(line.tolerance->rtol),
                   " atol=", file::ToText(line.tolerance->atol));
  return StrCat(verb, " where ", line.where.text());
}

}  // namespace

/// Reads the files of one folder into a Policy.
class PolicyReader {
 public:
  PolicyReader(const fs::path& directory, const Facts& facts,
               std::string_view today, Reasons reasons)
      : directory_(directory),
        facts_(facts),
        today_(today),
        reasons_(reasons) {}

  Result<Policy> Read();

 private:
  Status ReadExpectations(const fs::path& file);
  Status AddExpectation(const std::string& source, std::string_view line);
  Status Include(const fs::path& from, const std::string& path);
  Status AddClaim(const std::string& source, std::string_view line);
  Status AddFloorLine(const std::string& source, std::string_view line);

  /// Calls take(source, line) for every line that is not blank or a comment.
  template <class Take>
  Status ForEachLine(const fs::path& file, Take take);

  /// True when lines with that condition are in force.
  bool Meets(const When& when) {
    policy_.needs_isa_ |= when.AsksForIsa();
    return when.Holds(facts_);
  }

  const fs::path& directory_;
  const Facts& facts_;
  const std::string_view today_;
  const Reasons reasons_;
  std::set<fs::path> included_;
  Policy policy_;
};

template <class Take>
Status PolicyReader::ForEachLine(const fs::path& file, Take take) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return InvalidArgument(file.string(), ": found ",
                           error ? error.message() : "no regular file",
                           ", wanted a policy file");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  const std::string name = file.lexically_relative(directory_).string();
  policy_.text_ += StrCat("# ", name, "\n", text, "\n");
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    std::string_view line = CutFront(&rest);
    while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
    while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') continue;
    const std::string source = StrCat(name, ":", number);
    const Status status = take(source, line);
    if (!status.ok()) {
      return status.WithContext(StrCat(file.string(), ":", number));
    }
  }
  return OkStatus();
}

Status PolicyReader::Include(const fs::path& from, const std::string& path) {
  // As the system resolves it, so that a linked folder includes from where its
  // files are.
  const fs::path file = from.parent_path() / path;
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(file, error)) {
    return InvalidArgument("found no file '", file.string(),
                           "', wanted one to include");
  }
  return ReadExpectations(file);
}

Status PolicyReader::ReadExpectations(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(file, error);
  // A file twice would be a circle, or lines that are said twice.
  if (!included_.insert(real).second) {
    return InvalidArgument(file.string(),
                           " is included a second time, wanted each file once");
  }
  return ForEachLine(file, [&](const std::string& source, auto line) {
    if (const auto path = ParseInclude(line)) return Include(file, *path);
    return AddExpectation(source, line);
  });
}

Status PolicyReader::AddExpectation(const std::string& source,
                                    std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(Expectation expectation, ParseExpectation(text));
  const bool reasoned =
      expectation.because.find_first_not_of(" \t") != std::string::npos;
  if (!reasoned && reasons_ == Reasons::kWanted) {
    return InvalidArgument(
        "the reason is empty, wanted one: say between the quotes why the case "
        "cannot be expected to pass");
  }
  const bool is_met = Meets(expectation.when);
  // ISO dates compare as text. A line is past its date on every machine.
  if (!expectation.until.empty() && expectation.until < today_) {
    expectation.source = source;
    policy_.outdated_.push_back(std::move(expectation));
    return OkStatus();
  }
  if (!is_met) return OkStatus();
  expectation.source = source;
  if (expectation.tolerance.has_value()) expectation.tolerance->source = source;
  policy_.expectations_.push_back(std::move(expectation));
  policy_.uses_.emplace_back();
  return OkStatus();
}

Status PolicyReader::AddClaim(const std::string& source,
                              std::string_view line) {
  ASSAY_ASSIGN_OR_RETURN(Claim claim, ParseClaim(line));
  claim.source = source;
  policy_.claim_tested_.push_back(claim.kind != Claim::Kind::kForward &&
                                  claim.kind != Claim::Kind::kGradient);
  policy_.claims_.push_back(std::move(claim));
  policy_.sums_.emplace_back();
  return OkStatus();
}

Status PolicyReader::AddFloorLine(const std::string& source,
                                  std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(FloorLine line, ParseFloorLine(text));
  const bool met = Meets(line.when);
  return policy_.floor_.Add(std::move(line), source, met);
}

Result<Policy> PolicyReader::Read() {
  policy_.today_ = today_;
  const auto read = [&](const char* name, const auto& reads) -> Status {
    const fs::path file = directory_ / name;
    std::error_code error;
    const auto status = fs::status(file, error);
    if (status.type() == fs::file_type::not_found) return OkStatus();
    if (!error) return reads(file);
    return InvalidArgument("cannot read ", file.string(), ": ",
                           error.message());
  };
  ASSAY_RETURN_IF_ERROR(read("expectations.txt", [&](const fs::path& file) {
    return ReadExpectations(file);
  }));
  ASSAY_RETURN_IF_ERROR(read("claims.txt", [&](const fs::path& file) {
    policy_.has_claims_file_ = true;
    return ForEachLine(file, std::bind_front(&PolicyReader::AddClaim, this));
  }));
  ASSAY_RETURN_IF_ERROR(read("passing.txt", [&](const fs::path& file) {
    return ForEachLine(file,
                       std::bind_front(&PolicyReader::AddFloorLine, this));
  }));
  return std::move(policy_);
}

CasePolicy Policy::Of(const cases::TestCase& test_case,
                      std::string_view backend) {
  if (cases::IsDefaultCorpus(test_case.corpus) && !test_case.own) {
    floor_.Consider(test_case);
  }
  for (const auto* operators : {&test_case.operators, &test_case.probes}) {
    for (const std::string& qualified : *operators) {
      tested_[test_case.claim].insert(NameOf(qualified));
    }
  }
  ClaimCheck check(claims_, test_case, backend);
  if (std::ranges::find(claim_tested_, false) != claim_tested_.end()) {
    check.Mark(&claim_tested_);
  }
  CasePolicy verdict;
  verdict.claimed = !claims_.empty() && check.Inside();
  verdict.probes = test_case.probes;
  if (verdict.claimed) {
    std::erase_if(verdict.probes, [&](const std::string& probe) {
      return !check.IsClaimed(probe);
    });
  }
  const QuerySubject subject = {test_case, backend, {}, {}};
  for (size_t i = expectations_.size(); i-- > 0;) {
    const Expectation& line = expectations_[i];
    if (!line.where.Matches(subject)) continue;
    Use& use = uses_[i];
    ++use.matched;
    const Expectation*& decides =
        line.outcome.has_value() ? verdict.expected : verdict.tolerated;
    if (decides != nullptr) continue;
    decides = &line;
    use.decides = true;
    if (verdict.claimed && line.outcome == record::Outcome::kUnsupported &&
        ++use.contradicted == 1) {
      use.contradiction = test_case.test_id;
    }
  }
  ClaimSums(test_case, subject, &verdict);
  return verdict;
}

void Policy::ClaimSums(const cases::TestCase& test_case,
                       const QuerySubject& subject, CasePolicy* verdict) {
  if (test_case.claim != Claim::Kind::kGradient ||
      test_case.operators.size() != 1) {
    return;
  }
  for (size_t i = claims_.size(); i-- > 0;) {
    const Claim& claim = claims_[i];
    if (claim.kind != Claim::Kind::kAccumulator ||
        !claim.where.Matches(subject)) {
      continue;
    }
    SumUse& use = sums_[i];
    use.operators.insert(NameOf(test_case.operators[0]));
    const auto wider =
        std::ranges::find_if(test_case.dtypes, [&](const std::string& name) {
          const auto type = ParseDType(name);
          return type.has_value() && IsFloatingPoint(*type) &&
                 metric::RangeOf(*type).digits >
                     metric::RangeOf(claim.accumulator).digits;
        });
    if (wider == test_case.dtypes.end()) {
      verdict->accumulator = &claim;
    } else if (++use.narrower == 1) {
      use.first = test_case.test_id;
      use.type = *wider;
    }
    return;
  }
}

std::string Policy::SumError(size_t claim) const {
  const SumUse& use = sums_[claim];
  const Claim& line = claims_[claim];
  // One that names a backend may be about another instance than this.
  if (use.operators.empty() && !line.where.NeedsBackend()) {
    return StrCat(line.text,
                  ": decides no gradient of one operator among the planned "
                  "cases");
  }
  if (use.narrower == 0) return "";
  return StrCat(line.text, ": declares sums in ", line.accumulator,
                ", which has fewer digits than ", use.type, " in ",
                use.narrower, " cases, first ", use.first,
                ": a departure is a line of expectations.txt");
}

std::string Policy::ClaimError(size_t claim) const {
  const Claim& line = claims_[claim];
  const bool sums = line.kind == Claim::Kind::kAccumulator;
  if (sums) {
    const std::string error = SumError(claim);
    if (!error.empty() || sums_[claim].operators.empty()) return error;
  }
  std::set<std::string> tested;
  if (sums) {
    tested = sums_[claim].operators;
  } else if (const auto found = tested_.find(line.kind);
             found != tested_.end()) {
    tested = found->second;
  }
  std::vector<std::string> untested;
  for (std::string& op : line.where.OperatorsNamed()) {
    if (!tested.contains(op)) untested.push_back(std::move(op));
  }
  if (untested.empty()) {
    // One that names a backend may be about another instance than this.
    if (claim_tested_[claim] || line.where.NeedsBackend()) return "";
    return StrCat(line.text, ": no planned case tests it");
  }
  const char* what = "forward";
  if (sums) what = "accumulator";
  if (line.kind == Claim::Kind::kGradient) what = "gradient";
  return StrCat("no case tests the ", what, " of ", Joined(untested),
                line.where.DidYouMean());
}

std::vector<ClaimCover> Policy::CoverOf(const cases::TestCase& test_case,
                                        std::string_view backend) const {
  return ClaimCheck(claims_, test_case, backend).Covers();
}

bool Policy::NeedsRanks() const {
  const auto needs = [](const auto& line) { return line.where.NeedsRanks(); };
  return std::ranges::any_of(expectations_, needs) ||
         std::ranges::any_of(claims_, needs);
}

std::vector<std::string> Policy::Errors() const {
  std::vector<std::string> lines;
  for (const Expectation& line : outdated_) {
    lines.push_back(StrCat(line.source, ": ", Sentence(line),
                           ": was good until ", line.until, " and today is ",
                           today_, ": mend the case, or give a later date"));
  }
  for (size_t i = 0; i < expectations_.size(); ++i) {
    const Use& use = uses_[i];
    std::string what;
    if (use.matched == 0) {
      // One that names a backend may be about another instance than this.
      if (expectations_[i].where.NeedsBackend()) continue;
      what = "matches no planned case";
    } else if (!use.decides) {
      what = StrCat("later lines decide all ", use.matched,
                    " cases that it matches");
    } else if (use.contradicted > 0) {
      what = StrCat("expects what the claims promise not to happen, in ",
                    use.contradicted, " cases, first ", use.contradiction,
                    ": narrow the line or the claims");
    } else {
      continue;
    }
    lines.push_back(StrCat(expectations_[i].source, ": ",
                           Sentence(expectations_[i]), ": ", what));
  }
  for (size_t i = 0; i < claims_.size(); ++i) {
    if (const std::string error = ClaimError(i); !error.empty()) {
      lines.push_back(StrCat(claims_[i].source, ": ", error));
    }
  }
  if (has_claims_file_ && claims_.empty()) {
    lines.emplace_back(
        "claims.txt: claims nothing, so that all may be declined: write what "
        "the backend promises, or remove the file");
  }
  std::ranges::move(floor_.Errors(), std::back_inserter(lines));
  return lines;
}

Result<Policy> ReadPolicy(const fs::path& directory, const Facts& facts,
                          std::string_view today, Reasons reasons) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    return InvalidArgument(directory.string(),
                           " is a file, wanted a folder of policy files");
  }
  return PolicyReader(directory, facts, today, reasons).Read();
}

Facts MachineFacts(std::vector<std::string> isa) {
  Facts facts = {.cpu = {}, .isa = std::move(isa)};
  const Result<std::string> cpuinfo = file::ReadFile("/proc/cpuinfo");
  if (cpuinfo.ok()) facts.cpu = CpuFeatures(*cpuinfo);
  return facts;
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  std::array<char, 11> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

}  // namespace assay::policy
