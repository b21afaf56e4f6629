// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/testing/record/outcome.h"
#include "framework/testing/record/record.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::record {
namespace {

TEST(RecordRowsTest, ARowIsOfTheAttemptOfItsResult) {
  Record record;
  record.result.attempt = 3;
  record.Add(AccuracyRow());
  ASSERT_EQ(record.rows.size(), 1U);
  EXPECT_EQ(record.rows[0].attempt, 3);
}

// Kills: a record that was cut within a row, and is read up to there.
TEST(RecordRowsTest, ATornRowIsDataLoss) {
  Record record;
  record.Add(AccuracyRow());
  EXPECT_EQ(ParseRecord(ToText(record) + "accuracy,\"7").status().code(),
            StatusCode::kDataLoss);
  record.rows[0].fields = "7,\"0.5";
  EXPECT_EQ(record.Rows<AccuracyRow>().status().message(),
            "line 1: a quoted field is not closed");
}

using testing::HasSubstr;

// Texts of which a column can hold one, that differ from column to column and
// from what a new row holds.
std::vector<std::string> Candidates(size_t salt) {
  return {StrCat("text ", salt, ", \"quoted\"\nand a line"),
          StrCat(salt + 0.1),
          StrCat(1000 + salt),
          StrCat(salt, " 7"),
          std::string(ToString(Outcome::kCrash)),
          std::string(ToString(Comparator::kText)),
          "1",
          "0"};
}

template <class Row>
std::vector<std::string> Texts(const Row& row) {
  std::vector<std::string> texts;
  for (const Column& column : TableOf<Row>().columns) {
    texts.push_back(column.text(&row));
  }
  return texts;
}

template <class Row>
Row Filled() {
  Row row;
  const std::vector<std::string> fresh = Texts(row);
  const auto& columns = TableOf<Row>().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto candidates = Candidates(i);
    EXPECT_TRUE(std::ranges::any_of(candidates, [&](const auto& text) {
      return text != fresh[i] && columns[i].parse(text, &row);
    })) << columns[i].name;
  }
  return row;
}

template <class Row>
std::vector<std::string_view> ColumnNames() {
  std::vector<std::string_view> names;
  for (const Column& column : TableOf<Row>().columns) {
    names.push_back(column.name);
  }
  return names;
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
  const auto read = Got(ParseCsv<TypeParam>(ToCsv(rows)));
  ASSERT_EQ(read.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(Texts(read[i]), Texts(rows[i])) << "row " << i;
  }
}

// Kills: two columns over one member, which the round trip cannot see.
TYPED_TEST(TablesTest, EveryColumnHasAMemberAndANameOfItsOwn) {
  const TypeParam row = Filled<TypeParam>();
  std::set<std::string> texts;
  std::set<std::string_view> names;
  size_t columns = 0;
  for (const Column& column : TableOf<TypeParam>().columns) {
    names.insert(column.name);
    const std::string text = column.text(&row);
    if (column.type == "flag" || ParseOutcome(text) || ParseComparator(text)) {
      continue;
    }
    texts.insert(text);
    ++columns;
  }
  EXPECT_EQ(texts.size(), columns);
  EXPECT_EQ(names.size(), TableOf<TypeParam>().columns.size());
}

