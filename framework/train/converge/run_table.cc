// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/run_table.h"

#include <optional>
#include <string_view>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::converge {
namespace {

constexpr std::string_view kColumns =
    "run,model,dataset,batch,every,most_epochs,goal,seed,samples,accuracy,"
    "reached";
constexpr size_t kWidth = 11;

std::string RowOf(const SeededRuns& runs, size_t seed) {
  const Reached& reached = runs.seeds[seed];
  std::string row;
  for (const std::string& field :
       {runs.run, runs.goal.model, runs.dataset, file::ToText(runs.goal.batch),
        file::ToText(runs.goal.every), file::ToText(runs.goal.most_epochs),
        file::ToText(runs.goal.accuracy),
        file::ToText(static_cast<int64_t>(seed)), file::ToText(reached.samples),
        file::ToText(reached.accuracy),
        file::ToText(int64_t{reached.is_reached})}) {
    if (!row.empty()) row += ',';
    file::AppendCsvField(row, field);
  }
  return row + "\n";
}

/// The numbers of a row; nothing where a field is no number.
struct Row {
  int64_t batch, every, most_epochs;
  double goal;
  int64_t seed, samples;
  double accuracy;
  int64_t reached;
};

std::optional<Row> RowOf(const std::vector<std::string>& fields) {
  if (fields.size() != kWidth) return std::nullopt;
  std::vector<double> numbers;
  for (size_t i = 3; i < kWidth; ++i) {
    const auto number = file::ParseDouble(fields[i]);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  const auto whole = [&](size_t i) { return static_cast<int64_t>(numbers[i]); };
  return Row{whole(0), whole(1), whole(2),   numbers[3],
             whole(4), whole(5), numbers[6], whole(7)};
}

}  // namespace

std::vector<double> SeededRuns::Samples() const {
  std::vector<double> samples;
  for (const Reached& reached : seeds) {
    if (reached.is_reached) {
      samples.push_back(static_cast<double>(reached.samples));
    }
  }
  return samples;
}

Status WriteRunTable(const std::filesystem::path& path,
                     std::span<const SeededRuns> all) {
  std::string text = StrCat(kColumns, "\n");
  for (const SeededRuns& runs : all) {
    for (size_t seed = 0; seed < runs.seeds.size(); ++seed) {
      text += RowOf(runs, seed);
    }
  }
  return file::WriteFile(path, text);
}

Result<std::vector<SeededRuns>> ReadRunTable(
    const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(path));
  file::CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields) || Joined(fields, ",") != kColumns) {
    return DataLoss(path.string(), ": found the columns '", Joined(fields, ","),
                    "', wanted '", kColumns, "'");
  }
  std::vector<SeededRuns> all;
  while (reader.Next(&fields)) {
    const auto row = RowOf(fields);
    const bool begins = all.empty() || all.back().run != fields[0];
    const auto seed =
        static_cast<int64_t>(begins ? 0 : all.back().seeds.size());
    if (!row.has_value() || row->seed != seed) {
      return DataLoss(path.string(), ":", reader.line(), ": wanted a row of ",
                      kWidth, " fields, its numbers, and seed ", seed);
    }
    if (begins) {
      all.push_back(
          {fields[0],
           fields[2],
           {fields[1], row->goal, row->batch, row->every, row->most_epochs},
           {}});
    }
    all.back().seeds.push_back(
        {row->reached != 0, row->samples, row->accuracy});
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  if (all.empty()) return DataLoss(path.string(), ": found no rows");
  return all;
}

Status CheckComparable(const SeededRuns& a, const SeededRuns& b) {
  const auto said = [](const SeededRuns& runs) {
    return StrCat(runs.goal.model, " on ", runs.dataset, " in batches of ",
                  runs.goal.batch, " to ", runs.goal.accuracy, " within ",
                  runs.goal.most_epochs, " epochs, tested each ",
                  runs.goal.every, " steps");
  };
  if (said(a) == said(b)) return OkStatus();
  return InvalidArgument(b.run, ": found ", said(b), ", wanted ", said(a));
}

}  // namespace assay::converge
