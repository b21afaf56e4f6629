// SPDX-License-Identifier: Apache-2.0
//
// Device: the oneDNN CPU engine of this process, started when it is first
// needed, after a check that the library that was loaded is the one whose
// headers the backend was compiled with (several oneDNN releases share one
// SONAME, so that the loader may hand over another).
//
// Thread rule: Start may be called from several threads; engine() after it.

#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "dnnl.hpp"
#include "framework/core/status.h"

namespace assay::onednn {

class Device {
 public:
  /// Unavailable when versions differ or the engine cannot be made. The
  /// answer of the first call is kept.
  Status Start();

  /// Valid after Start succeeded.
  const dnnl::engine& engine() const { return engine_; }

 private:
  std::once_flag once_;
  Status status_;
  dnnl::engine engine_;
};

/// Version of the loaded library, "3.2.0".
std::string RuntimeVersion();

/// Keeps the library to the instruction set that the setting "isa" names, as
/// "sse41" or "avx2"; to the best of the processor when it is not given. The
/// library takes one for a process, before its first primitive: another later
/// on is a failed precondition. Unavailable where the processor lacks it,
/// invalid argument for a name that oneDNN has not.
Status LimitIsa(const std::map<std::string, std::string>& settings);

/// True when the library uses that set, below its limit and on this processor.
bool HasIsa(dnnl::cpu_isa wanted);

/// The names of the sets that HasIsa is true of, the least first.
std::vector<std::string> IsasInForce();

/// OpenMP threads of one primitive: the setting "threads", 1 when it is not
/// given. Invalid argument unless it is a whole number in [1, 1024].
Result<int> ReadThreads(const std::map<std::string, std::string>& settings);

}  // namespace assay::onednn