// Kills: reading by position; refusing a later version's column.
TYPED_TEST(TablesTest, ColumnsAreFoundByNameInAnyOrder) {
  auto names = ColumnNames<TypeParam>();
  std::vector<std::string> texts = Texts(Filled<TypeParam>());
  std::ranges::reverse(names);
  std::ranges::reverse(texts);
  std::string header = "of_a_later_version";
  std::string line = "ignored";
  for (size_t i = 0; i < names.size(); ++i) {
    header += StrCat(",", names[i]);
    line += ',';
    file::AppendCsvField(line, texts[i]);
  }
  const auto read = Got(ParseCsv<TypeParam>(header + "\n" + line + "\n"));
  EXPECT_EQ(Texts(read.front()), Texts(Filled<TypeParam>()));
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
  const struct {
    std::string_view column;
    std::string value;
    std::string_view message;
  } rows[] = {
      {"attempt", "", "results line 3: column attempt cannot hold ''"},
      {"attempt", "1.5", "results line 3: column attempt cannot hold '1.5'"},
      {"load_us", "fast", "results line 3: column load_us cannot hold 'fast'"},
      {"headroom", "1,0", "results line 3: column headroom cannot hold '1,0'"},
      {"vacuous", "yes", "results line 3: column vacuous cannot hold 'yes'"},
      {"vacuous", "", "results line 3: column vacuous cannot hold ''"},
      {"outcome", "good", "results line 3: column outcome cannot hold 'good'"},
  };
  const auto names = ColumnNames<ResultRow>();
  for (const auto& row : rows) {
    std::string text = CsvHeader<ResultRow>();
    AppendCsvRow(text, ResultRow());
    const std::vector<std::string> texts = Texts(ResultRow());
    for (size_t i = 0; i < names.size(); ++i) {
      if (i > 0) text += ',';
      file::AppendCsvField(text, names[i] == row.column ? row.value : texts[i]);
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
  for (const std::string& open : {std::string(), CsvHeader<EnvRow>()}) {
    EXPECT_EQ(ParseCsv<EnvRow>(open + "\"a").status().code(),
              StatusCode::kDataLoss);
  }
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
       "test_id,backend,settings,suite,op,domain,opset,dtypes,kind,needs"},
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
       "distinct_results"},
      {"mutants", "mutant,class,suite,expected_killer,killed_by,killed,case"},
      {"time",
       "schema,run_id,attempt,test_id,backend,settings,phase,cache_mode,"
       "threads,inner_iters,n_samples,min_ns,p25_ns,median_ns,p75_ns,p90_ns,"
       "p99_ns,max_ns,mean_ns,stdev_ns,ci95_lo_ns,ci95_hi_ns,n_outlier_mild,"
       "n_outlier_severe,lag1_autocorr,stop_reason,warmup_iters,"
       "timer_overhead_ns,steal_ticks,psi_cpu_some_pct,noisy,flops,bytes,"
       "gflop_s,gb_s,intensity,peak_gflop_s,peak_gb_s,roof_frac,bound,"
       "instructions,alloc_count,alloc_bytes,peak_rss_kb,steady_rss_kb,"
       "samples_file"},
      {"roofs",
       "schema,run_id,attempt,test_id,backend,settings,moment,level,type,"
       "threads,gflop_s,gb_s,ci95_lo,ci95_hi,n_samples,bytes,code,none"},
      {"time_samples", "test_id,backend,phase,first,ns"},
      {"compare", "test_id,backend,base,ratio,ci95_lo,ci95_hi,p_value"},
      {"overhead",
       "schema,run_id,attempt,test_id,backend,settings,native_median_ns,"
       "framework_median_ns,paired_ratio,ratio_ci95_lo,ratio_ci95_hi,delta_ns,"
       "native_instructions,framework_instructions,n_pairs"},
      {"problems", "test_id,backend,problem_set,n_times,fate,n_judged"},
      {"scaling", "test_id,backend,axis,sizes,exponent,ci95_lo,ci95_hi"},
  };
  return *contract;
}

std::string HeaderOf(const std::string& table) {
  const Table* found = FindTable(table);
  return found == nullptr ? "" : CsvHeader(*found);
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

// Kills: a table, column or reason that the schema leaves out, or a column in
// another order than in the files.
TEST(TablesContractTest, TheSchemaListsEveryColumnOfEveryTable) {
  const auto schema = nlohmann::json::parse(SchemaJson());
  EXPECT_EQ(schema.at("schema"), kSchemaVersion);
  const auto& tables = schema.at("tables");
  EXPECT_EQ(tables.size() - tables.count("toys"), Contract().size());
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
  EXPECT_EQ(schema.at("reasons").size(), ReasonMeanings().size());
  for (const ReasonMeaning& reason : ReasonMeanings()) {
    EXPECT_EQ(schema.at("reasons").at(reason.code), reason.meaning);
    EXPECT_THAT(page, HasSubstr(StrCat("| ", reason.code, " | ", reason.meaning,
                                       " |\n")));
  }
}

// Kills: a reason that is not added, or has the meaning of another.
TEST(ReasonTest, AnAddedReasonHasItsMeaning) {
  static const bool added = AddReason({"toy", "a toy broke"});
  ASSERT_TRUE(added);
  EXPECT_EQ(MeaningOf("toy"), "a toy broke");
  EXPECT_EQ(MeaningOf("toys"), "");
}

// A table that the run folder's list does not know.
struct ToyRow : Key {
  int64_t step = 0;
  Number loss;
};

}  // namespace

template <>
const Table& TableOf<ToyRow>() {
  using Row = ToyRow;
  static const Table table = CaseTable<Row>(
      "toys", {ASSAY_COLUMN(step, "from 0"), ASSAY_COLUMN(loss, "after it")});
  return table;
}

