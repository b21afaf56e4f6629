// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/primitive/device.h"

#include <charconv>
#include <string_view>

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

}  // namespace

std::string RuntimeVersion() {
  const dnnl_version_t* version = dnnl_version();
  return Version(version->major, version->minor, version->patch);
}

Status Device::Start() {
  std::call_once(once_, [this] { status_ = MakeEngine(engine_); });
  return status_;
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
