// SPDX-License-Identifier: Apache-2.0
//
// Digests: SHA-256 where a digest is kept or compared across machines.
//
//   const std::string hash = Sha256(text);         // 64 hexadecimal digits
//   ASSAY_ASSIGN_OR_RETURN(std::string module, Sha256OfFile("acme.so"));

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "framework/core/status.h"

struct evp_md_ctx_st;  // of OpenSSL

namespace assay::file {

/// The digest of bytes that come one after the other.
class Sha256Stream {
 public:
  Sha256Stream();
  void Add(std::string_view bytes);
  std::string Finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string Sha256(std::string_view text);

/// Not found, with the system's reason, when the file cannot be read.
Result<std::string> Sha256OfFile(const std::filesystem::path& file);

}  // namespace assay::file
