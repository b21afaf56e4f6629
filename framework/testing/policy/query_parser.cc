// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "framework/core/dtype.h"
#include "framework/file/csv.h"
#include "framework/testing/policy/line_scanner.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/outcome.h"

namespace assay::policy {
namespace {

/// Parentheses and `not` inside each other; far more than a person writes, far
/// less than a stack holds.
constexpr int kMaxDepth = 100;

/// The values a key may have, where they are few; empty where they are open.
std::vector<std::string_view> ValuesOf(QueryKey key) {
  std::vector<std::string_view> values;
  if (key == QueryKey::kVacuous) values = {"yes", "no"};
  for (int i = 0; key == QueryKey::kOutcome && i < record::kOutcomeCount; ++i) {
    values.push_back(ToString(static_cast<record::Outcome>(i)));
  }
  for (int i = 1; key == QueryKey::kDtype && i < kDTypeCount; ++i) {
    values.push_back(ToString(static_cast<DType>(i)));
  }
  for (int i = 0; key == QueryKey::kComparator && i < 4; ++i) {
    values.push_back(ToString(static_cast<record::Comparator>(i)));
  }
  return values;
}

/// A comparison of a number with a word's.
struct Sign {
  std::string_view text;
  bool (*compares)(int64_t number, int64_t of_word);
};

/// The longer ones first.
constexpr auto kSigns = std::to_array<Sign>({
    {">=", [](int64_t a, int64_t b) { return a >= b; }},
    {"<=", [](int64_t a, int64_t b) { return a <= b; }},
    {">", [](int64_t a, int64_t b) { return a > b; }},
    {"<", [](int64_t a, int64_t b) { return a < b; }},
    {"=", [](int64_t a, int64_t b) { return a == b; }},
});

/// A word as it stands, quotes taken off.
struct RawWord {
  size_t begin = 0;  // in the query
  std::string text;
  size_t separator = std::string::npos;  // of the first bare : = < > in text
  bool quoted = false;                   // some of it was in quotes
};

class QueryParser {
 public:
  explicit QueryParser(std::string_view text) : text_(text) { Skip(); }

  Result<QueryTerm> Parse() {
    ASSAY_ASSIGN_OR_RETURN(QueryTerm root, Alternatives());
    if (!AtEnd()) return Wanted("the end: this ')' closes nothing");
    return root;
  }

  bool AtEnd() const { return position_ == text_.size(); }

 private:
  Result<QueryTerm> Alternatives();
  Result<QueryTerm> Conjunction();
  Result<QueryTerm> Factor();
  Result<QueryTerm> Group();
  Result<QueryTerm> Word();
  Result<RawWord> TakeWord();

  Status Finish(const RawWord& word, QueryTerm* term) const;
  Status FinishCompared(const RawWord& word, QueryTerm* term) const;
  Status FinishNumber(std::string_view text, size_t at, const Sign& sign,
                      QueryTerm* term) const;
  Status FinishValue(const RawWord& word, QueryTerm* term) const;

  void Skip() {
    while (!AtEnd() && IsBlank(text_[position_])) ++position_;
  }

  /// The bare word at the position, up to a blank or a parenthesis.
  std::string_view Peek() const {
    size_t end = position_;
    while (end < text_.size() && !IsBlank(text_[end]) && text_[end] != '(' &&
           text_[end] != ')') {
      ++end;
    }
    return text_.substr(position_, end - position_);
  }

  bool Take(std::string_view keyword) {
    if (Peek() != keyword) return false;
    position_ += keyword.size();
    Skip();
    return true;
  }

  Status At(size_t position, std::string_view message) const {
    return InvalidArgument("column ", position + 1, ": ", message);
  }

  /// "column 9: found ')', wanted ...".
  Status Wanted(std::string_view wanted) const {
    std::string_view found = Peek();
    if (!AtEnd() && found.empty()) found = text_.substr(position_, 1);
    return At(position_,
              StrCat("found ", AtEnd() ? "the end" : StrCat("'", found, "'"),
                     ", wanted ", wanted));
  }

