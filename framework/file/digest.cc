// SPDX-License-Identifier: Apache-2.0

#include "framework/file/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace assay::file {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t Nanoseconds(const timespec& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}

Result<std::string> DigestOf(const std::filesystem::path& prefix,
                             const FileDigests& known,
                             std::initializer_list<const char*> files) {
  std::string digests;
  for (const char* file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest, known.Of(prefix / file));
    digests += digest;
  }
  return Sha256(digests);
}

}  // namespace

void Sha256Stream::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  // EVP_sha256() would be looked up by its name each time.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_DigestInit_ex(context_.get(), kSha256, nullptr);
}

void Sha256Stream::Add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

std::string Sha256Stream::Finish() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string Sha256(std::string_view text) {
  Sha256Stream stream;
  stream.Add(text);
  return stream.Finish();
}

Result<std::string> Sha256OfFile(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info = {};
  // A device has no end, and a pipe none that can be waited for.
  if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISDIR(info.st_mode)) {
    close(fd);
    return NotFound("cannot read ", file.string(), ": it is no regular file");
  }
  Sha256Stream stream;
  std::array<char, 65536> block;
  ssize_t got = -1;
  while (fd >= 0 && (got = read(fd, block.data(), block.size())) > 0) {
    stream.Add({block.data(), static_cast<size_t>(got)});
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  if (got == 0) return stream.Finish();
  return NotFound("cannot read ", file.string(), ": ", std::strerror(error));
}

Result<std::string> FileDigests::Of(const std::filesystem::path& file) const {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  struct stat info = {};
  const bool is_there = stat(file.c_str(), &info) == 0;
  const int64_t changed = Nanoseconds(info.st_ctim);
  std::unique_lock lock(mutex_);
  if (!is_there || changed > Nanoseconds(now) - kSecond) {
    ++reads_;
    lock.unlock();
    return Sha256OfFile(file);
  }
  const Version version(info.st_dev, info.st_ino, info.st_size, changed);
  if (const auto found = known_.find(version); found != known_.end()) {
    const auto digest = found->second;
    lock.unlock();
    return digest.get();
  }
  std::promise<Result<std::string>> promise;
  known_.emplace(version, promise.get_future().share());
  ++reads_;
  lock.unlock();
  Result<std::string> digest = Sha256OfFile(file);
  promise.set_value(digest);
  return digest;
}

std::string FileDigests::LinesOf(std::string_view paths) const {
  std::string lines;
  while (!paths.empty()) {
    const std::string path(CutFront(&paths));
    const Result<std::string> digest = Of(path);
    if (digest.ok()) lines += StrCat(*digest, " ", path, "\n");
  }
  return lines;
}

int64_t FileDigests::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

Result<std::string> BuildId(const std::filesystem::path& prefix,
                            const FileDigests& digests) {
  return DigestOf(prefix, digests,
                  {"bin/assay", "bin/assay-host", "bin/assay-worker",
                   "lib/libassay_core.so"});
}

Result<std::string> WorkerId(const std::filesystem::path& prefix,
                             const FileDigests& digests) {
  return DigestOf(
      prefix, digests,
      {"bin/assay-host", "bin/assay-worker", "lib/libassay_core.so"});
}

}  // namespace assay::file
