// SPDX-License-Identifier: Apache-2.0
//
// Device: the oneDNN CPU engine of this process, started when it is first
// needed, after a check that the library that was loaded is the one whose
// headers the backend was compiled with (several oneDNN releases share one
// SONAME, so that the loader may hand over another).
//
//   ASSAY_RETURN_IF_ERROR(device->Start());
//   Use(device->engine());
//
// Thread rule: Start may be called from several threads; engine() after it.

#ifndef ASSAY_BACKENDS_ONEDNN_PRIMITIVE_DEVICE_H_
#define ASSAY_BACKENDS_ONEDNN_PRIMITIVE_DEVICE_H_

#include <map>
#include <mutex>
#include <string>

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

/// OpenMP threads of one primitive: the setting "threads", 1 when it is not
/// given. Invalid argument unless it is a whole number in [1, 1024].
Result<int> ReadThreads(const std::map<std::string, std::string>& settings);

}  // namespace assay::onednn

#endif  // ASSAY_BACKENDS_ONEDNN_PRIMITIVE_DEVICE_H_
