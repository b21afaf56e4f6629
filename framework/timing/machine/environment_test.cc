// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/machine/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "framework/file/scratch_folder.h"

namespace assay::machine {
namespace {

using Files = std::map<std::string, std::string>;

const Files& Server() {
  static const Files files = {
      {"proc/cpuinfo",
       "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
       "model\t\t: 85\nmodel name\t: Some Xeon\nstepping\t: 7\n"
       "microcode\t: 0x11\nflags\t\t: fpu avx2\n\n"
       "processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
       "model\t\t: 85\nmodel name\t: Some Xeon\nstepping\t: 7\n"
       "microcode\t: 0x12\nflags\t\t: fpu avx2\n\n"},
      {"proc/meminfo", "MemTotal:       16000 kB\nMemFree:     5 kB\n"},
      {"proc/sys/kernel/ostype", "Linux\n"},
      {"proc/sys/kernel/osrelease", "6.1.0\n"},
      {"proc/sys/kernel/randomize_va_space", "2\n"},
      {"proc/self/status",
       "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1\n"},
      {"proc/self/cgroup", "0::/user/job\n"},
      {"etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian 12\"\n"},
      {"sys/fs/cgroup/user/job/cpu.max", "150000 100000\n"},
      {"sys/fs/cgroup/user/cpu.max", "400000 100000\n"},
      {"sys/fs/cgroup/user/job/memory.max", "max\n"},
      {"sys/fs/cgroup/user/memory.max", "8589934592\n"},
      {"sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
       "powersave\n"},
      {"sys/devices/system/cpu/cpufreq/policy2/scaling_governor",
       "performance\n"},
      {"sys/devices/system/cpu/cpufreq/policy10/scaling_governor",
       "powersave\n"},
      {"sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"},
      {"sys/devices/system/cpu/smt/control", "on\n"},
      {"sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"},
      {"sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"},
      {"sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"},
      {"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0\n"},
      {"sys/devices/system/cpu/cpu0/cache/index10/level", "3\n"},
      {"sys/devices/system/cpu/cpu0/cache/index10/type", "Unified\n"},
      {"sys/devices/system/cpu/cpu0/cache/index10/size", "32768K\n"},
      {"sys/devices/system/cpu/cpu0/cache/index10/shared_cpu_list", "0-1\n"},
      {"sys/devices/system/cpu/cpu0/cache/index2/level", "2\n"},
      {"sys/devices/system/cpu/cpu0/cache/index2/type", "Unified\n"},
      {"sys/devices/system/cpu/cpu0/cache/index2/size", "1M\n"},
      {"sys/devices/system/cpu/cpu0/cache/index2/shared_cpu_list", "0\n"},
      {"sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"},
      {"sys/devices/system/cpu/vulnerabilities/srso", "Vulnerable\n"},
      {"sys/devices/system/cpu/vulnerabilities/l1tf", "Mitigation: PTE\n"},
      {"sys/devices/system/node/node0/cpulist", "0\n"},
      {"sys/devices/system/node/node1/cpulist", "1\n"},
      {"sys/devices/system/node/possible", "0-1\n"},
      {"sys/kernel/mm/transparent_hugepage/enabled",
       "always [madvise] never\n"},
  };
  return files;
}

std::map<std::string, std::string> FactsOf(const Files& files) {
  const file::ScratchFolder root;
  for (const auto& [name, text] : files) root.Write(name, text);
  std::map<std::string, std::string> facts;
  for (const Fact& fact : EnvironmentOf(root.path())) {
    EXPECT_TRUE(facts.emplace(fact.name, fact.value).second) << fact.name;
  }
  return facts;
}

// Kills: a fact that is not read, is another's, or is that of the first
// processor, and a limit of the innermost group although one around it is less.
TEST(EnvironmentOf, TellsTheFactsOfAMachine) {
  const std::map<std::string, std::string> want = {
      {"cpu", "Some Xeon"},
      {"cpu_model",
       "vendor_id GenuineIntel, cpu family 6, model 85, stepping 7"},
      {"cpu_features", "fpu avx2"},
      {"microcode", "0x11, 0x12"},
      {"cores", "2"},
      {"memory", "16000 kB"},
      {"kernel", "Linux 6.1.0"},
      {"distribution", "Debian 12"},
      {"governor", "powersave, performance"},
      {"turbo", "off"},
      {"smt", "on"},
      {"caches",
       "L1 Data 32K of 0; L2 Unified 1M of 0; L3 Unified 32768K of 0-1"},
      {"numa", "node0 of 0; node1 of 1"},
      {"mitigations", "l1tf: Mitigation: PTE; srso: Vulnerable"},
      {"huge_pages", "madvise"},
      {"aslr", "2"},
      {"affinity", "0-1"},
      {"cpu_quota", "1.5"},
      {"memory_limit", "8589934592"},
  };
  EXPECT_EQ(FactsOf(Server()), want);
}

// Kills: a fact that is there on one machine and not on the other, so that a
// digest means two things; and a value where nothing is known.
TEST(EnvironmentOf, HasTheSameNamesEverywhere) {
  const auto here = FactsOf(Server());
  const auto nowhere = FactsOf({});
  ASSERT_EQ(here.size(), nowhere.size());
  for (const auto& [name, value] : nowhere) {
    EXPECT_EQ(value, "") << name;
    EXPECT_EQ(here.count(name), 1U) << name;
  }
}

// Kills: a limit of version 1 that is not seen, of another controller, or that
// is none; a limit around that is less; an unlimited number.
TEST(EnvironmentOf, KnowsTheLimitsOfControlGroups) {
  const struct {
    std::string name;
    Files files;
    std::string quota, memory;
  } kRows[] = {
      {"none", {{"proc/self/cgroup", "0::/\n"}}, "none", "none"},
      {"version 2, around",
       {{"proc/self/cgroup", "0::/a/b\n"},
        {"sys/fs/cgroup/a/b/cpu.max", "300000 100000\n"},
        {"sys/fs/cgroup/a/cpu.max", "50000 100000\n"},
        {"sys/fs/cgroup/a/b/memory.max", "1000\n"},
        {"sys/fs/cgroup/a/memory.max", "2000\n"}},
       "0.5",
       "1000"},
      {"version 1",
       {{"proc/self/cgroup",
         "3:cpuset:/z\n2:memory:/m\n1:cpu,cpuacct:/c\n0::/\n"},
        {"sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "200000\n"},
        {"sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n"},
        {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
        {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
        {"sys/fs/cgroup/cpuset/z/cpu.cfs_quota_us", "1\n"},
        {"sys/fs/cgroup/cpuset/z/cpu.cfs_period_us", "100000\n"},
        {"sys/fs/cgroup/memory/m/memory.limit_in_bytes",
         "9223372036854771712\n"},
        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n"}},
       "2",
       "3000"},
  };
  for (const auto& row : kRows) {
    const auto facts = FactsOf(row.files);
    EXPECT_EQ(facts.at("cpu_quota"), row.quota) << row.name;
    EXPECT_EQ(facts.at("memory_limit"), row.memory) << row.name;
  }
}

// Kills: one vendor's word for turbo, the other's, or the reverse of either.
TEST(EnvironmentOf, KnowsTurboOfBothVendors) {
  const std::string cpu = "sys/devices/system/cpu/";
  const struct {
    std::string file, text, want;
  } kRows[] = {
      {"intel_pstate/no_turbo", "0\n", "on"},
      {"intel_pstate/no_turbo", "1\n", "off"},
      {"cpufreq/boost", "1\n", "on"},
      {"cpufreq/boost", "0\n", "off"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(FactsOf({{cpu + row.file, row.text}}).at("turbo"), row.want);
  }
}

// Kills: a processor without the words of x86.
TEST(EnvironmentOf, KnowsAnArm) {
  const auto facts = FactsOf(
      {{"proc/cpuinfo",
        "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n"
        "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
        "CPU part\t: 0xd0c\nCPU revision\t: 1\n"}});
  EXPECT_EQ(facts.at("cpu_model"),
            "CPU implementer 0x41, CPU architecture 8, CPU variant 0x3, CPU "
            "part 0xd0c, CPU revision 1");
  EXPECT_EQ(facts.at("cpu_features"), "fp asimd");
}

// Kills: facts that differ from one call to the next on a real machine.
TEST(EnvironmentOf, StaysAsItIs) {
  const auto facts = EnvironmentOf("/");
  EXPECT_EQ(facts, EnvironmentOf("/"));
  EXPECT_EQ(std::ranges::count(facts, Fact{"cores", ""}), 0);
}

}  // namespace
}  // namespace assay::machine
