// SPDX-License-Identifier: Apache-2.0
//
// Cases in files, for tests: arrays as the bytes of NumPy's files, and a folder
// of a person's own.
//
//   folder.Write("x.npy", NpyBytes("<f4", "(2,)", FloatBytes({1, 2})));

#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/case/onnx_bytes.h"
#include "framework/testing/case/plain_corpus.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::cases {

inline std::string FloatBytes(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A little-endian number of so many bytes.
inline std::string NumberBytes(uint64_t number, size_t size) {
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &number, size);
  return bytes;
}

inline std::string NpyBytes(std::string_view descr, std::string_view shape,
                            std::string_view data,
                            std::string_view is_fortran = "False") {
  std::string header =
      StrCat("{'descr': '", descr, "', 'fortran_order': ", is_fortran,
             ", 'shape': ", shape, ", }");
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  return StrCat("\x93NUMPY", std::string("\x01\0", 2),
                NumberBytes(header.size(), 2), header, data);
}

/// Entries NAME.npy of a zip archive, stored; or deflated, and with all that
/// may stand between them: extra fields and comments.
inline std::string NpzBytes(
    const std::vector<std::pair<std::string, std::string>>& arrays,
    bool is_packed = false) {
  std::string zip;
  std::string listed;
  for (const auto& [name, bytes] : arrays) {
    std::string stored = bytes;
    if (is_packed) {
      z_stream stream = {};
      deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
      stored.resize(deflateBound(&stream, bytes.size()));
      stream.next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(bytes.size());
      stream.next_out = reinterpret_cast<Bytef*>(stored.data());
      stream.avail_out = static_cast<uInt>(stored.size());
      deflate(&stream, Z_FINISH);
      stored.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const std::string facts = StrCat(
        NumberBytes(20, 2), NumberBytes(0, 2),
        NumberBytes(is_packed ? 8 : 0, 2), NumberBytes(0, 4),
        NumberBytes(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                            bytes.size()),
                    4),
        NumberBytes(stored.size(), 4), NumberBytes(bytes.size(), 4),
        NumberBytes(name.size() + 4, 2));
    const std::string local = is_packed ? "extra" : "";
    const std::string extra = is_packed ? "more" : "";
    const std::string comment = is_packed ? "of it" : "";
    listed += StrCat("PK\x01\x02", NumberBytes(20, 2), facts,
                     NumberBytes(extra.size(), 2),
                     NumberBytes(comment.size(), 2), NumberBytes(0, 8),
                     NumberBytes(zip.size(), 4), name, ".npy", extra, comment);
    zip += StrCat("PK\x03\x04", facts, NumberBytes(local.size(), 2), name,
                  ".npy", local, stored);
  }
  const std::string comment = is_packed ? "of all" : "";
  return StrCat(zip, listed, "PK\x05\x06", NumberBytes(0, 4),
                NumberBytes(arrays.size(), 2), NumberBytes(arrays.size(), 2),
                NumberBytes(listed.size(), 4), NumberBytes(zip.size(), 4),
                NumberBytes(comment.size(), 2), comment);
}

inline std::vector<std::string> TestIdsOf(const Corpus& corpus) {
  std::vector<std::string> ids;
  for (const TestCase& c : corpus.cases) ids.push_back(c.test_id);
  return ids;
}

/// A folder of a person's own to write cases into, and to read.
class PlainFolders : public testing::Test {
 protected:
  void WriteDataSet(const std::string& below) const {
    folder_.Write(below + "/input_0.pb", FloatsBytes({1, -2}));
    folder_.Write(below + "/output_0.pb", FloatsBytes({1, 2}));
  }
  void WriteCase(const std::string& name, const ChainModel& model) const {
    folder_.Write(name + "/model.onnx", ModelBytes(model));
    WriteDataSet(name + "/test_data_set_0");
  }
  Corpus Read(const std::filesystem::path& below = "") const {
    return Got(ReadPlainCorpus(folder_.path() / below));
  }

  const file::ScratchFolder folder_;
};

}  // namespace assay::cases
