// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/case.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "conformance/distributed/own/own_grid.h"
#include "conformance/distributed/scheme/scheme_run.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/nearest.h"

namespace assay::distributed {
namespace {

struct CaseSize {
  int64_t ranks = 1;
  std::optional<int64_t> steps, elements;
};

CaseSize SizeOf(const CollectiveCase& of) {
  CaseSize size{.ranks = of.what.ranks};
  if (of.what.operation != ranks::Operation::kBarrier) {
    size.elements = of.what.count;
  }
  return size;
}
CaseSize SizeOf(const OwnCase& of) {
  CaseSize size = SizeOf(of.of);
  size.ranks = of.ranks();
  return size;
}
CaseSize SizeOf(const NeighborCase& of) {
  return {.ranks = of.ranks, .elements = of.count};
}
CaseSize SizeOf(const SchemeCase& of) {
  return {.ranks = of.ranks, .steps = of.steps};
}
CaseSize SizeOf(const MixingCase& of) { return {.ranks = of.ranks}; }
CaseSize SizeOf(const NetworkCase& of) {
  CaseSize size{.ranks = of.by.ranks};
  if (of.goal == 0) size.steps = of.steps;  // else the run ends at the goal
  return size;
}
CaseSize SizeOf(const AnyCase& any) {
  return std::visit([](const auto& each) { return SizeOf(each); }, any);
}

void Put(const CaseSize& size, CollectiveCase* to) {
  to->what.ranks = static_cast<int>(size.ranks);
  to->what.count = size.elements.value_or(to->what.count);
}
void Put(const CaseSize& size, OwnCase* to) {
  CaseSize part = size;
  if (Splits(to->way)) part.ranks /= 2;
  Put(part, &to->of);
}
void Put(const CaseSize& size, NeighborCase* to) {
  to->ranks = static_cast<int>(size.ranks);
  to->count = size.elements.value_or(to->count);
}
void Put(const CaseSize& size, SchemeCase* to) {
  to->ranks = static_cast<int>(size.ranks);
  to->steps = size.steps.value_or(to->steps);
}
void Put(const CaseSize& size, MixingCase* to) {
  to->ranks = static_cast<int>(size.ranks);
}
void Put(const CaseSize& size, NetworkCase* to) {
  to->by.ranks = static_cast<int>(size.ranks);
  if (to->goal == 0) to->steps = size.steps.value_or(to->steps);
}

AnyCase WithSize(AnyCase any, const CaseSize& size) {
  std::visit([&](auto& each) { Put(size, &each); }, any);
  return any;
}

bool IsPower(int64_t ranks) {
  return std::has_single_bit(static_cast<uint64_t>(ranks));
}

// True where the case is defined for this number of ranks, 1 or more.
bool CanHave(const CollectiveCase&, int64_t) { return true; }
bool CanHave(const OwnCase& of, int64_t ranks) {
  return !Splits(of.way) || ranks % 2 == 0;
}
bool CanHave(const NeighborCase&, int64_t) { return true; }
bool CanHave(const SchemeCase& of, int64_t ranks) {
  return HasMean(of.scheme, ranks);
}
bool CanHave(const MixingCase& of, int64_t ranks) {
  if (const auto* const push_sum = std::get_if<PushSum>(&of.scheme);
      push_sum != nullptr && push_sum->graph == ranks::Directed::kOnePeer) {
    return ranks > 1 && IsPower(ranks);
  }
  // Active and passive ranks alternate in the ring.
  if (std::holds_alternative<AdPsgd>(of.scheme)) return ranks % 2 == 0;
  return ranks > 1;
}
bool CanHave(const NetworkCase& of, int64_t ranks) {
  // A batch of a run to a goal has as many samples on each rank.
  return of.goal == 0 || IsPower(ranks);
}

bool CanHaveRanks(const AnyCase& any, int64_t ranks) {
  return std::visit([&](const auto& each) { return CanHave(each, ranks); },
                    any);
}

std::vector<int64_t> UpTo(int64_t least, int64_t most) {
  std::vector<int64_t> values;
  for (int64_t value = least; value <= most; ++value) values.push_back(value);
  return values;
}

/// A name split into its family and its numbers:
/// "distributed/allreduce/ring.float32.sum#", 3 ranks and 6 elements.
struct ParsedName {
  std::string family;
  CaseSize size;
};

ParsedName Parse(std::string_view test_id) {
  ParsedName parsed;
  std::string_view behind = test_id;
  std::string_view front = CutFront(&behind, "#");
  if (const size_t dot = front.rfind('.'); dot != std::string_view::npos) {
    parsed.size.elements = file::ParseInt(front.substr(dot + 1));
    if (parsed.size.elements.has_value()) front = front.substr(0, dot);
  }
  parsed.family = StrCat(front, "#");
  const auto number = [](std::string_view word, std::string_view name) {
    return word.starts_with(name) ? file::ParseInt(word.substr(name.size()))
                                  : std::nullopt;
  };
  while (!behind.empty()) {
    const std::string_view word = CutFront(&behind, ".");
    if (const auto ranks = number(word, "n")) {
      parsed.size.ranks = *ranks;
    } else if (const auto steps = number(word, kStepsWord)) {
      parsed.size.steps = steps;
    } else {
      parsed.family += StrCat(".", word);
    }
  }
  return parsed;
}

/// True where every number is from its least possible value to that of `most`.
bool IsWithin(const CaseSize& size, const CaseSize& most) {
  const auto is_within = [](const std::optional<int64_t>& value, int64_t least,
                            const std::optional<int64_t>& greatest) {
    return !value.has_value() ||
           (*value >= least && *value <= greatest.value_or(*value));
  };
  return is_within(size.ranks, 1, most.ranks) &&
         is_within(size.steps, 1, most.steps) &&
         is_within(size.elements, 0, most.elements);
}

std::vector<AnyCase> CasesWith(const std::vector<OwnCase>& own) {
  std::vector<AnyCase> all;
  const auto add = [&](const auto& cases) {
    all.insert(all.end(), cases.begin(), cases.end());
  };
  add(AllCollectiveCases());
  add(own);
  add(AllNeighborCases());
  add(AllSchemeCases());
  add(AllMixingCases());
  add(AllNetworkCases());
  return all;
}

/// The cases of the plan by test_id, and by family; of the library's own
/// collectives the largest.
struct PlanNames {
  static const PlanNames& Get() {
    static const PlanNames& names = *new PlanNames();
    return names;
  }

