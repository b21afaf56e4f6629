// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/machine/environment.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::machine {
namespace {

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\"";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return std::string(
      text.substr(first, text.find_last_not_of(kBlanks) + 1 - first));
}

/// Without the blanks around it; empty when it cannot be read.
std::string TextOf(const std::filesystem::path& file) {
  const Result<std::string> text = file::ReadFile(file);
  return text.ok() ? Trimmed(*text) : "";
}

void AddOnce(const std::string& value, std::vector<std::string>* values) {
  if (value.empty() || std::ranges::count(*values, value) > 0) return;
  values->push_back(value);
}

/// The values of lines "NAME : VALUE", each once.
std::string ValuesIn(std::string_view text, std::string_view name,
                     std::string_view separator = ":") {
  std::vector<std::string> values;
  while (!text.empty()) {
    std::string_view line = CutFront(&text);
    if (!line.starts_with(name)) continue;
    if (Trimmed(CutFront(&line, separator)) == name) {
      AddOnce(Trimmed(line), &values);
    }
  }
  return Joined(values);
}

/// The folders below that are called `prefix` and a number, by that number.
std::vector<std::filesystem::path> Numbered(const std::filesystem::path& folder,
                                            std::string_view prefix) {
  std::vector<std::pair<int64_t, std::filesystem::path>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    int64_t number = 0;
    const char* const end = name.data() + name.size();
    if (name.starts_with(prefix) &&
        std::from_chars(name.data() + prefix.size(), end, number).ptr == end) {
      found.emplace_back(number, entry.path());
    }
  }
  std::ranges::sort(found);
  std::vector<std::filesystem::path> folders;
  for (auto& [number, path] : found) folders.push_back(std::move(path));
  return folders;
}

std::string CpuModel(std::string_view cpuinfo) {
  constexpr std::string_view kNames[] = {
      "vendor_id",   "cpu family",      "model",
      "stepping",    "CPU implementer", "CPU architecture",
      "CPU variant", "CPU part",        "CPU revision"};
  std::vector<std::string> parts;
  for (const std::string_view name : kNames) {
    const std::string value = ValuesIn(cpuinfo, name);
    if (!value.empty()) parts.push_back(StrCat(name, " ", value));
  }
  return Joined(parts);
}

std::string Cores(std::string_view cpuinfo) {
  int64_t cores = 0;
  while (!cpuinfo.empty()) {
    if (CutFront(&cpuinfo).starts_with("processor")) ++cores;
  }
  return cores > 0 ? std::to_string(cores) : "";
}

std::string Governor(const std::filesystem::path& cpu) {
  std::vector<std::string> governors;
  for (const auto& policy : Numbered(cpu / "cpufreq", "policy")) {
    AddOnce(TextOf(policy / "scaling_governor"), &governors);
  }
  return Joined(governors);
}

std::string Turbo(const std::filesystem::path& cpu) {
  const std::string no_turbo = TextOf(cpu / "intel_pstate/no_turbo");
  if (!no_turbo.empty()) return no_turbo == "0" ? "on" : "off";
  const std::string boost = TextOf(cpu / "cpufreq/boost");
  if (!boost.empty()) return boost == "1" ? "on" : "off";
  return "";
}

std::string Caches(const std::filesystem::path& cpu) {
  std::vector<std::string> caches;
  for (const auto& cache : Numbered(cpu / "cpu0/cache", "index")) {
    caches.push_back(StrCat("L", TextOf(cache / "level"), " ",
                            TextOf(cache / "type"), " ", TextOf(cache / "size"),
                            " of ", TextOf(cache / "shared_cpu_list")));
  }
  return Joined(caches, "; ");
}

std::string Numa(const std::filesystem::path& sys) {
  std::vector<std::string> nodes;
  for (const auto& node : Numbered(sys / "node", "node")) {
    nodes.push_back(
        StrCat(node.filename().string(), " of ", TextOf(node / "cpulist")));
  }
  return Joined(nodes, "; ");
}

std::string Mitigations(const std::filesystem::path& cpu) {
  std::set<std::string> faults;
  std::error_code error;
  for (const auto& fault :
       std::filesystem::directory_iterator(cpu / "vulnerabilities", error)) {
    const std::string state = TextOf(fault.path());
    if (state.empty() || state == "Not affected") continue;
    faults.insert(StrCat(fault.path().filename().string(), ": ", state));
  }
  return Joined(faults, "; ");
}

