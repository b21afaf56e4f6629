// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/exact_answers.h"

#include <zstd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/file/file.h"
#include "framework/graph/model.h"
#include "framework/graph/value_bytes.h"

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

void PutNumber(std::string& out, uint64_t number) {
  char bytes[kNumberBytes];
  std::memcpy(bytes, &number, kNumberBytes);
  out.append(bytes, kNumberBytes);
}

void PutText(std::string& out, std::string_view text) {
  PutNumber(out, text.size());
  out += text;
}

Status PutValue(std::string& out, const Value& value) {
  PutNumber(out, static_cast<uint64_t>(value.kind()));
  const Tensor* tensor = value.tensor();
  const bool defined = tensor == nullptr ? value.present() : tensor->defined();
  if (!defined) {
    PutNumber(out, 0);
    return OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                         graph::SerializeValue(value, ""));
  PutText(out, bytes);
  return OkStatus();
}

// The tensors of an answer, const or not.
template <class Answer>
auto Parts(Answer& answer) {
  return std::array{&answer.tail,       &answer.bound,    &answer.units,
                    &answer.hard_units, &answer.hull.low, &answer.hull.high};
}

// Reads values in the order in which they were put, from bytes whose checksum
// is right.
class Source {
 public:
  explicit Source(std::string_view bytes) : rest_(bytes) {}

  Result<uint64_t> Number() {
    ASSAY_ASSIGN_OR_RETURN(const std::string_view bytes, Take(kNumberBytes));
    uint64_t number = 0;
    std::memcpy(&number, bytes.data(), kNumberBytes);
    return number;
  }

  Result<std::string_view> Text() {
    ASSAY_ASSIGN_OR_RETURN(const uint64_t size, Number());
    return Take(size);
  }

  Result<Value> TakeValue() {
    ASSAY_ASSIGN_OR_RETURN(const uint64_t kind, Number());
    ASSAY_ASSIGN_OR_RETURN(const std::string_view bytes, Text());
    if (kind > static_cast<uint64_t>(ValueKind::kMap)) {
      return DataLoss("found a value of kind ", kind);
    }
    if (bytes.empty()) return Value();
    ValueType type;
    type.kind = static_cast<ValueKind>(kind);
    return ParseValue(std::as_bytes(std::span(bytes)), type);
  }

  Result<Tensor> TakeTensor() {
    ASSAY_ASSIGN_OR_RETURN(const Value value, TakeValue());
    return value.tensor() == nullptr ? Tensor() : *value.tensor();
  }

  bool empty() const { return rest_.empty(); }

 private:
  Result<std::string_view> Take(uint64_t size) {
    if (size > rest_.size()) {
      return DataLoss("found ", rest_.size(), " bytes, wanted ", size);
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

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
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(
      ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) return ResourceExhausted("zstd: found no memory");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLog);
  std::string bytes;
  std::vector<char> piece(ZSTD_DStreamOutSize());
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

Status TakeList(Source& source, ExactAnswers& answers) {
  ASSAY_ASSIGN_OR_RETURN(const std::string_view name, source.Text());
  ASSAY_ASSIGN_OR_RETURN(const uint64_t count, source.Number());
  std::vector<ExactAnswer>& list = answers[std::string(name)];
  for (uint64_t i = 0; i < count; ++i) {
    ExactAnswer& answer = list.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(answer.value, source.TakeValue());
    for (Tensor* const part : Parts(answer)) {
      ASSAY_ASSIGN_OR_RETURN(*part, source.TakeTensor());
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
  uint64_t wanted = 0;
  std::memcpy(&wanted, sum.data(), kNumberBytes);
  if (core::StableHash(bytes) != wanted)
    return DataLoss("the checksum is another");
  ASSAY_ASSIGN_OR_RETURN(const std::string lists,
                         Decompressed(bytes.substr(Magic().size())));
  Source source(lists);
  ExactAnswers answers;
  while (!source.empty()) {
    ASSAY_RETURN_IF_ERROR(TakeList(source, answers));
  }
  return answers;
}

}  // namespace

Precision OraclePrecision(std::string_view dtypes) {
  const bool wide = dtypes.find("float64") != std::string_view::npos ||
                    dtypes.find("complex128") != std::string_view::npos;
  return wide ? Precision::kQuad : Precision::kDouble;
}

std::string_view ToString(Precision precision) {
  switch (precision) {
    case Precision::kDouble:
      return "double";
    case Precision::kQuad:
      return "quad";
    case Precision::kArbitrary:
      return "arbitrary";
  }
  return "";
}

fs::path AnswersFile(const fs::path& folder, size_t data_set) {
  return folder / StrCat("set_", data_set, ".exact");
}

Status WriteAnswers(const fs::path& file, const ExactAnswers& answers) {
  std::string lists;
  for (const auto& [name, list] : answers) {
    PutText(lists, name);
    PutNumber(lists, list.size());
    for (const ExactAnswer& answer : list) {
      ASSAY_RETURN_IF_ERROR(PutValue(lists, answer.value));
      for (const Tensor* const part : Parts(answer)) {
        ASSAY_RETURN_IF_ERROR(PutValue(lists, *part));
      }
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string frame, Compressed(lists));
  std::string bytes = Magic() + frame;
  PutNumber(bytes, core::StableHash(bytes));
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
