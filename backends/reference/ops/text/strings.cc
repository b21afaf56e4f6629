// SPDX-License-Identifier: Apache-2.0
//
// Strings: StringConcat, StringSplit, StringNormalizer. Text is UTF-8.

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <functional>
#include <string>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"

namespace assay::reference {
namespace {

// StringConcat-20: element by element, with broadcasting.
Status StringConcat(const op::StringConcat& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Tensor& y = run.input(op.y);
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, Broadcast(x.shape(), y.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor * z, run.Output(op.z, DType::kString, shape));
  const Nest<3> nest(shape,
                     {BroadcastStrides(x.shape(), shape),
                      BroadcastStrides(y.shape(), shape), DenseStrides(shape)});
  const auto left = x.strings();
  const auto right = y.strings();
  const auto both = z->mutable_strings();
  nest.ForEachRow([&](const Nest<3>::Row& row) {
    for (int64_t i = 0; i < row.count; ++i) {
      both[static_cast<size_t>(row.at[2] + i)] =
          left[static_cast<size_t>(row.at[0] + i * row.step[0])] +
          right[static_cast<size_t>(row.at[1] + i * row.step[1])];
    }
  });
  return OkStatus();
}

using Words = std::vector<std::string>;

// As Python's str.split: without a delimiter at runs of white space, of which
// those at the ends count for nothing.
Words SplitAtSpaces(std::string_view text, int64_t most) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  Words words;
  while (true) {
    const size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const size_t end = text.find_first_of(kSpaces);
    if (end == std::string_view::npos || std::ssize(words) == most) {
      const size_t last = text.find_last_not_of(kSpaces) + 1;
      words.emplace_back(text.substr(
          0, std::ssize(words) == most ? last : std::min(end, last)));
      return words;
    }
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Words SplitAt(std::string_view text, std::string_view delimiter, int64_t most) {
  Words words;
  while (std::ssize(words) < most) {
    const size_t end = text.find(delimiter);
    if (end == std::string_view::npos) break;
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  words.emplace_back(text);
  return words;
}

// StringSplit-20: Y has a last axis as long as the longest list of parts, the
// others being filled up with empty strings; Z counts the parts.
Status StringSplit(const op::StringSplit& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const int64_t most = op.maxsplit.value_or(INT64_MAX);
  std::vector<Words> all;
  size_t longest = 0;
  for (const std::string& text : x.strings()) {
    // An empty string has no parts.
    const std::string delimiter = op.delimiter.value_or("");
    all.push_back(text.empty()        ? Words()
                  : delimiter.empty() ? SplitAtSpaces(text, most)
                                      : SplitAt(text, delimiter, most));
    longest = std::max(longest, all.back().size());
  }
  Dims dims = x.shape().dims();
  dims.push_back(static_cast<int64_t>(longest));
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.y, DType::kString, Shape(dims)));
  ASSAY_ASSIGN_OR_RETURN(Tensor * z,
                         run.Output(op.z, DType::kInt64, x.shape()));
  for (size_t i = 0; i < all.size(); ++i) {
    if (z != nullptr) z->mutable_elements<int64_t>()[i] = std::ssize(all[i]);
    all[i].resize(longest);
    if (y != nullptr) {
      std::ranges::move(all[i], y->mutable_strings().begin() +
                                    static_cast<std::ptrdiff_t>(i * longest));
    }
  }
  return OkStatus();
}

/// Case of letters as Unicode has it, whatever the locale of the process.
class LetterCase {
 public:
  LetterCase() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  LetterCase(const LetterCase&) = delete;
  LetterCase& operator=(const LetterCase&) = delete;
  ~LetterCase() {
    if (locale_ != nullptr) freelocale(locale_);
  }

  std::string Lower(const std::string& text) const {
    return Change(text, towlower_l);
  }
  std::string Upper(const std::string& text) const {
    return Change(text, towupper_l);
  }

 private:
  // Bytes that are not UTF-8 stay as they are.
  std::string Change(const std::string& text,
                     wint_t (*change)(wint_t, locale_t)) const {
    if (locale_ == nullptr) return text;
    std::string changed;
    for (size_t i = 0; i < text.size();) {
      const auto lead = static_cast<unsigned char>(text[i]);
      const size_t length = lead < 0x80   ? 1
                            : lead < 0xE0 ? 2
                            : lead < 0xF0 ? 3
                                          : 4;
      wint_t letter = length == 1 ? lead : lead & (0xFFU >> (length + 1));
      for (size_t k = 1; k < length && i + k < text.size(); ++k) {
        letter = letter << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
      }
      const std::string same = text.substr(i, length);
      changed +=
          Encoded(letter) == same ? Encoded(change(letter, locale_)) : same;
      i += length;
    }
    return changed;
  }
  static std::string Encoded(wint_t letter) {
    if (letter < 0x80) return {static_cast<char>(letter)};
    std::string tail;
    wint_t room = 0x3F;
    while (letter > room) {
      tail.insert(tail.begin(), static_cast<char>(0x80 | (letter & 0x3F)));
      letter >>= 6;
      room >>= 1;
    }
    // As many leading ones as there are bytes.
    const auto lead = static_cast<unsigned char>(~(2 * room + 1) | letter);
    return static_cast<char>(lead) + tail;
  }

  locale_t locale_;
};

// StringNormalizer-10: without the stopwords, in the case asked for; one empty
// string where none is left. The attribute locale, "environment dependent", is
// not consulted: letters change as Unicode has them.
Status StringNormalizer(const op::StringNormalizer& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Shape& shape = x.shape();
  if (shape.rank() < 1 || shape.rank() > 2 ||
      (shape.rank() == 2 && shape[0] != 1)) {
    return InvalidArgument("an input of shape ", shape.ToString(),
                           ", wanted [C] or [1, C]");
  }
  const LetterCase letters;
  const auto alike = [&](const std::string& a, const std::string& b) {
    if (op.is_case_sensitive != 0) return a == b;
    return letters.Lower(a) == letters.Lower(b);
  };
  Words kept;
  for (const std::string& word : x.strings()) {
    const bool stops = std::ranges::any_of(
        op.stopwords,
        [&](const std::string& stop) { return alike(word, stop); });
    if (stops) continue;
    kept.push_back(op.case_change_action == "LOWER"   ? letters.Lower(word)
                   : op.case_change_action == "UPPER" ? letters.Upper(word)
                                                      : word);
  }
  if (kept.empty()) kept.emplace_back();
  Shape left = shape;
  left[shape.rank() - 1] = std::ssize(kept);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.y, DType::kString, left));
  std::ranges::move(kept, y->mutable_strings().begin());
  return OkStatus();
}

Result<Kernel> MakeStringSplit(const op::StringSplit& op, LoadContext&) {
  if (op.maxsplit.value_or(0) < 0) {
    return InvalidArgument("maxsplit is ", *op.maxsplit);
  }
  return Kernel{.forward = std::bind_front(&StringSplit, op)};
}

Result<Kernel> MakeStringNormalizer(const op::StringNormalizer& op,
                                    LoadContext&) {
  const std::string& action = op.case_change_action;
  if (action != "LOWER" && action != "UPPER" && action != "NONE") {
    return InvalidArgument("case_change_action is '", action,
                           "', wanted LOWER, UPPER or NONE");
  }
  return Kernel{.forward = std::bind_front(&StringNormalizer, op)};
}

}  // namespace

Family StringFamily() {
  return FamilyOf(StringConcat, MakeStringSplit, MakeStringNormalizer);
}

}  // namespace assay::reference
