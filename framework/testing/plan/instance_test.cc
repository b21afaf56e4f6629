// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "framework/backend/identity/module_note.h"
#include "framework/file/digest.h"
#include "framework/file/module_path.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/plan/resolve.h"

namespace assay::plan {
namespace {

using Settings = std::map<std::string, std::string>;

// Kills: a version taken for part of the name or of a setting; settings_text
// that leaves a setting out.
TEST(InstanceTest, AWordIsTakenApart) {
  struct Row {
    std::string_view text;
    std::string name, version;
    Settings settings;
    std::string settings_text;
  };
  const std::vector<Row> rows = {
      {"acme", "acme", "", {}, "cpu:f32:all:1"},
      {"acme@3.13", "acme", "3.13", {}, "cpu:f32:all:1"},
      {"acme+threads=2", "acme", "", {{"threads", "2"}}, "cpu:f32:all:2"},
      {"acme@3+opt=off+x=a@b=c",
       "acme",
       "3",
       {{"opt", "off"}, {"x", "a@b=c"}},
       "cpu:f32:off:1"},
      {"acme+device=cuda:1+precision=bf16",
       "acme",
       "",
       {{"device", "cuda:1"}, {"precision", "bf16"}},
       "cuda:1:bf16:all:1"},
      {"acme+x=", "acme", "", {{"x", ""}}, "cpu:f32:all:1"},
  };
  for (const Row& row : rows) {
    const Result<Instance> parsed = ParseInstance(row.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(parsed->instance, row.text);
    EXPECT_EQ(parsed->name, row.name);
    EXPECT_EQ(parsed->version, row.version);
    EXPECT_EQ(parsed->stem, row.text.substr(0, row.text.find('+')));
    EXPECT_EQ(parsed->settings, row.settings) << row.text;
    EXPECT_EQ(parsed->settings_text, row.settings_text);
  }
}

// Kills: the second of two equal settings ignored; a lone + ignored.
TEST(InstanceTest, OtherWordsAreInvalidArguments) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  const std::vector<Row> rows = {
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
  for (const Row& row : rows) {
    const Status status = ParseInstance(row.text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.text;
    EXPECT_THAT(status.message(), testing::HasSubstr(std::string(row.message)));
  }
}

// Kills: what carries messages, given to the backend as a setting of its own.
TEST(InstanceTest, TheCarrierIsNoSetting) {
  const Result<Instance> parsed = ParseInstance("acme+ranks=mpi+threads=2");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->carrier, "mpi");
  EXPECT_EQ(parsed->settings, (Settings{{"threads", "2"}}));
  EXPECT_EQ(ParseInstance("acme")->carrier, "");
}

// Kills: a name that leads to another folder, or that is another without need.
TEST(InstanceTest, AFileIsNamedByPlainCharacters) {
  const struct {
    std::string_view instance;
    std::string_view name;
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
      ResolveBackend(folder.path().string() + "/./acme.so+threads=2");
  ASSERT_TRUE(backend.ok()) << backend.status().ToString();
  EXPECT_EQ(backend->instance, "acme+threads=2");
  EXPECT_EQ(backend->spec, spec);
  EXPECT_EQ(backend->module, file);
  EXPECT_EQ(backend->module_sha256, *file::Sha256OfFile(file));
  EXPECT_EQ(backend->policy.claims().size(), 1U);
  Plan plan;
  plan.backends = {UseOf(*backend)};
  const BackendUse& use = plan.backends[0];
  EXPECT_EQ(use.instance + " " + use.name, "acme+threads=2 acme");
  EXPECT_EQ(use.spec, spec);
  EXPECT_EQ(use.settings_text, "cpu:f32:all:2");
  EXPECT_EQ(use.module, file);
  EXPECT_EQ(use.module_sha256, backend->module_sha256);
  EXPECT_EQ(use.policy_dir, folder.path() / "acme.policy");
  EXPECT_THAT(use.claims, testing::ElementsAre("claim forward where op:Abs"));
  EXPECT_TRUE(CheckPolicies(plan).ok());
  folder.Write("acme.policy/claims.txt", "");
  EXPECT_EQ(CheckPolicies(plan).code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ResolveBackend(folder.Write("text.so", "module").string())
                  .status()
                  .message(),
              testing::HasSubstr("text.so is no module: no ELF file"));
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
  EXPECT_THAT(ResolveBackend(text).status().message(),
              testing::HasSubstr("acme+threads=2+ranks=mpi+x=1: mpi carries no "
                                 "messages between ranks"));
  folder.Write("mpi.policy/launch.txt", "transport mpi\n");
  const auto backend = ResolveBackend(text);
  ASSERT_TRUE(backend.ok()) << backend.status().ToString();
  EXPECT_EQ(backend->instance, "acme+threads=2+ranks=mpi+x=1");
  EXPECT_EQ(backend->spec, text);
  EXPECT_EQ(backend->module, acme);
  EXPECT_EQ(backend->launch.transport, "mpi");
  EXPECT_EQ(backend->policy.claims().size(), 2U);
  Plan plan;
  plan.backends = {UseOf(*backend)};
  EXPECT_EQ(plan.backends[0].carrier_module, mpi);
  EXPECT_EQ(plan.backends[0].carrier_sha256, *file::Sha256OfFile(mpi));
  EXPECT_TRUE(CheckPolicies(plan).ok());
  folder.Write("mpi.policy/launch.txt", "transport other\n");
  EXPECT_EQ(CheckPolicies(plan).code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ResolveBackend(acme + "+ranks=none").status().message(),
              testing::HasSubstr("no library none: found no "));
}

}  // namespace
}  // namespace assay::plan
