// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "framework/testing/record/columns.h"

namespace assay {
namespace {

using testing::HasSubstr;

// Values that differ from column to column and from what a new row holds.
void Fill(int, bool* value) { *value = !*value; }
void Fill(int salt, int64_t* value) { *value = 1000 + salt; }
void Fill(int salt, Integer* value) { *value = -1000 - salt; }
void Fill(int salt, Number* value) { *value = salt + 0.1; }
void Fill(int salt, std::string* value) {
  *value = StrCat("text ", salt, ", \"quoted\"\nand a line");
}

template <class Row>
Row Filled() {
  Row row;
  int salt = 0;
  ForEachField(row, [&](const auto&, auto& field) { Fill(++salt, &field); });
  return row;
}

template <class Row>
std::vector<std::string> Texts(const Row& row) {
  std::vector<std::string> texts;
  ForEachField(row, [&](const auto&, const auto& field) {
    texts.push_back(FieldText(field));
  });
  return texts;
}

template <class Row>
class TablesTest : public testing::Test {};

using AllRows = testing::Types<RunRow, PlanRow, EnvRow, BackendRow, ResultRow,
                               AccuracyRow, MutantRow>;
TYPED_TEST_SUITE(TablesTest, AllRows);

// Kills: a column that writes one field and reads another, drops the digits of
// a number, or reads an absent value as zero.
TYPED_TEST(TablesTest, RowsWithAllFieldsSetAreReadBack) {
  const std::vector<TypeParam> rows = {Filled<TypeParam>(), TypeParam(),
                                       Filled<TypeParam>()};
  const auto read = ParseCsv<TypeParam>(ToCsv(rows));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(Texts((*read)[i]), Texts(rows[i])) << "row " << i;
  }
}

// Kills: two columns over one member, which the round trip cannot see.
TYPED_TEST(TablesTest, EveryColumnHasAMemberAndANameOfItsOwn) {
  const TypeParam row = Filled<TypeParam>();
  std::set<std::string> texts;
  std::set<std::string_view> names;
  size_t columns = 0;
  ForEachField(row, [&]<class Field>(const auto& column, const Field& field) {
    names.insert(column.name);
    if (std::is_same_v<Field, bool>) return;
    texts.insert(FieldText(field));
    ++columns;
  });
  EXPECT_EQ(texts.size(), columns);
  EXPECT_EQ(names.size(), ColumnNames<TypeParam>().size());
}

// Kills: reading by position; refusing a later version's column.
TYPED_TEST(TablesTest, ColumnsAreFoundByNameInAnyOrder) {
  auto names = ColumnNames<TypeParam>();
  std::vector<std::string> texts = Texts(Filled<TypeParam>());
  std::reverse(names.begin(), names.end());
  std::reverse(texts.begin(), texts.end());
  std::string header = "of_a_later_version";
  std::string line = "ignored";
  for (size_t i = 0; i < names.size(); ++i) {
    header += StrCat(",", names[i]);
    line += ',';
    AppendCsvField(line, texts[i]);
  }
  const auto read = ParseCsv<TypeParam>(header + "\n" + line + "\n");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(Texts(read->front()), Texts(Filled<TypeParam>()));
}

// Kills: a missing column read as empty.
TYPED_TEST(TablesTest, AMissingColumnIsDataLossWithItsName) {
  const auto names = ColumnNames<TypeParam>();
  for (const std::string_view missing : names) {
    std::string header = "x";
    for (const std::string_view name : names) {
      if (name != missing) header += StrCat(",", name);
    }
    const Status status = ParseCsv<TypeParam>(header + "\n").status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status.message(),
              StrCat("the header lacks the column ", missing));
  }
}

// Kills: atoi; a flag that is anything; a short row read as one of defaults.
TEST(TablesRowTest, FieldsThatDoNotFitAreDataLossWithTheirLine) {
  struct Row {
    std::string_view column;
    std::string value;
    std::string_view message;
  };
  const std::vector<Row> rows = {
      {"attempt", "", "results line 3: column attempt cannot hold ''"},
      {"attempt", "1.5", "results line 3: column attempt cannot hold '1.5'"},
      {"load_us", "fast", "results line 3: column load_us cannot hold 'fast'"},
      {"headroom", "1,0", "results line 3: column headroom cannot hold '1,0'"},
      {"vacuous", "yes", "results line 3: column vacuous cannot hold 'yes'"},
      {"vacuous", "", "results line 3: column vacuous cannot hold ''"},
  };
  const auto names = ColumnNames<ResultRow>();
  for (const Row& row : rows) {
    std::string text = CsvHeader<ResultRow>();
    AppendCsvRow(text, ResultRow());
    const std::vector<std::string> texts = Texts(ResultRow());
    for (size_t i = 0; i < names.size(); ++i) {
      if (i > 0) text += ',';
      AppendCsvField(text, names[i] == row.column ? row.value : texts[i]);
    }
    const Status status = ParseCsv<ResultRow>(text + "\n").status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status.message(), row.message);
  }
  const Status status =
      ParseCsv<EnvRow>(CsvHeader<EnvRow>() + "a,b\n").status();
  EXPECT_EQ(status.message(),
            "env line 2: column value is missing: the row has 2 fields");
  EXPECT_EQ(ParseCsv<EnvRow>("").status().message(),
            "the table env has no header");
}

