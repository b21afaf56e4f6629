// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "framework/backend/identity/module_note.h"
#include "framework/core/text.h"
#include "framework/file/digest.h"
#include "framework/file/module_path.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/plan/launch.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::plan {
namespace {

using Settings = std::map<std::string, std::string>;

// Kills: a version taken for part of the name or of a setting; settings_text
// that leaves a setting out.
TEST(InstanceTest, AWordIsTakenApart) {
  const struct {
    std::string_view text;
    std::string name, version;
    Settings settings;
    std::string settings_text;
  } rows[] = {
      {"acme", "acme", "", {}, "cpu:f32:all:1"},
      {"acme@3.13", "acme", "3.13", {}, "cpu:f32:all:1"},
      {"acme+threads=2", "acme", "", {{"threads", "2"}}, "cpu:f32:all:2"},
      {"acme@3+opt=off+x=a@b=c", "acme", "3",
       Settings{{"opt", "off"}, {"x", "a@b=c"}}, "cpu:f32:off:1"},
      {"acme+device=cuda:1+precision=bf16", "acme", "",
       Settings{{"device", "cuda:1"}, {"precision", "bf16"}},
       "cuda:1:bf16:all:1"},
      {"acme+x=", "acme", "", {{"x", ""}}, "cpu:f32:all:1"},
  };
  for (const auto& row : rows) {
    const Instance parsed = Got(ParseInstance(row.text));
    EXPECT_EQ(parsed.instance, row.text);
    EXPECT_EQ(parsed.name, row.name);
    EXPECT_EQ(parsed.version, row.version);
    EXPECT_EQ(parsed.stem, row.text.substr(0, row.text.find('+')));
    EXPECT_EQ(parsed.settings, row.settings) << row.text;
    EXPECT_EQ(parsed.settings_text, row.settings_text);
  }
}

// Kills: the second of two equal settings ignored; a lone + ignored.
TEST(InstanceTest, OtherWordsAreInvalidArguments) {
  const struct {
    std::string_view text, message;
  } rows[] = {
      {"", "backend '' has no name"},
      {"+a=b", "backend '+a=b' has no name"},
      {"@3", "backend '@3' has no name"},
      {"acme+", "found the setting '', wanted name=value"},
      {"acme+fast", "found the setting 'fast', wanted name=value"},
      {"acme+=1", "found the setting '=1', wanted name=value"},
      {"acme+a=1++b=2", "found the setting '', wanted name=value"},
      {"acme+a=1+a=2", "the setting a is given twice"},
      {"acme+ranks=", "found no name behind ranks="},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseInstance(row.text),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.text;
  }
}

// Kills: what carries messages, given to the backend as a setting of its own.
TEST(InstanceTest, TheCarrierIsNoSetting) {
  const Instance parsed = Got(ParseInstance("acme+ranks=mpi+threads=2"));
  EXPECT_EQ(parsed.carrier, "mpi");
  EXPECT_EQ(parsed.settings, (Settings{{"threads", "2"}}));
  EXPECT_EQ(ParseInstance("acme")->carrier, "");
}

// Kills: a name that leads to another folder, or that is another without need.
TEST(InstanceTest, AFileIsNamedByPlainCharacters) {
  const struct {
    std::string_view instance, name;
  } rows[] = {
      {"acme@3.13+x_y=AZaz09-", "acme@3.13+x_y=AZaz09-"},
      {"acme+device=cuda:1", "acme+device=cuda_1"},
      {"../a b\\c\n", ".._a_b_c_"},
      {"\xC3\xA4", "__"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(FileNameOf(row.instance), row.name);
  }
}

// This program passes for a module: it carries the note of one.
ASSAY_INTERNAL_LEAVE_NOTE;

// Kills: settings taken for a part of a file's name; a policy that changed
// under a plan; a file that is no module, planned with.
TEST(ResolveTest, AFileWithSettingsIsABackend) {
  const file::ScratchFolder folder;
  const auto file = folder.path() / "acme.so";
  std::filesystem::copy_file("/proc/self/exe", file);
  folder.Write("acme.policy/claims.txt", "claim forward where op:Abs\n");
  const std::string spec = file.string() + "+threads=2";
  const auto backend =
      Got(ResolveBackend(folder.path().string() + "/./acme.so+threads=2"));
  EXPECT_EQ(backend.instance, "acme+threads=2");
  EXPECT_EQ(backend.spec, spec);
  EXPECT_EQ(backend.module, file);
  EXPECT_EQ(backend.module_sha256, *file::Sha256OfFile(file));
  EXPECT_EQ(backend.policy.claims().size(), 1U);
  Plan plan;
  plan.backends = {UseOf(backend)};
  const BackendUse& use = plan.backends[0];
  EXPECT_EQ(use.instance + " " + use.name, "acme+threads=2 acme");
  EXPECT_EQ(use.spec, spec);
  EXPECT_EQ(use.settings_text, "cpu:f32:all:2");
  EXPECT_EQ(use.module, file);
  EXPECT_EQ(use.module_sha256, backend.module_sha256);
  EXPECT_EQ(use.policy_dir, folder.path() / "acme.policy");
  EXPECT_THAT(use.claims, testing::ElementsAre("claim forward where op:Abs"));
  EXPECT_TRUE(CheckPolicies(plan).ok());
  folder.Write("acme.policy/claims.txt", "");
  EXPECT_EQ(CheckPolicies(plan).code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ResolveBackend(folder.Write("text.so", "module").string()),
              Says("text.so is no module: no ELF file"));
  const auto installed = file::InstalledBackends();
  for (const char* none : {"none", "none.so", "none.so+x=1"}) {
    EXPECT_THAT(ResolveBackend(none).status().message(),
                testing::EndsWith(
                    StrCat("none.so; installed are ",
                           installed.empty() ? "none" : Joined(installed))));
  }
}

// Kills: the launch of the backend in place of the carrier's; a policy about
// networks of one process; a carrier whose change no plan sees.
TEST(ResolveTest, ACarrierLaunchesTheRanks) {
  const file::ScratchFolder folder;
  const auto copied = [&](const char* name) {
    const auto file = folder.path() / name;
    std::filesystem::copy_file("/proc/self/exe", file);
    return file.string();
  };
  const std::string acme = copied("acme.so");
  const std::string mpi = copied("mpi.so");
  folder.Write("acme.policy/claims.txt", "claim forward where op:Abs\n");
  folder.Write("acme.policy/ranks/claims.txt",
               "claim forward where op:a\nclaim forward where op:b\n");
  const std::string text = acme + "+threads=2+ranks=" + mpi + "+x=1";
  EXPECT_THAT(ResolveBackend(text),
              Says("acme+threads=2+ranks=mpi+x=1: mpi carries no "
                   "messages between ranks"));
  folder.Write("mpi.policy/launch.txt", "transport mpi\n");
  const auto backend = Got(ResolveBackend(text));
  EXPECT_EQ(backend.instance, "acme+threads=2+ranks=mpi+x=1");
  EXPECT_EQ(backend.spec, text);
  EXPECT_EQ(backend.module, acme);
  EXPECT_EQ(backend.launch.transport, "mpi");
  EXPECT_EQ(backend.policy.claims().size(), 2U);
  Plan plan;
  plan.backends = {UseOf(backend)};
  EXPECT_EQ(plan.backends[0].carrier_module, mpi);
  EXPECT_EQ(plan.backends[0].carrier_sha256, *file::Sha256OfFile(mpi));
  EXPECT_TRUE(CheckPolicies(plan).ok());
  folder.Write("mpi.policy/launch.txt", "transport other\n");
  EXPECT_EQ(CheckPolicies(plan).code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ResolveBackend(acme + "+ranks=none"),
              Says("no library none: found no "));
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<Launch> Read(const std::string& text) {
  const file::ScratchFolder folder;
  folder.Write("launch.txt", text);
  return ReadLaunch(folder.path());
}

TEST(LaunchTest, NamesItsTransport) {
  const auto launch = Got(Read("# how\n\ntransport threads\n"));
  EXPECT_EQ(launch.transport, "threads");
}

constexpr char kLaunched[] =
    "transport mpi\nmost 8\nlauncher run -n {ranks} --tag {ranks}\n"
    "rank THE_RANK\nenvironment ROOM={scratch}/a:{scratch}/b\n";

TEST(LaunchTest, TheCommandHasItsRanksAndItsScratch) {
  const auto launch = Got(Read(kLaunched));
  EXPECT_EQ(launch.most, 8);
  EXPECT_EQ(launch.rank, "THE_RANK");
  EXPECT_THAT(CommandOf(launch, 4, "/s"),
              ElementsAre("/usr/bin/env", "ROOM=/s/a:/s/b", "run", "-n", "4",
                          "--tag", "4"));
  EXPECT_THAT(CommandOf(*Read("transport threads\n"), 4, "/s"), IsEmpty());
}

TEST(LaunchTest, AFolderWithoutOneHasNoRanks) {
  const auto launch = Got(ReadLaunch("/nowhere"));
  EXPECT_EQ(launch.transport, "");
}

// Kills: a rank that takes itself for the first one, and judges as well.
TEST(LaunchTest, AProcessHasTheRankThatItsLauncherSays) {
  EXPECT_EQ(OwnRank("").value(), 0);
  ASSERT_EQ(setenv("ASSAY_TEST_RANK", "3", /*replace=*/1), 0);
  EXPECT_EQ(OwnRank("ASSAY_TEST_RANK").value(), 3);
  for (const char* wrong : {"", "-1", "third", "3.5"}) {
    ASSERT_EQ(setenv("ASSAY_TEST_RANK", wrong, /*replace=*/1), 0);
    const Status status = OwnRank("ASSAY_TEST_RANK").status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << wrong;
    EXPECT_EQ(status.message(), StrCat("found ASSAY_TEST_RANK to be '", wrong,
                                       "', wanted the rank of this process"));
  }
  unsetenv("ASSAY_TEST_RANK");
  EXPECT_FALSE(OwnRank("ASSAY_TEST_RANK").ok());
}

TEST(LaunchTest, RanksThatAreProcessesPrintIntoLogsOfTheirOwn) {
  EXPECT_EQ(LogOfRank("records/acme+a=1.5.1.journal", 12),
            "records/acme+a=1.5.1.rank12.log");
  EXPECT_EQ(LogNames(*Read("transport threads\n"), "acme.1"), "acme.1.log");
  EXPECT_EQ(LogNames(*Read("transport a\nlauncher run\nrank R\n"), "acme.1"),
            "acme.1.log and acme.1.rank*.log");
}

TEST(LaunchTest, WhatIsWrongIsNamedWithItsLine) {
  const struct {
    const char *text, *says;
  } rows[] = {
      {"# how\nranks 4\n", "launch.txt:2: found 'ranks 4', wanted"},
      {"transport\n", "launch.txt:1: found 'transport', wanted"},
      {"transport a\ntransport b\n", "launch.txt:2: found 'transport b'"},
      {"# nothing\n", "found no transport, wanted 'transport NAME'"},
      {"transport a\nmost 0\n", "launch.txt:2: found 'most 0'"},
      {"transport a\nlauncher run\n", "found a launcher, wanted both"},
      {"transport a\nrank R\n", "found a rank, wanted both"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Read(row.text), Says(row.says));
  }
}

}  // namespace
}  // namespace assay::plan
