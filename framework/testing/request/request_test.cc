// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/request/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/file/scratch_folder.h"
#include "framework/testing/request/form_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::request {
namespace {

using testing::ElementsAre;

TEST(RequestTest, EachKindIsReadAsItIsWritten) {
  ExpectWhole<WorkerRequest>();
  ExpectWhole<HostRequest>();
}

TEST(RequestTest, AnyTextAndListCrosses) {
  WorkerRequest request;
  request.backend = "acme+path=\"a,b\"\n";
  request.batch = "batch, of many";
  request.facts.scratch = "a folder/b";
  request.walls.hidden = {"/plain", "/with, comma", "/with \"quotes\"\nlines"};
  const auto same = Got(Parse<WorkerRequest>(TextOf(request)));
  EXPECT_EQ(same.backend, request.backend);
  EXPECT_EQ(same.facts.scratch, request.facts.scratch);
  EXPECT_EQ(same.walls.hidden, request.walls.hidden);
  EXPECT_TRUE(same.walls.kept.empty());
}

// Kills: a field that is empty and gets its default back.
TEST(RequestTest, WhatIsLackingKeepsItsDefault) {
  EXPECT_TRUE(
      Got(Parse<HostRequest>("request,host\nmodule,a\nname,b\n")).forks);
  HostRequest request{.module = "a", .name = "b", .forks = false};
  EXPECT_FALSE(Parse<HostRequest>(TextOf(request))->forks);
}

TEST(RequestTest, SaysWhatIsWrong) {
  const struct {
    const char *text, *says;
  } rows[] = {
      {"", "line 1: found '', wanted 'request,host'"},
      {"request,worker\n", "line 1: found 'request,worker', wanted"},
      {"request,host\nmodul,a\n", "line 2: found the field 'modul', wanted"},
      {"request,host\nmodul,a\n", "did you mean module?"},
      {"request,host\nmodule,a\nmodule,b\n",
       "line 3: found the field module twice"},
      {"request,host\nparent,x\n",
       "line 2: found 'x' as parent, wanted integer: process"},
      {"request,host\nforks,maybe\n", "found 'maybe' as forks, wanted flag"},
      {"request,host\nhide,\"\"\"a\"\n", "found '\"a' as hide, wanted list"},
      {"request,host\nmodule\n", "line 2: found 1 columns, wanted"},
      {"request,host\nname,b\n", "found no module, wanted text: file to load"},
      {"request,host\nname,\"b\n", "a quoted field is not closed"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Parse<HostRequest>(row.text), Says(row.says)) << row.text;
  }
}

TEST(RequestTest, AFileIsNamedInWhatIsWrongWithIt) {
  const file::ScratchFolder folder;
  const auto file = folder.path() / "a.request";
  EXPECT_EQ(ReadFrom<HostRequest>(file).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(file::WriteFile(file, "request,host\n").ok());
  EXPECT_THAT(ReadFrom<HostRequest>(file), Says("a.request: found no module"));
  ASSERT_TRUE(
      file::WriteFile(file, "request,host\nmodule,a\nname,b\nkeep,c\n").ok());
  EXPECT_THAT(ReadFrom<HostRequest>(file)->walls.kept, ElementsAre("c"));
}

TEST(RequestTest, AKindIsThatOfTheFirstLine) {
  EXPECT_EQ(KindOf("request,train\nmodel,mlp\n"), "train");
  EXPECT_EQ(KindOf("--run\nreference\n"), "");
}

}  // namespace
}  // namespace assay::request
