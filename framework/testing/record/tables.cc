// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "framework/core/text.h"
#include "framework/testing/record/outcome.h"

namespace assay::record {
namespace {

/// Where each column of a table stands in a file.
Result<std::vector<size_t>> FindColumns(const std::vector<std::string>& header,
                                        const Table& table) {
  std::vector<size_t> order;
  for (const Column& column : table.columns) {
    const auto found = std::ranges::find(header, column.name);
    if (found == header.end()) {
      return DataLoss("the header lacks the column ", column.name);
    }
    order.push_back(static_cast<size_t>(found - header.begin()));
  }
  return order;
}

Status ParseColumn(const std::vector<std::string>& fields, size_t at,
                   const Column& column, void* row) {
  if (at >= fields.size()) {
    return DataLoss("column ", column.name, " is missing: the row has ",
                    fields.size(), " fields");
  }
  if (column.parse(fields[at], row)) return OkStatus();
  return DataLoss("column ", column.name, " cannot hold '", fields[at], "'");
}

Status ParseInOrder(const std::vector<std::string>& fields, const Table& table,
                    const std::vector<size_t>& order, void* row) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(ParseColumn(fields, order[i], table.columns[i], row));
  }
  return OkStatus();
}

bool IsPlain(char c) {
  return (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
}

/// The first codes that need two, three and four bytes.
constexpr auto kLeastCodes = std::to_array<uint32_t>({0x80, 0x800, 0x10000});

/// Bytes of the character that `text` begins with; 0 when it is none that XML
/// can hold: The Unicode Standard, table 3-7; XML 1.0, production 2.
size_t CharacterLength(std::string_view text) {
  if (IsPlain(text.front())) return 1;
  const auto first = static_cast<unsigned char>(text.front());
  const auto length = static_cast<size_t>(std::countl_one(first));
  if (length < 2 || length > 4 || text.size() < length) return 0;
  uint32_t code = first & (0xFFU >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte & 0x3FU);
  }
  const bool overlong = code < kLeastCodes.at(length - 2);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool in_xml = code != 0xFFFE && code != 0xFFFF && code <= 0x10FFFF;
  const bool control = code < 0xA0;  // as CSI, which steers terminals
  return !overlong && !surrogate && in_xml && !control ? length : 0;
}

}  // namespace

std::string CsvHeader(const Table& table) {
  return Joined(table.columns, ",", &Column::name) + "\n";
}

void AppendCsvFields(std::string& out, const Table& table, const void* row,
                     size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (i > begin) out += ',';
    file::AppendCsvField(out, table.columns[i].text(row));
  }
}

Status ParseFields(const std::vector<std::string>& fields, const Table& table,
                   size_t begin, void* row) {
  for (size_t i = begin; i < table.columns.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        ParseColumn(fields, i - begin, table.columns[i], row));
  }
  return OkStatus();
}

Status ParseCsv(std::string_view text, const Table& table,
                const std::function<void*()>& next) {
  file::CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields)) {
    ASSAY_RETURN_IF_ERROR(reader.status());
    return DataLoss("the table ", table.name, " has no header");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto order, FindColumns(fields, table));
  while (reader.Next(&fields)) {
    const Status status = ParseInOrder(fields, table, order, next());
    if (!status.ok()) {
      return status.WithContext(StrCat(table.name, " line ", reader.line()));
    }
  }
  return reader.status();
}

std::string SchemaJson() {
  // Names and meanings are plain ASCII without quotes, so they need no escapes.
  const auto of_column = [](const Column& column) {
    return StrCat("      {\"name\": \"", column.name, "\", \"type\": \"",
                  column.type, "\", \"doc\": \"", column.doc, "\"}");
  };
  const auto of_table = [&](const Table* table) {
    return StrCat("    \"", table->name, "\": [\n",
                  Joined(table->columns, ",\n", of_column), "\n    ]");
  };
  const auto of_reason = [](const ReasonMeaning& reason) {
    return StrCat("    \"", reason.code, "\": \"", reason.meaning, "\"");
  };
  return StrCat("{\n  \"schema\": ", kSchemaVersion, ",\n  \"tables\": {\n",
                Joined(Tables(), ",\n", of_table), "\n  },\n  \"reasons\": {\n",
                Joined(ReasonMeanings(), ",\n", of_reason), "\n  }\n}\n");
}

std::string SchemaMarkdown() {
  std::string text =
      StrCat("# Tables of a run folder, schema ", kSchemaVersion,
             "\n\nMade from `framework/testing/record/columns.cc`; "
             "attempts has the columns of results.\n");
  for (const Table* table : Tables()) {
    text += StrCat("\n## ", table->name, "\n\n| column | type | meaning |\n",
                   "| --- | --- | --- |\n");
    for (const Column& column : table->columns) {
      text += StrCat("| ", column.name, " | ", column.type, " | ", column.doc,
                     " |\n");
    }
  }
  text += "\n## reason_code\n\n| code | meaning |\n| --- | --- |\n";
  for (const ReasonMeaning& reason : ReasonMeanings()) {
    text += StrCat("| ", reason.code, " | ", reason.meaning, " |\n");
  }
  return text;
}

std::string CleanText(std::string_view text) {
  if (text.size() <= kMostText && std::ranges::all_of(text, IsPlain)) {
    return std::string(text);
  }
  const std::string note = text.size() > kMostText
                               ? StrCat(" [cut, of ", text.size(), " bytes]")
                               : std::string();
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const size_t length = CharacterLength(text.substr(at));
    const size_t added = std::max<size_t>(length, 1);
    if (clean.size() + added > kMostText - note.size()) break;
    clean += length == 0 ? "?" : text.substr(at, length);
    at += added;
  }
  return clean + note;
}

std::string OneLine(std::string_view text, size_t most) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  if (line.size() <= most) return line;
  // As long as the longest note that there may be.
  const size_t note = StrCat(" [", line.size(), " bytes left out]").size();
  size_t end = most > note ? most - note : 0;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return StrCat(line.substr(0, end), " [", line.size() - end,
                " bytes left out]");
}

Status CheckPath(const std::filesystem::path& path) {
  const std::string clean = CleanText(path.native());
  if (clean == path.native()) return OkStatus();
  return InvalidArgument("found the path '", clean,
                         "' with a '?' for each control character and each byte"
                         " that is no text in UTF-8: give it another name");
}

}  // namespace assay::record
