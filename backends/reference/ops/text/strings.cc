// SPDX-License-Identifier: Apache-2.0
//
// Strings: StringConcat, StringSplit, StringNormalizer, RegexFullMatch over
// RE2, whose syntax ONNX names, and TfIdfVectorizer: n-grams of a pool, counted
// in sequences of tokens. Text is UTF-8.

#include <locale.h>
#include <re2/re2.h>
#include <wctype.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/traditionalml/lookup.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

// StringConcat-20: element by element, with broadcasting.
Status StringConcat(const op::StringConcat& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Tensor& y = run.input(op.y);
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, Broadcast(x.shape(), y.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor * z, run.Output(op.z, DType::kString, shape));
  const std::string* const left = x.strings().data();
  const std::string* const right = y.strings().data();
  std::string* const both = z->mutable_strings().data();
  PairNest(x.shape(), y.shape(), shape)
      .ForEach([&](int64_t ix, int64_t iy, int64_t iz) {
        both[iz] = left[ix] + right[iy];
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
  ASSAY_RETURN_IF_ERROR(WordOf("case_change_action", op.case_change_action,
                               {"LOWER", "UPPER", "NONE"})
                            .status());
  return Kernel{.forward = std::bind_front(&StringNormalizer, op)};
}

// ONNX page of RegexFullMatch-20: true where the whole element matches.
Result<Kernel> MakeRegexFullMatch(const op::RegexFullMatch& op, LoadContext&) {
  if (!op.pattern.has_value()) {
    return InvalidArgument("found no pattern, wanted one");
  }
  RE2::Options options;
  options.set_log_errors(false);
  const auto pattern = std::make_shared<const RE2>(*op.pattern, options);
  if (!pattern->ok()) {
    return InvalidArgument("pattern is '", *op.pattern,
                           "': ", pattern->error());
  }
  return Kernel{.forward = [op, pattern](KernelContext& run) -> Status {
    const Tensor& x = run.input(op.x);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(op.y, DType::kBool, x.shape()));
    std::ranges::transform(x.strings(), y->mutable_elements<bool>().begin(),
                           [&](const std::string& text) {
                             return RE2::FullMatch(text, *pattern);
                           });
    return OkStatus();
  }};
}

/// The n-grams of the pool as paths of a tree of tokens.
class Pool {
 public:
  /// Invalid argument where the lists do not fit each other.
  static Result<Pool> Of(const op::TfIdfVectorizer& op) {
    if (op.pool_int64s.empty() == op.pool_strings.empty()) {
      return InvalidArgument("found ", op.pool_int64s.size(),
                             " pool_int64s and ", op.pool_strings.size(),
                             " pool_strings, wanted one of the two");
    }
    const Tensor listed = op.pool_strings.empty() ? TensorOf(op.pool_int64s)
                                                  : TensorOf(op.pool_strings);
    Pool pool(listed);
    const Scratch<int64_t> tokens = pool.tokens_.Find(listed);
    const auto& starts = op.ngram_counts;
    for (size_t i = 0; i < starts.size(); ++i) {
      const int64_t last =
          i + 1 < starts.size() ? starts[i + 1] : std::ssize(tokens);
      const auto length = static_cast<int64_t>(i) + 1;
      if (starts[i] < 0 || last < starts[i] || last > std::ssize(tokens) ||
          (last - starts[i]) % length != 0) {
        return InvalidArgument("ngram_counts[", i, "] is ", starts[i],
                               ", wanted whole ", length, "-grams up to ", last,
                               " in a pool of ", tokens.size());
      }
      for (int64_t at = starts[i]; at < last; at += length) {
        pool.Add(std::span(tokens).subspan(static_cast<size_t>(at),
                                           static_cast<size_t>(length)));
      }
    }
    if (std::ssize(op.ngram_indexes) != pool.grams_) {
      return InvalidArgument("ngram_indexes has ", op.ngram_indexes.size(),
                             " elements, wanted ", pool.grams_,
                             " as there are n-grams in the pool");
    }
    if (!op.weights.empty() && op.weights.size() != op.ngram_indexes.size()) {
      return InvalidArgument("weights has ", op.weights.size(),
                             " elements, wanted ", op.ngram_indexes.size(),
                             " as ngram_indexes");
    }
    return pool;
  }

  const Lookup& tokens() const { return tokens_; }
  int64_t grams() const { return grams_; }

  /// Calls found(gram) for every n-gram of the pool in the tokens, which are
  /// positions in the pool or -1, with up to op.max_skip_count of them left out
  /// between each two.
  template <class Found>
  void ForEachGram(std::span<const int64_t> tokens,
                   const op::TfIdfVectorizer& op, const Found& found) const;

 private:
  explicit Pool(const Tensor& tokens) : tokens_(tokens) {}

  void Add(std::span<const int64_t> gram) {
    int64_t at = 0;
    for (const int64_t token : gram) {
      const auto next = next_.emplace(std::pair(at, token), std::ssize(gram_));
      if (next.second) gram_.push_back(-1);
      at = next.first->second;
    }
    gram_[static_cast<size_t>(at)] = grams_++;
  }

  Lookup tokens_;
  std::map<std::pair<int64_t, int64_t>, int64_t> next_;  // from, token: to
  std::vector<int64_t> gram_ = {-1};  // that ends there; -1: none does
  int64_t grams_ = 0;
};

template <class Found>
void Pool::ForEachGram(std::span<const int64_t> tokens,
                       const op::TfIdfVectorizer& op,
                       const Found& found) const {
  const int64_t count = std::ssize(tokens);
  // A longer step than the sequence finds nothing more.
  const int64_t longest = std::min(op.max_skip_count, count) + 1;
  for (int64_t step = 1; step <= longest; ++step) {
    for (int64_t start = 0; start < count; ++start) {
      int64_t at = 0;
      int64_t length = 0;
      for (int64_t i = start; i < count && length < op.max_gram_length;
           i += step) {
        const auto next = next_.find({at, tokens[static_cast<size_t>(i)]});
        if (next == next_.end()) break;
        at = next->second;
        ++length;
        // A 1-gram is the same whatever is left out.
        const bool counts =
            length >= op.min_gram_length && (length > 1 || step == 1);
        const int64_t gram = gram_[static_cast<size_t>(at)];
        if (counts && gram >= 0) found(static_cast<size_t>(gram));
      }
    }
  }
}

// ONNX page of TfIdfVectorizer-9: for each n-gram of the pool, at its
// coordinate, how often it is found (TF), its weight if it is found (IDF), or
// both multiplied (TFIDF). A 1-gram counts once for all skips, as in ONNX's
// reference implementation; but the i-th weight is that of the i-th n-gram, as
// the page says, not of the i-th coordinate.
Status Vectorize(const std::shared_ptr<const Pool>& pool,
                 const op::TfIdfVectorizer& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Shape& shape = x.shape();
  if (shape.rank() < 1 || shape.rank() > 2) {
    return InvalidArgument("input 0 is ", x.Signature(),
                           ", wanted [C] or [N,C]");
  }
  Shape wanted = shape;
  const int64_t columns = *std::ranges::max_element(op.ngram_indexes) + 1;
  wanted[shape.rank() - 1] = columns;
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<double>(run, op.y, DType::kFloat32, wanted));
  const auto width = static_cast<size_t>(shape[shape.rank() - 1]);
  const Scratch<int64_t> tokens = pool->tokens().Find(x);
  const size_t rows = shape.rank() == 2 ? static_cast<size_t>(shape[0]) : 1;
  for (size_t n = 0; n < rows; ++n) {
    Scratch<int64_t> counts(static_cast<size_t>(pool->grams()));
    pool->ForEachGram(std::span(tokens).subspan(n * width, width), op,
                      [&](size_t gram) { ++counts[gram]; });
    for (size_t gram = 0; gram < counts.size(); ++gram) {
      if (counts[gram] == 0) continue;
      const double weight =
          op.mode == "TF" || op.weights.empty() ? 1 : op.weights[gram];
      const auto times =
          static_cast<double>(op.mode == "IDF" ? 1 : counts[gram]);
      y[static_cast<int64_t>(n) * columns + op.ngram_indexes[gram]] +=
          weight * times;
    }
  }
  return OkStatus();
}

