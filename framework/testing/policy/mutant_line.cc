// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/mutant_line.h"

#include <algorithm>
#include <set>

#include "framework/file/file.h"
#include "framework/testing/policy/line_scanner.h"

namespace assay::policy {
namespace {

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