namespace {

// Kills: a record, a journal or a file that knows the tables of today alone;
// rows of one table in the file of another; a key that is not the result's.
TEST(TablesAddedTest, ATableIsAStructAndItsColumns) {
  Record record;
  record.result.test_id = "toy/Abs/a";
  ToyRow toy;
  toy.step = 7;
  toy.loss = 0.5;
  record.Add(toy);
  record.Add(AccuracyRow());
  toy.step = 8;
  record.Add(toy);
  static const bool added = AddTable(TableOf<ToyRow>());
  ASSERT_TRUE(added);
  EXPECT_EQ(ParseRecord(ToText(record) + "games,7\n").status().message(),
            "a row of the table 'games', which is not known");
  Record read = Got(ParseRecord(ToText(record)));
  read.result.run_id = "merged";
  const std::string csv = ToCsv(TableOf<ToyRow>(), {read, read});
  EXPECT_EQ(csv.substr(0, csv.find("\n1,") + 1), CsvHeader<ToyRow>());
  const auto rows = Got(ParseCsv<ToyRow>(csv));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows.at(2).run_id, "merged");
  EXPECT_EQ(rows.at(2).test_id, "toy/Abs/a");
  EXPECT_EQ(rows.at(2).step, 7);
  EXPECT_EQ(rows.at(3).step, 8);
  EXPECT_EQ(rows.at(3).loss, 0.5);
  EXPECT_THAT(SchemaJson(), HasSubstr("\"toys\": ["));
  EXPECT_EQ(read.Rows<AccuracyRow>()->size(), 1U);
  // Kills: rows of another case, or in the order of another header.
  Record again;
  again.result.test_id = "toy/Abs/a";
  ASSERT_TRUE(AddRows(csv, TableOf<ToyRow>(), &again).ok());
  EXPECT_EQ(again.Rows<ToyRow>()->size(), 4U);
  again.result.test_id = "toy/Abs/b";
  again.rows.clear();
  ASSERT_TRUE(AddRows(csv, TableOf<ToyRow>(), &again).ok());
  EXPECT_EQ(again.rows.size(), 0U);
  ASSERT_TRUE(AddRows("loss,step,schema,run_id,attempt,test_id,backend,settings"
                      "\n0.5,7,1,r,2,toy/Abs/b,,\n",
                      TableOf<ToyRow>(), &again)
                  .ok());
  EXPECT_EQ(again.Rows<ToyRow>()->at(0).step, 7);
  EXPECT_EQ(again.Rows<ToyRow>()->at(0).attempt, 2);
  EXPECT_EQ(AddRows("", TableOf<ToyRow>(), &again).message(),
            "toys has no column schema");
  EXPECT_EQ(AddRows(csv + "1,r\n", TableOf<ToyRow>(), &again).message(),
            "toys line 6 has 2 fields, wanted 8");
  EXPECT_EQ(AddRows(CsvHeader<ToyRow>() + "x,r,1,t,b,s,7,0.5\n",
                    TableOf<ToyRow>(), &again)
                .message(),
            "toys line 2 has 'x' in column schema");
  // Kills: a text in another row's column, or in another column.
  EXPECT_TRUE(read.Fill("loss", "9").ok());
  EXPECT_EQ(read.Rows<ToyRow>()->at(1).step, 8);
  EXPECT_EQ(read.Rows<ToyRow>()->at(1).loss, 9);
  EXPECT_TRUE(read.Rows<AccuracyRow>().ok());
  read.rows[0].fields = "7";
  EXPECT_EQ(read.Fill("loss", "9").message(),
            "a row of toys has 1 fields, wanted 2");
  EXPECT_EQ(read.Rows<ToyRow>().status().message(),
            "column loss is missing: the row has 1 fields");
}