  PlanNames() {
    for (const AnyCase& each : CasesWith(LargestOwnCases())) {
      const std::string id = IdOf(each);
      families[Parse(id).family].push_back(each);
      cases.emplace(id, each);
    }
  }

  std::map<std::string, AnyCase, std::less<>> cases;
  std::map<std::string, std::vector<AnyCase>> families;
};

/// The most that any of the cases has which has these ranks or more.
CaseSize MostOf(std::span<const AnyCase> family, int64_t ranks) {
  CaseSize most{.ranks = 0};
  for (const AnyCase& each : family) {
    const CaseSize size = SizeOf(each);
    most.ranks = std::max(most.ranks, size.ranks);
    if (size.ranks < ranks || !CanHaveRanks(each, ranks)) continue;
    most.steps = std::max(most.steps, size.steps);
    most.elements = std::max(most.elements, size.elements);
  }
  return most;
}

/// "found 9 elements, wanted 0 to 5"; empty where there are so many.
std::string BeyondText(const char* what, const std::optional<int64_t>& found,
                       int64_t least, const std::optional<int64_t>& most) {
  if (found.has_value() && most.has_value() && *found >= least &&
      *found <= *most) {
    return "";
  }
  if (found == most) return "";  // the name has none, and needs none
  return StrCat("found ", found.has_value() ? StrCat(*found) : "no number of ",
                found.has_value() ? " " : "", what, ", wanted ",
                most.has_value() ? StrCat(least, " to ", *most) : "none");
}

/// In place of a word where a name ends.
constexpr char kNoMore[] = "no more";

/// "distributed/allreduce/own.float32.sum#" in words.
std::vector<std::string> WordsOf(std::string_view family) {
  constexpr std::string_view kEnds = "/.#";
  std::vector<std::string> words;
  while (!family.empty()) {
    const std::string_view word = family.substr(0, family.find_first_of(kEnds));
    if (!word.empty()) words.emplace_back(word);
    family.remove_prefix(std::min(word.size() + 1, family.size()));
  }
  return words;
}

/// The words that cases have behind these.
std::vector<std::string> WordsBehind(std::span<const std::string> front) {
  std::set<std::string> known;
  for (const auto& [family, cases] : PlanNames::Get().families) {
    const std::vector<std::string> words = WordsOf(family);
    if (words.size() < front.size() ||
        !std::ranges::equal(std::span(words).first(front.size()), front)) {
      continue;
    }
    known.insert(words.size() == front.size() ? kNoMore : words[front.size()]);
  }
  return {known.begin(), known.end()};
}

/// "found 'tree' behind distributed allreduce, wanted linear or ring", of the
/// first word that no case has there; empty where some case has all of them.
std::string UnknownWord(std::vector<std::string> found) {
  found.emplace_back(kNoMore);
  for (size_t at = 0; at < found.size(); ++at) {
    const auto front = std::span(found).first(at);
    const std::vector<std::string> known = WordsBehind(front);
    if (std::ranges::count(known, found[at]) > 0) continue;
    return StrCat("found '", found[at], "' behind ", Joined(front, " "),
                  ", wanted ", Joined(known, " or "),
                  file::DidYouMean(found[at], known));
  }
  return "";
}

constexpr char kDomain[] = "dist";

/// Why a pass on one rank would prove nothing.
constexpr char kAlone[] = "one rank has nobody to exchange anything with";

/// Sets the facts of a planned case but for its name.
void Describe(const CollectiveCase& from, cases::TestCase* c) {
  c->kind = "collective";
  c->dtypes = {std::string(ToString(from.type))};
  c->shape_sig = "[" + std::to_string(ranks::ElementsOf(from.what)) + "]";
  c->n_ranks = from.what.ranks;
  c->tier = from.tier();
  c->drawn = from.numbers == Numbers::kDrawn;
  if (from.what.ranks == 1) c->vacuous = kAlone;
}

void Describe(const OwnCase& from, cases::TestCase* c) {
  Describe(from.of, c);
  c->n_ranks = from.ranks();
  c->tier = std::max(c->tier, from.tier);
  const ranks::Collective& what = from.of.what;
  c->attributes = {{"way", std::string(ToString(from.way))}};
  if (what.operation == ranks::Operation::kBarrier) return;
  c->attributes["block"] =
      std::to_string(what.count * BitsOf(from.of.type) / 8);
  if (Reduces(what.operation)) {
    c->attributes["reduction"] = ToString(from.of.reduction);
  }
}

void Describe(const NeighborCase& from, cases::TestCase* c) {
  c->kind = "collective";
  c->dtypes = {"int64"};
  c->shape_sig = Shape({from.count}).ToString();
  c->n_ranks = from.ranks;
  c->attributes = {{"topology", std::string(ToString(from.topology))},
                   {"way", std::string(from.way())}};
  if (from.ranks == 1) c->vacuous = kAlone;
}

void Describe(const SchemeCase& from, cases::TestCase* c) {
  c->kind = "scheme";
  c->dtypes = {"float32"};
  c->n_ranks = from.ranks;
  c->tier = from.tier();
  c->attributes = {{"optimizer", from.optimizer}, {"way", from.way}};
}

void Describe(const MixingCase& from, cases::TestCase* c) {
  c->kind = "scheme";
  c->dtypes = {"float64"};
  c->n_ranks = from.ranks;
}

void Describe(const NetworkCase& from, cases::TestCase* c) {
  Describe(from.by, c);
  c->kind = "network";
  c->ranks_train = true;
  c->drawn = true;  // the samples of a batch
  c->tier = from.tier();
  c->attributes["scheme"] = from.by.scheme;
  c->limit.source = "bits of ranks, bytes, and 1e-4 of the longest way";
}

cases::TestCase Planned(const AnyCase& any) {
  cases::TestCase c;
  c.test_id = IdOf(any);
  c.corpus = c.suite = "distributed";
  std::string_view rest = c.test_id;
  CutFront(&rest, "/");
  const std::string op(CutFront(&rest, "/"));
  c.op = cases::OperatorName(kDomain, op);
  c.domain = kDomain;
  c.opset = 1;
  c.imports = {{c.domain, c.opset}};
  c.operators = {StrCat(kDomain, "::", op)};
  c.ranks[c.operators[0]] = {cases::kNoRank};
  c.value_kinds = {"tensor"};
  c.limit = {record::Comparator::kExact, 0, 0, "bits, bytes and bounds"};
  std::visit([&](const auto& each) { Describe(each, &c); }, any);
  return c;
}

}  // namespace

std::vector<AnyCase> AllCases() { return CasesWith(AllOwnCases()); }

std::string IdOf(const AnyCase& any) {
  return std::visit([](const auto& each) { return each.test_id(); }, any);
}

std::optional<AnyCase> CaseNamed(std::string_view test_id) {
  const PlanNames& plan = PlanNames::Get();
  const auto listed = plan.cases.find(test_id);
  if (listed != plan.cases.end()) return listed->second;
  const ParsedName parsed = Parse(test_id);
  const auto family = plan.families.find(parsed.family);
  if (family == plan.families.end()) return std::nullopt;
  for (const AnyCase& planned : family->second) {
    if (!IsWithin(parsed.size, SizeOf(planned)) ||
        !CanHaveRanks(planned, parsed.size.ranks)) {
      continue;
    }
    // A name in another spelling, or with numbers that the case has not, names
    // no case.
    AnyCase found = WithSize(planned, parsed.size);
    if (IdOf(found) == test_id) return found;
  }
  return std::nullopt;
}

std::string WhyNone(std::string_view test_id) {
  const PlanNames& plan = PlanNames::Get();
  const ParsedName parsed = Parse(test_id);
  const auto family = plan.families.find(parsed.family);
  if (family == plan.families.end()) return UnknownWord(WordsOf(parsed.family));
  const int64_t ranks = parsed.size.ranks;
  const CaseSize most = MostOf(family->second, ranks);
  if (std::string text = BeyondText("ranks", ranks, 1, most.ranks);
      !text.empty()) {
    return text;
  }
  const auto can = [&](const AnyCase& each) {
    return CanHaveRanks(each, ranks);
  };
  if (std::ranges::none_of(family->second, can)) {
    return StrCat("the case is not defined for ", ranks, " ranks");
  }
  for (const std::string& text :
       {BeyondText("elements", parsed.size.elements, 0, most.elements),
        BeyondText(
            "steps", parsed.size.steps, 1,
            parsed.size.steps.has_value() ? most.steps : std::nullopt)}) {
    if (!text.empty()) return StrCat(text, " with ", ranks, " ranks");
  }
  return StrCat("wanted a name that is written as ",
                IdOf(family->second.front()));
}

std::vector<suite::Extent> ExtentsOf(const AnyCase& any) {
  const CaseSize size = SizeOf(any);
  suite::Extent ranks{"ranks", UpTo(1, size.ranks)};
  std::erase_if(ranks.values,
                [&](int64_t value) { return !CanHaveRanks(any, value); });
  std::vector<suite::Extent> extents = {std::move(ranks)};
  if (size.steps.has_value()) {
    extents.push_back({"steps", UpTo(1, *size.steps)});
  }
  if (size.elements.has_value()) {
    extents.push_back({"elements", UpTo(0, *size.elements)});
  }
  return extents;
}

AnyCase Resized(AnyCase any, std::span<const int64_t> values) {
  CaseSize size = SizeOf(any);
  size.ranks = values[0];
  size_t next = 1;
  if (size.steps.has_value()) size.steps = values[next++];
  if (size.elements.has_value()) size.elements = values[next];
  return WithSize(std::move(any), size);
}

std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> planned;
  for (const AnyCase& each : AllCases()) planned.push_back(Planned(each));
  return planned;
}

