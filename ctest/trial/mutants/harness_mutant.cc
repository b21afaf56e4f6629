// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/harness_mutant.h"

#include <algorithm>
#include <optional>
#include <set>

#include "framework/core/text.h"
#include "framework/testing/policy/quoted.h"

namespace assay::harness_mutants {
namespace {

void SkipBlanks(std::string_view* text) {
  while (!text->empty() && policy::IsBlank(text->front()))
    text->remove_prefix(1);
}

std::string_view TakeWord(std::string_view* text) {
  SkipBlanks(text);
  const auto end = std::find_if(text->begin(), text->end(), policy::IsBlank);
  const auto size = static_cast<size_t>(end - text->begin());
  const std::string_view word = text->substr(0, size);
  text->remove_prefix(size);
  return word;
}

/// "word what word what ... because "..."", as wanted.
Status TakeSentence(std::string_view line, HarnessMutant* mutant) {
  std::string killer;
  const struct {
    std::string_view word;
    std::string* holds;
  } wanted[] = {{"mutant", &mutant->name}, {"of", &mutant->mutant_class},
                {"in", &mutant->file},     {"killed", nullptr},
                {"by", &killer},           {"because", nullptr}};
  for (const auto& [word, holds] : wanted) {
    if (const std::string_view found = TakeWord(&line); found != word) {
      return InvalidArgument("found '", found, "', wanted ", word);
    }
    if (holds != nullptr) *holds = TakeWord(&line);
  }
  const size_t colon = std::min(killer.find(':'), killer.size());
  mutant->killer = killer.substr(0, colon);
  mutant->filter = killer.substr(std::min(colon + 1, killer.size()));
  SkipBlanks(&line);
  size_t at = 0;
  std::optional<std::string> because;
  if (line.starts_with('"')) because = policy::TakeQuoted(line, &at);
  if (!because.has_value() || because->empty() || at != line.size()) {
    return InvalidArgument("found '", line, "', wanted a reason in quotes");
  }
  mutant->because = *std::move(because);
  if (mutant->killer == "program" || mutant->killer == "nobody" ||
      mutant->killer.starts_with("unit/")) {
    return OkStatus();
  }
  return InvalidArgument("found the killer '", mutant->killer,
                         "', wanted unit/NAME, program or nobody");
}

/// A line without comment, its number, and where its sentence goes on.
class Reader {
 public:
  Status Add(std::string_view line) {
    while (!line.empty() && policy::IsBlank(line.back())) line.remove_suffix(1);
    SkipBlanks(&line);
    if (line.empty() || line.front() == '#') return OkStatus();
    if (line.front() == '-' || line.front() == '+') {
      ASSAY_RETURN_IF_ERROR(FinishSentence());
      if (mutants_.empty()) return InvalidArgument("found no mutant before");
      HarnessMutant& mutant = mutants_.back();
      std::string& side =
          line.front() == '-' ? mutant.find : mutant.replacement;
      side += StrCat(side.empty() ? "" : "\n", line.substr(1));
      return OkStatus();
    }
    if (line.starts_with("mutant ")) ASSAY_RETURN_IF_ERROR(FinishMutant());
    sentence_ += StrCat(line, " ");
    return OkStatus();
  }

  Result<std::vector<HarnessMutant>> Finish() {
    ASSAY_RETURN_IF_ERROR(FinishMutant());
    return std::move(mutants_);
  }

 private:
  Status FinishSentence() {
    if (sentence_.empty()) return OkStatus();
    std::string_view sentence = sentence_;
    sentence.remove_suffix(1);
    ASSAY_RETURN_IF_ERROR(TakeSentence(sentence, &mutants_.emplace_back()));
    sentence_.clear();
    if (names_.insert(mutants_.back().name).second) return OkStatus();
    return InvalidArgument(mutants_.back().name, " is there a second time");
  }

  Status FinishMutant() {
    ASSAY_RETURN_IF_ERROR(FinishSentence());
    if (mutants_.empty() || !mutants_.back().find.empty()) return OkStatus();
    return InvalidArgument(mutants_.back().name,
                           " says no text to find, wanted one behind -");
  }

  std::string sentence_;  // so far, with a blank behind it
  std::vector<HarnessMutant> mutants_;
  std::set<std::string> names_;
};

/// How long `pattern` is at the start of `text`, where blanks of both match
/// each other; nothing when it is not there.
std::optional<size_t> LengthAt(std::string_view text,
                               std::string_view pattern) {
  const std::string_view whole = text;
  while (!pattern.empty()) {
    if (text.empty()) return std::nullopt;
    if (policy::IsBlank(pattern.front()) && policy::IsBlank(text.front())) {
      SkipBlanks(&pattern);
      SkipBlanks(&text);
    } else if (pattern.front() == text.front()) {
      pattern.remove_prefix(1);
      text.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  return whole.size() - text.size();
}

}  // namespace

Result<std::vector<HarnessMutant>> ParseHarnessMutants(std::string_view text) {
  Reader reader;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = CutFront(&text);
    const Status status = reader.Add(line);
    if (!status.ok()) return status.WithContext(StrCat("line ", number));
  }
  return reader.Finish();
}

Result<Range> PlaceOf(const HarnessMutant& mutant, std::string_view source) {
  std::string_view pattern = mutant.find;
  SkipBlanks(&pattern);
  Range place;
  int count = 0;
  for (size_t at = 0; at < source.size(); ++at) {
    const auto length = LengthAt(source.substr(at), pattern);
    if (!length.has_value()) continue;
    ++count;
    place = {at, at + *length};
  }
  if (count == 1) return place;
  return InvalidArgument("mutant ", mutant.name, ": found its text ", count,
                         " times in ", mutant.file, ", wanted it once: '",
                         pattern, "'");
}

Result<std::string> Mutated(const HarnessMutant& mutant,
                            std::string_view source) {
  ASSAY_ASSIGN_OR_RETURN(const Range place, PlaceOf(mutant, source));
  return StrCat(source.substr(0, place.begin), mutant.replacement,
                source.substr(place.end));
}

}  // namespace assay::harness_mutants