// Kills: a byte let through that ends a page or an XML file; a character that
// is right and gets lost.
TEST(CleanTextTest, WhatNoReaderCanTakeBecomesAQuestionMark) {
  const struct {
    std::string text, clean;
  } rows[] = {
      {"", ""},
      {"plain, \"quoted\"\n\tand ~", "plain, \"quoted\"\n\tand ~"},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF",
       "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF"},
      {"\xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBD",
       "\xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBD"},
      // the first and the last of each length
      {"\xC2\xA0 \xDF\xBF", "\xC2\xA0 \xDF\xBF"},
      {"\xE0\xA0\x80 \xEF\xBF\xBD", "\xE0\xA0\x80 \xEF\xBF\xBD"},
      {"\xF0\x90\x80\x80", "\xF0\x90\x80\x80"},
      {std::string("a\0b\r\x1B\x7F", 6), "a?b???"},
      {"Gr\xFC\xDF e", "Gr?? e"},              // Latin-1
      {"\xC3", "?"},                           // torn
      {"\xE2\x82", "??"},                      // torn
      {"\xE2(\xA1", "?(?"},                    // no continuation
      {"\xC0\xAF", "??"},                      // overlong
      {"\xC1\xBF", "??"},                      // overlong
      {"\xE0\x9F\xBF", "???"},                 // overlong
      {"\xF0\x8F\xBF\xBF", "????"},            // overlong
      {"\xED\xA0\x80\xED\xBF\xBF", "??????"},  // surrogates
      {"\xF4\x90\x80\x80", "????"},            // above U+10FFFF
      {"\xC2\x80\xC2\x9F", "????"},            // controls
      {"\xF5\x80\x80\x80", "????"},
      {"\xF8\x88\x80\x80\x80", "?????"},       // five bytes
      {"\xEF\xBF\xBE\xEF\xBF\xBF", "??????"},  // U+FFFE, U+FFFF
      {"\x80\xBF\xFF", "???"},
  };
  for (const auto& row : rows) EXPECT_EQ(CleanText(row.text), row.clean);
}

// Kills: a limit that is one off; a cut inside a character; a cut unsaid.
TEST(CleanTextTest, ALongTextIsCutBehindACharacterAndSaysItsLength) {
  const std::string most(kMostText, 'x');
  EXPECT_EQ(CleanText(most), most);
  const std::string note = " [cut, of 4097 bytes]";
  const std::string left(kMostText - note.size(), 'x');
  EXPECT_EQ(CleanText(most + "y"), left + note);
  EXPECT_EQ(CleanText(left + note), left + note);
  const std::string less = left.substr(1);
  EXPECT_EQ(CleanText(less + "\xC3\xA9" + std::string(note.size(), 'x')),
            less + note);
  const std::string fits = std::string(kMostText - 2, 'x') + "\xC3\xA9";
  EXPECT_EQ(CleanText(fits), fits);
  EXPECT_LT(CleanText(std::string(70U << 20U, '\xFF')).size(), kMostText + 1);
}

// Kills: a column that is left out; a key under which no case is found.
TEST(CleanTextTest, AllTextsOfARowAreCleanedButItsKey) {
  AccuracyRow row;
  row.test_id = row.backend = std::string(kMostText + 1, 'k');
  row.output_name = row.worst_got = row.worst_want = "\xFF";
  row.n_elem = 3;
  const AccuracyRow clean = Cleaned(row);
  EXPECT_EQ(clean.test_id, row.test_id);
  EXPECT_EQ(clean.backend, row.backend);
  EXPECT_EQ(clean.output_name + clean.worst_got + clean.worst_want, "???");
  EXPECT_EQ(clean.n_elem, 3);
  BackendRow backend;
  backend.version = backend.device = std::string("\0", 1);
  EXPECT_EQ(Cleaned(backend).version + Cleaned(backend).device, "??");
}

// Kills: a second line; half a character; a limit that the note passes.
TEST(CleanTextTest, OneLineIsNoLongerThanItMay) {
  EXPECT_EQ(OneLine("a\n\tb", 10), "a  b");
  EXPECT_EQ(OneLine("0123456789", 10), "0123456789");
  const std::string text =
      std::string(9, 'x') + "\xC3\xA9" + std::string(100, 'y');
  EXPECT_EQ(OneLine(text, 31), "xxxxxxxxx [102 bytes left out]");
  EXPECT_EQ(OneLine(text, 32), "xxxxxxxxx\xC3\xA9 [100 bytes left out]");
  EXPECT_EQ(OneLine(text, 1), " [111 bytes left out]");
}

TEST(CleanTextTest, APathThatIsNoTextIsNamed) {
  EXPECT_TRUE(CheckPath("runs/\xC3\xA9").ok());
  EXPECT_THAT(CheckPath("runs/\xFF"),
              IsStatus(StatusCode::kInvalidArgument, "'runs/?'"));
  EXPECT_THAT(CheckPath("runs/\a"),
              Says("'runs/?' with a '?' for each control"));
}

}  // namespace
}  // namespace assay::record
