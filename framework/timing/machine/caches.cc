// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/machine/caches.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::machine {
namespace {

/// The first line; empty when it cannot be read.
std::string LineOf(const std::filesystem::path& file) {
  const Result<std::string> text = file::ReadFile(file);
  if (!text.ok()) return "";
  std::string_view rest = *text;
  return std::string(CutFront(&rest));
}

/// Bytes of "48K" or "1M", as sysfs writes sizes.
std::optional<int64_t> BytesIn(std::string_view size) {
  if (size.empty()) return std::nullopt;
  int64_t unit = 1;
  if (size.back() == 'K') unit = int64_t{1} << 10;
  if (size.back() == 'M') unit = int64_t{1} << 20;
  if (unit > 1) size.remove_suffix(1);
  const auto number = file::ParseInt(size);
  if (!number || *number <= 0) return std::nullopt;
  return *number * unit;
}

/// How many processors "0-3,8" names; 1 where that is not to be read.
int64_t CountIn(std::string_view list) {
  int64_t count = 0;
  while (!list.empty()) {
    std::string_view range = CutFront(&list, ",");
    const auto first = file::ParseInt(CutFront(&range, "-"));
    const auto last = range.empty() ? first : file::ParseInt(range);
    if (!first || !last || *last < *first) return 1;
    count += *last - *first + 1;
  }
  return std::max<int64_t>(count, 1);
}

}  // namespace

std::vector<Cache> CachesOf(const std::filesystem::path& root) {
  const auto folder = root / "sys/devices/system/cpu/cpu0/cache";
  std::vector<Cache> caches;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto level = file::ParseInt(LineOf(entry.path() / "level"));
    const auto bytes = BytesIn(LineOf(entry.path() / "size"));
    if (!level || !bytes || LineOf(entry.path() / "type") == "Instruction") {
      continue;
    }
    caches.push_back(
        {*level, *bytes, CountIn(LineOf(entry.path() / "shared_cpu_list"))});
  }
  std::ranges::sort(caches, {}, &Cache::level);
  return caches;
}

}  // namespace assay::machine