  std::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
};

QueryTerm JoinedWords(QueryTerm::Kind kind, std::vector<QueryTerm> children) {
  if (children.size() == 1) return std::move(children.front());
  QueryTerm term;
  term.kind = kind;
  term.children = std::move(children);
  return term;
}

Result<QueryTerm> QueryParser::Alternatives() {
  std::vector<QueryTerm> children;
  do {
    ASSAY_ASSIGN_OR_RETURN(QueryTerm child, Conjunction());
    children.push_back(std::move(child));
  } while (Take("or"));
  return JoinedWords(QueryTerm::Kind::kOr, std::move(children));
}

Result<QueryTerm> QueryParser::Conjunction() {
  std::vector<QueryTerm> children;
  do {
    ASSAY_ASSIGN_OR_RETURN(QueryTerm child, Factor());
    children.push_back(std::move(child));
  } while (Take("and") ||
           (!AtEnd() && text_[position_] != ')' && Peek() != "or"));
  return JoinedWords(QueryTerm::Kind::kAnd, std::move(children));
}

Result<QueryTerm> QueryParser::Factor() {
  if (AtEnd() || text_[position_] == ')') return Wanted("a term");
  if (text_[position_] == '(') return Group();
  const std::string_view word = Peek();
  if (word == "and" || word == "or") return Wanted("a term");
  if (word == "AND" || word == "OR" || word == "NOT") {
    return Wanted("and, or, not in small letters, or the word in quotes");
  }
  const size_t begin = position_;
  if (!Take("not")) return Word();
  if (++depth_ > kMaxDepth) return At(begin, "nested too deep");
  QueryTerm term;
  term.kind = QueryTerm::Kind::kNot;
  ASSAY_ASSIGN_OR_RETURN(QueryTerm child, Factor());
  term.children.push_back(std::move(child));
  --depth_;
  return term;
}

Result<QueryTerm> QueryParser::Group() {
  if (++depth_ > kMaxDepth) return At(position_, "nested too deep");
  const size_t begin = position_++;
  Skip();
  ASSAY_ASSIGN_OR_RETURN(QueryTerm term, Alternatives());
  if (AtEnd()) {
    return Wanted(StrCat("the ')' of column ", begin + 1));
  }
  ++position_;
  Skip();
  --depth_;
  return term;
}

Result<RawWord> QueryParser::TakeWord() {
  RawWord word;
  word.begin = position_;
  while (!AtEnd()) {
    const char c = text_[position_];
    if (IsBlank(c) || c == '(' || c == ')') break;
    if (c == '"') {
      const size_t begin = position_;
      const auto held = TakeQuoted(text_, &position_);
      if (!held.has_value()) {
        return At(begin, "found a quote that is not closed, wanted '\"'");
      }
      word.text += *held;
      word.quoted = true;
      continue;
    }
    const bool separates = c == ':' || c == '=' || c == '<' || c == '>';
    // A word that begins with a quote is a text, whatever follows.
    if (separates && word.separator == std::string::npos &&
        text_[word.begin] != '"') {
      word.separator = word.text.size();
    }
    word.text += c;
    ++position_;
  }
  Skip();
  return word;
}

Result<QueryTerm> QueryParser::Word() {
  ASSAY_ASSIGN_OR_RETURN(const RawWord word, TakeWord());
  QueryTerm term;
  if (word.separator == std::string::npos) {
    term.pattern = StrCat("*", word.text, "*");
    return term;
  }
  const std::string_view name =
      std::string_view(word.text).substr(0, word.separator);
  const auto key = std::ranges::find(kQueryKeys, name);
  if (key == kQueryKeys.end()) {
    return At(word.begin, StrCat("found the key '", name, "', wanted one of ",
                                 assay::Joined(kQueryKeys)));
  }
  term.key = static_cast<QueryKey>(key - kQueryKeys.begin());
  ASSAY_RETURN_IF_ERROR(Finish(word, &term));
  return term;
}

Status QueryParser::Finish(const RawWord& word, QueryTerm* term) const {
  if (word.text[word.separator] != ':') return FinishCompared(word, term);
  std::string value = word.text.substr(word.separator + 1);
  if (value.empty() && !word.quoted) {
    return At(word.begin + word.text.size(),
              StrCat("found nothing behind '", word.text, "', wanted a value"));
  }
  if (term->key == QueryKey::kAttr) {
    const size_t equals = value.find('=');
    term->attribute = value.substr(0, equals);
    term->has_value = equals != std::string::npos;
    if (term->has_value) term->pattern = value.substr(equals + 1);
    return OkStatus();
  }
  if (term->key == QueryKey::kRank || term->key == QueryKey::kExtent) {
    return FinishNumber(value, word.begin + word.separator + 1, kSigns.back(),
                        term);
  }
  term->pattern = std::move(value);
  return FinishValue(word, term);
}

Status QueryParser::FinishCompared(const RawWord& word, QueryTerm* term) const {
  if (term->key != QueryKey::kOpset && term->key != QueryKey::kRank &&
      term->key != QueryKey::kExtent) {
    return At(word.begin, StrCat("found '", word.text,
                                 "', wanted ':' behind the key: "
                                 "only opset, rank and extent are numbers"));
  }
  std::string_view rest = std::string_view(word.text).substr(word.separator);
  const auto sign = std::ranges::find_if(
      kSigns, [&](const Sign& each) { return rest.starts_with(each.text); });
  rest.remove_prefix(sign->text.size());
  return FinishNumber(rest, word.begin + word.text.size() - rest.size(), *sign,
                      term);
}

/// A rank or an extent that no tensor has would make a claim of nothing, or of
/// everything.
Status QueryParser::FinishNumber(std::string_view text, size_t at,
                                 const Sign& sign, QueryTerm* term) const {
  const std::optional<int64_t> number = file::ParseInt(text);
  const bool counts = term->key != QueryKey::kOpset;
  const int64_t least = !counts ? INT64_MIN : sign.text == "<" ? 1 : 0;
  if (!number.has_value() || *number < least) {
    const bool rank = term->key == QueryKey::kRank;
    std::string wanted = "an integer";
    if (counts) {
      wanted = StrCat("a number of ", rank ? "axes" : "elements", ", ", least,
                      " or more");
    }
    if (counts && least > 0) {
      wanted += StrCat(", since no ", rank ? "rank" : "extent", " is below 0");
    }
    return At(at, StrCat("found '", text, "', wanted ", wanted));
  }
  term->compares = sign.compares;
  term->number = *number;
  return OkStatus();
}

Status QueryParser::FinishValue(const RawWord& word, QueryTerm* term) const {
  const auto values = ValuesOf(term->key);
  const bool fits = values.empty() ||
                    std::ranges::any_of(values, [&](std::string_view value) {
                      return term->pattern.Matches(value);
                    });
  if (fits) return OkStatus();
  return At(word.begin + word.separator + 1,
            StrCat("found '", term->pattern.text(), "', wanted one of ",
                   assay::Joined(values)));
}

}  // namespace

Result<Query> Query::Parse(std::string_view text) {
  Query query;
  query.text_ = text;
  QueryParser parser(text);
  if (parser.AtEnd()) return query;
  ASSAY_ASSIGN_OR_RETURN(QueryTerm root, parser.Parse());
  query.root_ = std::make_shared<const QueryTerm>(std::move(root));
  return query;
}

}  // namespace assay::policy