suite::Sizing CaseSizing() {
  return {
      .named = [](std::string_view test_id) -> std::optional<suite::SizedCase> {
        const std::optional<AnyCase> found = CaseNamed(test_id);
        if (!found.has_value()) return std::nullopt;
        return suite::SizedCase{
            Planned(*found), ExtentsOf(*found),
            [any = *found](std::span<const int64_t> values) {
              return Planned(Resized(any, values));
            }};
      },
      .why_none = &WhyNone,
      .right = [](const cases::TestCase& test_case) -> std::string {
        return test_case.ranks_train ? "reference+ranks=threads" : "threads";
      }};
}

measure::Judgement RunPlanned(const record::PlanRow& row, Ranks& ranks,
                              Backend* networks, const record::RunFacts& facts,
                              record::Record* record) {
  const std::optional<AnyCase> found = CaseNamed(row.test_id);
  if (!found.has_value()) {
    return {record::Outcome::kError, Reason::kReader,
            "no case of ranks has that name"};
  }
  if (std::holds_alternative<NetworkCase>(*found) && networks == nullptr) {
    return {record::Outcome::kUnsupported, Reason::kOperator,
            "there is no backend whose networks ranks could train"};
  }
  const RunOf run = {ranks, row.transport, facts.seed, networks, facts.scratch};
  return std::visit(
      [&](const auto& each) { return RunCase(each, run, record); }, *found);
}

}  // namespace assay::distributed
