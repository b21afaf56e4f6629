// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/natives.h"

namespace assay::overhead {

Result<Calls> NativeOf(std::string_view library, const Case& of,
                       const Bound& bound) {
#ifdef ASSAY_HAS_ONEDNN
  if (library == "dnnl") return OneDnnCalls(of, bound);
#endif
  if (library == "onnxruntime") return OnnxRuntimeCalls(of, bound);
  return InvalidArgument(
      "found the library '", library,
      "', wanted dnnl, where it is built in, or onnxruntime");
}

}  // namespace assay::overhead