Result<Kernel> MakeTfIdfVectorizer(const op::TfIdfVectorizer& op,
                                   LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(
      WordOf("mode", op.mode, {"TF", "IDF", "TFIDF"}).status());
  if (op.min_gram_length < 1 || op.max_gram_length < op.min_gram_length ||
      op.max_skip_count < 0) {
    return InvalidArgument("min_gram_length is ", op.min_gram_length,
                           ", max_gram_length ", op.max_gram_length,
                           " and max_skip_count ", op.max_skip_count,
                           ", wanted at least 1, as much, and 0");
  }
  for (const int64_t index : op.ngram_indexes) {
    if (index < 0) return InvalidArgument("ngram_indexes has ", index);
  }
  if (op.ngram_indexes.empty()) return InvalidArgument("no ngram_indexes");
  if ((load.dtype(op.x) == DType::kString) == op.pool_strings.empty()) {
    return InvalidArgument("input 0 is ", load.type(op.x).ToString(),
                           ", wanted a type of the pool's");
  }
  ASSAY_ASSIGN_OR_RETURN(auto pool, Pool::Of(op));
  return Kernel{
      .forward = std::bind_front(
          &Vectorize, std::make_shared<const Pool>(std::move(pool)), op)};
}

}  // namespace

Family StringFamily() {
  return FamilyOf(StringConcat, MakeStringSplit, MakeStringNormalizer,
                  MakeRegexFullMatch, MakeTfIdfVectorizer);
}

}  // namespace assay::reference
