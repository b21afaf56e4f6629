// SPDX-License-Identifier: Apache-2.0
//
// TfIdfVectorizer: n-grams of a pool, counted in sequences of tokens.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/ops/traditionalml/lookup.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

/// The n-grams of the pool as paths of a tree of tokens.
class Pool {
 public:
  /// Invalid argument where the lists do not fit each other.
  static Result<Pool> Of(const op::TfIdfVectorizer& op);

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

Result<Pool> Pool::Of(const op::TfIdfVectorizer& op) {
  if (op.pool_int64s.empty() == op.pool_strings.empty()) {
    return InvalidArgument("found ", op.pool_int64s.size(), " pool_int64s and ",
                           op.pool_strings.size(),
                           " pool_strings, wanted one of the two");
  }
  const Tensor listed = op.pool_strings.empty() ? TensorOf(op.pool_int64s)
                                                : TensorOf(op.pool_strings);
  Pool pool(listed);
  const std::vector<int64_t> tokens = pool.tokens_.Find(listed);
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
// both multiplied (TFIDF). That a 1-gram counts once for all skips is ONNX's
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
  ASSAY_ASSIGN_OR_RETURN(Stored<double> y,
                         Store<double>(run, op.y, DType::kFloat32, wanted));
  const auto width = static_cast<size_t>(shape[shape.rank() - 1]);
  const std::vector<int64_t> tokens = pool->tokens().Find(x);
  const size_t rows = shape.rank() == 2 ? static_cast<size_t>(shape[0]) : 1;
  for (size_t n = 0; n < rows; ++n) {
    std::vector<int64_t> counts(static_cast<size_t>(pool->grams()));
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
  if (op.mode != "TF" && op.mode != "IDF" && op.mode != "TFIDF") {
    return InvalidArgument("mode is '", op.mode, "', wanted TF, IDF or TFIDF");
  }
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
  ASSAY_ASSIGN_OR_RETURN(Pool pool, Pool::Of(op));
  return Kernel{
      .forward = std::bind_front(
          &Vectorize, std::make_shared<const Pool>(std::move(pool)), op)};
}

}  // namespace

Family NgramFamily() { return FamilyOf(MakeTfIdfVectorizer); }

}  // namespace assay::reference
