// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/mutant_schema.h"

#include <map>
#include <optional>
#include <vector>

#include "ctest/trial/mutants/functions.h"
#include "framework/core/text.h"

namespace assay::harness_mutants {
namespace {

struct Changed {
  std::string_view mutant;
  std::string body;
};

/// The body that a text stands in, or none.
std::optional<size_t> BodyOf(const std::vector<Range>& bodies, Range text) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].begin <= text.begin && text.end <= bodies[i].end) return i;
  }
  return std::nullopt;
}

/// What stands between the braces of a function that mutants change.
std::string Choice(const std::vector<Changed>& changed, std::string_view body) {
  std::string text;
  for (const Changed& each : changed) {
    text += StrCat(
        "if (static const bool assay_mutant_is_on =\n"
        "        ::assay::harness_mutants::IsOn(\"",
        each.mutant, "\"); assay_mutant_is_on) {", each.body, "} else ");
  }
  return StrCat("\n", text, "{", body, "}\n");
}

}  // namespace

Result<std::string> SchemaOf(std::span<const HarnessMutant> mutants,
                             std::string_view source) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Range> bodies,
                         FunctionBodies(source));
  std::map<size_t, std::vector<Changed>> changes;  // by body
  for (const HarnessMutant& mutant : mutants) {
    ASSAY_ASSIGN_OR_RETURN(const Range text, PlaceOf(mutant, source));
    const std::optional<size_t> found = BodyOf(bodies, text);
    if (!found.has_value()) {
      return InvalidArgument("mutant ", mutant.name, ": its text in ",
                             mutant.file,
                             " is not within the body of one function");
    }
    const Range body = bodies[*found];
    changes[*found].push_back(
        {mutant.name, StrCat(source.substr(body.begin, text.begin - body.begin),
                             mutant.replacement,
                             source.substr(text.end, body.end - text.end))});
  }
  std::string schema = "#include \"ctest/trial/mutants/is_on.h\"\n";
  size_t at = 0;
  for (const auto& [number, changed] : changes) {
    const Range body = bodies[number];
    schema += source.substr(at, body.begin - at);
    schema += Choice(changed, source.substr(body.begin, body.end - body.begin));
    at = body.end;
  }
  return schema + std::string(source.substr(at));
}

}  // namespace assay::harness_mutants
