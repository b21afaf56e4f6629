// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/exact_answers.h"

#include <zstd.h>

#include <array>
#include <memory>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/file/file.h"
#include "framework/graph/model.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

// A file: this line, its lists as one frame of zstd, and the checksum of all
// that. A list is its name, the number of its answers and these; a text is its
// size and its bytes. An answer is its value and its tensors in the order of
// Parts. Numbers are little-endian and of 8 bytes; a value or tensor is its
// kind, its size and the bytes of ONNX's data files, an undefined one has size
// 0.
const std::string& Magic() {
  static const auto* magic =
      new std::string(StrCat("assay.exact/", kAnswersFormat, "\n"));
  return *magic;
}
constexpr size_t kNumberBytes = 8;

Status PutValue(wire::Writer& out, const Value& value) {
  out.Put(value.kind());
  const Tensor* tensor = value.tensor();
  const bool defined = tensor == nullptr ? value.present() : tensor->defined();
  std::string bytes;
  if (defined) {
    ASSAY_ASSIGN_OR_RETURN(bytes, graph::SerializeValue(value, ""));
  }
  out.Put(bytes);
  return OkStatus();
}

// The tensors of an answer, const or not.
template <class Answer>
auto Parts(Answer& answer) {
  return std::array{&answer.tail,       &answer.bound,    &answer.units,
                    &answer.hard_units, &answer.hull.low, &answer.hull.high};
}

Result<Value> TakeValue(wire::Reader& in) {
  const uint64_t kind = in.Number();
  const std::string bytes = in.Text();
  if (in.faulty()) return in.Fault();
  if (kind > static_cast<uint64_t>(ValueKind::kMap)) {
    return DataLoss("found a value of kind ", kind);
  }
  if (bytes.empty()) return Value();
  ValueType type;
  type.kind = static_cast<ValueKind>(kind);
  return ParseValue(std::as_bytes(std::span(bytes)), type);
}

Result<std::string> Compressed(std::string_view bytes) {
  constexpr int kFastest = 1;  // 3 saves 4 % in a third more time
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(frame.data(), frame.size(), bytes.data(),
                                    bytes.size(), kFastest);
  if (ZSTD_isError(size) != 0) {
    return Internal("zstd: ", ZSTD_getErrorName(size));
  }
  frame.resize(size);
  return frame;
}

/// The greatest window of a frame: that of a great file at the level that is
/// written, and no more memory for another that a header claims.
constexpr int kWindowLog = 21;

/// Takes memory as bytes come, whatever size the frame claims.
Result<std::string> Decompressed(std::string_view frame) {
  // Both are kept for the next file, with the memory of its window.
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>
      context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  thread_local std::vector<char> piece(ZSTD_DStreamOutSize());
  if (context == nullptr) return ResourceExhausted("zstd: found no memory");
  ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLog);
  std::string bytes;
  ZSTD_inBuffer in = {frame.data(), frame.size(), 0};
  size_t left = 1;  // of the frame; 0 at its end
  while (left != 0) {
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      return DataLoss("zstd: ", ZSTD_getErrorName(left));
    }
    if (left != 0 && out.pos == 0 && in.pos == in.size) {
      return DataLoss("the compressed lists end too early");
    }
    bytes.append(piece.data(), out.pos);
  }
  if (in.pos != in.size) {
    return DataLoss("found ", in.size - in.pos, " bytes behind the lists");
  }
  return bytes;
}

// From bytes whose checksum is right.
Status TakeList(wire::Reader& in, ExactAnswers& answers) {
  std::vector<ExactAnswer>& list = answers[in.Text()];
  const uint64_t count = in.Number();
  if (in.faulty()) return in.Fault();
  for (uint64_t i = 0; i < count; ++i) {
    ExactAnswer& answer = list.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(answer.value, TakeValue(in));
    for (Tensor* const part : Parts(answer)) {
      ASSAY_ASSIGN_OR_RETURN(const Value value, TakeValue(in));
      if (value.tensor() != nullptr) *part = *value.tensor();
    }
  }
  return OkStatus();
}

Result<ExactAnswers> Unpack(std::string_view bytes) {
  const size_t least = Magic().size() + kNumberBytes;
  if (bytes.size() < least || !bytes.starts_with(Magic())) {
    return DataLoss("no answers of format ", kAnswersFormat);
  }
  const std::string_view sum = bytes.substr(bytes.size() - kNumberBytes);
  bytes.remove_suffix(kNumberBytes);
  if (core::StableHash(bytes) != wire::Reader(sum).Number()) {
    return DataLoss("the checksum is another");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string lists,
                         Decompressed(bytes.substr(Magic().size())));
  wire::Reader in(lists);
  ExactAnswers answers;
  while (!in.AtEnd()) ASSAY_RETURN_IF_ERROR(TakeList(in, answers));
  return answers;
}

}  // namespace

Precision OraclePrecision(std::string_view dtypes) {
  const bool wide = dtypes.find("float64") != std::string_view::npos ||
                    dtypes.find("complex128") != std::string_view::npos;
  return wide ? Precision::kQuad : Precision::kDouble;
}

std::string_view ToString(Precision precision) {
  constexpr std::array<std::string_view, 3> kPrecisions = {"double", "quad",
                                                           "arbitrary"};
  return kPrecisions.at(static_cast<size_t>(precision));
}

fs::path AnswersFile(const fs::path& folder, size_t data_set) {
  return folder / StrCat("set_", data_set, ".exact");
}

Status WriteAnswers(const fs::path& file, const ExactAnswers& answers) {
  wire::Writer lists;
  for (const auto& [name, list] : answers) {
    lists.Put(name, uint64_t{list.size()});
    for (const ExactAnswer& answer : list) {
      ASSAY_RETURN_IF_ERROR(PutValue(lists, answer.value));
      for (const Tensor* const part : Parts(answer)) {
        ASSAY_RETURN_IF_ERROR(PutValue(lists, *part));
      }
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string frame, Compressed(lists.bytes()));
  std::string bytes = Magic() + frame;
  bytes += wire::Written(core::StableHash(bytes)).bytes();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(file.parent_path()));
  return file::WriteFile(file, bytes);
}

Result<ExactAnswers> ReadAnswers(const fs::path& file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, file::ReadFile(file));
  auto answers = Unpack(bytes);
  if (answers.ok()) return answers;
  return DataLoss(file.string(), ": ", answers.status().message());
}

}  // namespace assay::measure
