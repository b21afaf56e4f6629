// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/image/library.h"

#include <dlfcn.h>

namespace assay::reference {
namespace {

namespace fs = std::filesystem;

// codecs/image_codecs.so beside the module that this code is in; of a program
// that holds it itself, in lib/assay beside the program's folder.
fs::path ModuleFile() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&ModuleFile), &info) == 0) return {};
  std::error_code error;
  const fs::path here =
      fs::absolute(info.dli_fname, error).lexically_normal().parent_path();
  const fs::path beside = here / "codecs" / "image_codecs.so";
  const fs::path of_program =
      here.parent_path() / "lib" / "assay" / "codecs" / "image_codecs.so";
  return !fs::exists(beside, error) && fs::exists(of_program, error)
             ? of_program
             : beside;
}

}  // namespace

Result<const ImageCodecs*> LoadImageCodecs(const fs::path& file) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const message = dlerror();
    return Unavailable("the image codecs are not loaded from ", file.string(),
                       ": ", message == nullptr ? "unknown error" : message);
  }
  const auto get =
      reinterpret_cast<GetImageCodecs>(dlsym(handle, "assay_image_codecs"));
  const ImageCodecs* const codecs = get == nullptr ? nullptr : get();
  if (codecs == nullptr || codecs->version != kImageCodecsVersion) {
    return Unavailable("the image codecs in ", file.string(), " have version ",
                       codecs == nullptr ? 0 : codecs->version, ", wanted ",
                       kImageCodecsVersion);
  }
  return codecs;
}

Result<const ImageCodecs*> LoadImageCodecs() {
  static const Result<const ImageCodecs*> loaded =
      LoadImageCodecs(ModuleFile());
  return loaded;
}

}  // namespace assay::reference