/// "madvise" of "always [madvise] never".
std::string Chosen(std::string_view text) {
  CutFront(&text, "[");
  return std::string(CutFront(&text, "]"));
}

/// Processors of "QUOTA PERIOD", as cpu.max has it; nothing of "max PERIOD".
std::optional<double> QuotaIn(std::string_view text) {
  const auto quota = file::ParseDouble(CutFront(&text, " "));
  const auto period = file::ParseDouble(text);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

/// Beyond it, version 1 means no limit.
std::optional<double> MemoryIn(std::string_view text) {
  const auto bytes = file::ParseDouble(text);
  return bytes && *bytes < 0x1p62 ? bytes : std::nullopt;
}

using LimitIn = std::function<std::optional<double>(
    const std::filesystem::path& group, bool is_unified)>;

/// The least limit of the control groups that this process is in, and of those
/// around them: of version 2, and of the controller in version 1.
std::string Limit(const std::filesystem::path& root,
                  std::string_view controller, const LimitIn& limit_in) {
  const std::string groups = TextOf(root / "proc/self/cgroup");
  if (groups.empty()) return "";
  std::optional<double> least;
  for (std::string_view rest = groups; !rest.empty();) {
    std::string_view line = CutFront(&rest);
    CutFront(&line, ":");
    const std::string controllers(CutFront(&line, ":"));
    const bool is_unified = controllers.empty();
    if (!is_unified &&
        StrCat(",", controllers, ",").find(StrCat(",", controller, ",")) ==
            std::string::npos) {
      continue;
    }
    const auto top = root / "sys/fs/cgroup" / controllers;
    for (std::filesystem::path group = line;; group = group.parent_path()) {
      const auto limit = limit_in(top / group.relative_path(), is_unified);
      if (limit) least = std::min(*limit, least.value_or(*limit));
      if (!group.has_relative_path()) break;
    }
  }
  return least ? file::ToText(*least) : "none";
}

std::string CpuQuota(const std::filesystem::path& root) {
  return Limit(root, "cpu", [](const auto& group, bool is_unified) {
    if (is_unified) return QuotaIn(TextOf(group / "cpu.max"));
    return QuotaIn(StrCat(TextOf(group / "cpu.cfs_quota_us"), " ",
                          TextOf(group / "cpu.cfs_period_us")));
  });
}

std::string MemoryLimit(const std::filesystem::path& root) {
  return Limit(root, "memory", [](const auto& group, bool is_unified) {
    return MemoryIn(
        TextOf(group / (is_unified ? "memory.max" : "memory.limit_in_bytes")));
  });
}

}  // namespace

std::vector<Fact> EnvironmentOf(const std::filesystem::path& root) {
  const std::filesystem::path proc = root / "proc";
  const std::filesystem::path sys = root / "sys/devices/system";
  const std::filesystem::path cpu = sys / "cpu";
  const std::string info = TextOf(proc / "cpuinfo");
  return {
      {"cpu", ValuesIn(info, "model name")},
      {"cpu_model", CpuModel(info)},
      {"cpu_features", ValuesIn(info, "flags") + ValuesIn(info, "Features")},
      {"microcode", ValuesIn(info, "microcode")},
      {"cores", Cores(info)},
      {"memory", ValuesIn(TextOf(proc / "meminfo"), "MemTotal")},
      {"kernel", Trimmed(StrCat(TextOf(proc / "sys/kernel/ostype"), " ",
                                TextOf(proc / "sys/kernel/osrelease")))},
      {"distribution",
       ValuesIn(TextOf(root / "etc/os-release"), "PRETTY_NAME", "=")},
      {"governor", Governor(cpu)},
      {"turbo", Turbo(cpu)},
      {"smt", TextOf(cpu / "smt/control")},
      {"caches", Caches(cpu)},
      {"numa", Numa(sys)},
      {"mitigations", Mitigations(cpu)},
      {"huge_pages",
       Chosen(TextOf(root / "sys/kernel/mm/transparent_hugepage/enabled"))},
      {"aslr", TextOf(proc / "sys/kernel/randomize_va_space")},
      {"affinity", ValuesIn(TextOf(proc / "self/status"), "Cpus_allowed_list")},
      {"cpu_quota", CpuQuota(root)},
      {"memory_limit", MemoryLimit(root)},
  };
}

}  // namespace assay::machine
