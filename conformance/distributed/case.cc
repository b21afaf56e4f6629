// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/case.h"

#include <bit>
#include <functional>
#include <map>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"

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
  if (of.goal == 0) size.steps = of.steps;  // else as many as it takes
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
  if (to->way == Way::kSplit) part.ranks /= 2;
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

// What so many ranks, one or more, promise nothing in is no case.
bool CanHave(const CollectiveCase&, int64_t) { return true; }
bool CanHave(const OwnCase& of, int64_t ranks) {
  return of.way != Way::kSplit || ranks % 2 == 0;
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
  // Every second rank of a ring asks, and the others answer.
  if (std::holds_alternative<AdPsgd>(of.scheme)) return ranks % 2 == 0;
  return ranks > 1;
}
bool CanHave(const NetworkCase& of, int64_t ranks) {
  // The batches of a run to a goal have as many samples for each rank.
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

/// A name without its numbers, and these: "distributed/allreduce/ring.float32.sum#", 3
/// ranks and 6 elements.
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

/// True for none of the numbers below what there can be, or beyond those of `most`.
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

/// The cases of the plan by their test_ids, and by their names without numbers.
struct PlanNames {
  PlanNames() {
    for (const AnyCase& each : AllCases()) {
      const std::string id = IdOf(each);
      families[Parse(id).family].push_back(each);
      cases.emplace(id, each);
    }
  }

  std::map<std::string, AnyCase, std::less<>> cases;
  std::map<std::string, std::vector<AnyCase>> families;
};

}  // namespace

std::vector<AnyCase> AllCases() {
  std::vector<AnyCase> all;
  const auto add = [&](const auto& cases) {
    all.insert(all.end(), cases.begin(), cases.end());
  };
  add(AllCollectiveCases());
  add(AllOwnCases());
  add(AllNeighborCases());
  add(AllSchemeCases());
  add(AllMixingCases());
  add(AllNetworkCases());
  return all;
}

std::string IdOf(const AnyCase& any) {
  return std::visit([](const auto& each) { return each.test_id(); }, any);
}

std::optional<AnyCase> CaseNamed(std::string_view test_id) {
  static const PlanNames& plan = *new PlanNames();
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
    // A name that is written otherwise, or of numbers that the case has not, is none.
    AnyCase found = WithSize(planned, parsed.size);
    if (IdOf(found) == test_id) return found;
  }
  return std::nullopt;
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

}  // namespace assay::distributed
