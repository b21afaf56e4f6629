// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/primitive/device.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::onednn {
namespace {

std::string Version(int major, int minor, int patch) {
  return StrCat(major, ".", minor, ".", patch);
}

Status MakeEngine(dnnl::engine& engine) {
  const std::string compiled =
      Version(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
  if (const std::string loaded = RuntimeVersion(); loaded != compiled) {
    return Unavailable("the loaded oneDNN is ", loaded,
                       ", this backend was compiled for ", compiled);
  }
  try {
    engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  } catch (const dnnl::error& error) {
    return Unavailable("oneDNN ", compiled,
                       " has no CPU engine: ", error.what());
  }
  return OkStatus();
}

using dnnl::cpu_isa;

// The library's names, as DNNL_MAX_CPU_ISA takes them in upper case.
constexpr std::array<std::pair<std::string_view, cpu_isa>, 11> kIsas = {{
    {"sse41", cpu_isa::sse41},
    {"avx", cpu_isa::avx},
    {"avx2", cpu_isa::avx2},
    {"avx2_vnni", cpu_isa::avx2_vnni},
    {"avx2_vnni_2", cpu_isa::avx2_vnni_2},
    {"avx512_core", cpu_isa::avx512_core},
    {"avx512_core_vnni", cpu_isa::avx512_core_vnni},
    {"avx512_core_bf16", cpu_isa::avx512_core_bf16},
    {"avx512_core_fp16", cpu_isa::avx512_core_fp16},
    {"avx512_core_amx", cpu_isa::avx512_core_amx},
    {"avx512_core_amx_fp16", cpu_isa::avx512_core_amx_fp16},
}};

Result<cpu_isa> ParseIsa(std::string_view name) {
  std::string known;
  for (const auto& [text, isa] : kIsas) {
    if (text == name) return isa;
    known += StrCat(known.empty() ? "" : ", ", text);
  }
  return InvalidArgument("setting isa is '", name, "', wanted one of ", known);
}

Status Limit(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const cpu_isa isa, ParseIsa(name));
  if (dnnl::set_max_cpu_isa(isa) != dnnl::status::success) {
    return FailedPrecondition("setting isa is '", name,
                              "', but oneDNN takes one before its first "
                              "primitive only");
  }
  if (!HasIsa(isa)) {
    return Unavailable("setting isa is '", name,
                       "', which this processor has not");
  }
  return OkStatus();
}

}  // namespace

bool HasIsa(cpu_isa wanted) {
  const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bits = static_cast<unsigned>(wanted);
  return (has & bits) == bits;
}

Status LimitIsa(const std::map<std::string, std::string>& settings) {
  static std::mutex mutex;
  // The set of this process, once the library took one: the processor may lack
  // it.
  static std::optional<std::pair<std::string, Status>> limit;
  const auto found = settings.find("isa");
  if (found == settings.end()) return OkStatus();
  const std::lock_guard lock(mutex);
  if (limit.has_value() && limit->first == found->second) return limit->second;
  Status status = Limit(found->second);
  if (status.ok() || status.code() == StatusCode::kUnavailable) {
    limit.emplace(found->second, status);
  }
  return status;
}

std::string RuntimeVersion() {
  const dnnl_version_t* version = dnnl_version();
  return Version(version->major, version->minor, version->patch);
}

Status Device::Start() {
  std::call_once(once_, [this] { status_ = MakeEngine(engine_); });
  return status_;
}

std::vector<std::string> IsasInForce() {
  std::vector<std::string> names;
  for (const auto& [name, isa] : kIsas) {
    if (HasIsa(isa)) names.emplace_back(name);
  }
  return names;
}

Result<int> ReadThreads(const std::map<std::string, std::string>& settings) {
  constexpr int kMostThreads = 1024;
  const auto found = settings.find("threads");
  if (found == settings.end()) return 1;
  const std::string& value = found->second;
  int threads = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, threads);
  if (parsed.ec != std::errc() || parsed.ptr != end || threads < 1 ||
      threads > kMostThreads) {
    return InvalidArgument("setting threads is '", value,
                           "', wanted a whole number from 1 to ", kMostThreads);
  }
  return threads;
}

}  // namespace assay::onednn
