// SPDX-License-Identifier: Apache-2.0
//
// What is gathered from journals, before anything is judged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "framework/file/scratch_folder.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::verdict {
namespace {

using testing::HasSubstr;

// Kills: cases judged with two builds of a library under one verdict.
TEST(RawRecordsTest, ALibraryOfTwoContentsIsRefusedByName) {
  RawRecords raw;
  journal::JournalEntry entry;
  entry.kind = journal::FrameKind::kDigests;
  entry.text = "acme\n111 /lib/liba.so\n222 /lib/libb.so\n";
  ASSERT_TRUE(raw.Add(entry).ok());
  ASSERT_TRUE(raw.Add(entry).ok());
  entry.text = "acme\n333 /lib/libc.so\n";
  ASSERT_TRUE(raw.Add(entry).ok());
  entry.text = "other\n999 /lib/liba.so\n";
  ASSERT_TRUE(raw.Add(entry).ok()) << "it is another backend's";
  EXPECT_EQ(raw.files["acme"].size(), 3U);
  entry.text = "acme\n111 /lib/liba.so\n999 /lib/libb.so\n";
  const Status status = raw.Add(entry);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  for (const char* part : {"acme", "/lib/libb.so", "222", "999"}) {
    EXPECT_THAT(status.message(), HasSubstr(part));
  }
  plan::Plan plan;
  plan.backends.resize(1);
  plan.backends[0].instance = "acme";
  const auto build_of = [&](const std::string& digest) {
    RawRecords one;
    one.files["acme"]["/lib/liba.so"] = digest;
    return Assess(plan, {}, std::move(one), /*whole=*/false)
        .backends.at(0)
        .build_id;
  };
  EXPECT_EQ(build_of("111").size(), 64U);
  EXPECT_NE(build_of("111"), build_of("112"));
}

// Kills: records of another plan, or of none, taken for this one's.
TEST(RawRecordsTest, AJournalOfAnotherPlanIsRefusedByName) {
  const file::ScratchFolder folder;
  record::Record record;
  record.result.test_id = "node/Abs/a";
  const struct {
    const char* written_for;
    bool taken;
  } rows[] = {{"plan", true}, {"other", false}, {"", false}};
  for (const auto& row : rows) {
    const auto file = folder.path() / StrCat("of_", row.written_for);
    ASSERT_TRUE(
        journal::Journal::Open(file, row.written_for)->Append(record).ok());
    RawRecords raw;
    const Status status = Collect(file, "plan", &raw);
    EXPECT_EQ(status.ok(), row.taken) << row.written_for;
    EXPECT_EQ(raw.records.size(), row.taken ? 1U : 0U) << row.written_for;
    if (row.taken) continue;
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr(file.string()));
    EXPECT_THAT(status.message(), HasSubstr("another plan or module"));
  }
}

TEST(RawRecordsTest, TheJournalsOfAFolderAreGathered) {
  const file::ScratchFolder folder;
  folder.Write("notes.txt", "no journal");
  record::Record record;
  for (const char* name : {"a", "b"}) {
    record.result.test_id = StrCat("node/Abs/", name);
    const auto file = folder.path() / StrCat(name, ".journal");
    ASSERT_TRUE(journal::Journal::Open(file, "plan")->Append(record).ok());
  }
  RawRecords raw;
  const Status status = CollectFolder(folder.path(), "plan", &raw);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(raw.records.size(), 2U);
}

}  // namespace
}  // namespace assay::verdict