// The columns that other programs read. They may get more, but lose none.
const std::map<std::string, std::string>& Contract() {
  static const auto* contract = new std::map<std::string, std::string>{
      {"runs",
       "run_id,started_utc,duration_s,commit,dirty,assay_version,corpus_hash,"
       "policy_hash,env_id,seed,tier,command,n_planned,n_pass,n_vacuous,"
       "n_waived,n_fail,n_suspect,n_unsupported,n_unavailable,n_xfail,n_xpass,"
       "n_flaky,n_error,n_crash,n_timeout,n_missing,complete"},
      {"plan",
       "test_id,backend,settings,suite,op,domain,opset,dtypes,kind,needs,"
       "cost_ms,selected"},
      {"env", "env_id,key,value"},
      {"backends",
       "run_id,backend,settings,version,build_id,module_sha256,device,"
       "claims_json,unavailable_reason"},
      {"results",
       "schema,run_id,attempt,test_id,backend,settings,suite,op,domain,opset,"
       "dtype,shape_sig,outcome,reason_code,message,vacuous,via_function,"
       "placement,seed,started_us,load_us,run_us,judge_us,peak_rss_kb,worker,"
       "limit_source,headroom,repro"},
      {"accuracy",
       "schema,run_id,attempt,test_id,backend,settings,output_index,"
       "output_name,dtype,shape,n_elem,reference,nan_mismatch,inf_mismatch,"
       "out_of_limit,min_diff,max_diff,max_abs_err,max_rel_err,max_ulp,p50_ulp,"
       "p99_ulp,p999_ulp,mean_signed_ulp,share_correctly_rounded,max_unit_err,"
       "rmse,rel_l2,cosine,worst_index,worst_want,worst_got,atol,rtol,limit,"
       "limit_source,headroom,oracle_bound,sign_of_zero_mismatch,bitwise_equal,"
       "distinct_results,grade"},
      {"mutants", "mutant,class,suite,expected_killer,killed_by,killed,case"},
  };
  return *contract;
}

std::string HeaderOf(const std::string& table) {
  if (table == "runs") return CsvHeader<RunRow>();
  if (table == "plan") return CsvHeader<PlanRow>();
  if (table == "env") return CsvHeader<EnvRow>();
  if (table == "backends") return CsvHeader<BackendRow>();
  if (table == "results") return CsvHeader<ResultRow>();
  if (table == "mutants") return CsvHeader<MutantRow>();
  return CsvHeader<AccuracyRow>();
}

// Kills: a renamed or removed column.
TEST(TablesContractTest, NoColumnOfTheContractIsLost) {
  for (const auto& [table, columns] : Contract()) {
    const std::string header = "," + HeaderOf(table);
    std::string rest = columns + ",";
    while (!rest.empty()) {
      const std::string name = rest.substr(0, rest.find(','));
      rest.erase(0, name.size() + 1);
      EXPECT_TRUE(header.find("," + name + ",") != std::string::npos ||
                  header.find("," + name + "\n") != std::string::npos)
          << table << " lacks " << name;
    }
  }
}

// Kills: a table or column that the schema leaves out, or has in another
// order than the files.
TEST(TablesContractTest, TheSchemaListsEveryColumnOfEveryTable) {
  const auto schema = nlohmann::json::parse(SchemaJson());
  EXPECT_EQ(schema.at("schema"), kSchemaVersion);
  const auto& tables = schema.at("tables");
  EXPECT_EQ(tables.size(), Contract().size());
  const std::set<std::string> types = {"text", "flag", "integer",
                                       "integer or empty", "number or empty"};
  const std::string page = SchemaMarkdown();
  for (const auto& [table, unused] : Contract()) {
    std::string header;
    for (const auto& column : tables.at(table)) {
      const std::string name = column.at("name");
      header += (header.empty() ? "" : ",") + name;
      EXPECT_EQ(types.count(column.at("type")), 1U) << name;
      EXPECT_FALSE(column.at("doc").get<std::string>().empty()) << name;
      EXPECT_THAT(page, HasSubstr("| " + name + " | "));
    }
    EXPECT_EQ(header + "\n", HeaderOf(table)) << table;
    EXPECT_THAT(page, HasSubstr("## " + table));
  }
}

}  // namespace
}  // namespace assay
