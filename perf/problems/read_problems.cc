// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/read_problems.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "framework/core/text.h"

namespace assay::problems {
namespace {

using Words = std::vector<std::string>;

Words WordsOf(std::string_view text) {
  std::istringstream in{std::string(text)};
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Throws std::invalid_argument: "A, wanted B".
[[noreturn]] void Fail(std::string_view found, std::string_view wanted) {
  throw std::invalid_argument(StrCat(found, ", wanted ", wanted));
}

/// The words of a row, taken in the order of its columns. Each function throws
/// std::invalid_argument for another word than it wants.
class Row {
 public:
  Row(const Words& columns, Words words)
      : columns_(columns), words_(std::move(words)) {
    if (words_.size() != columns_.size()) {
      Fail(StrCat("a row of ", words_.size(), " words"),
           StrCat(columns_.size(), ": ", Joined(columns_, " ")));
    }
  }

  const std::string& Take() { return words_[at_++]; }

  int64_t AtLeast(int64_t least) {
    const std::string& word = Take();
    int64_t number = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    // No product of four of them is beyond a double's exact integers by much,
    // and none of two beyond int64.
    constexpr int64_t kMost = int64_t{1} << 31U;
    if (error != std::errc() || stop != end || number < least ||
        number > kMost) {
      Refuse(StrCat("an integer from ", least, " to ", kMost));
    }
    return number;
  }
  int64_t Positive() { return AtLeast(1); }

  /// A number in (0, 1].
  double Share() {
    const std::string& word = Take();
    double number = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || stop != end || !(number > 0 && number <= 1)) {
      Refuse("a number above 0, of at most 1");
    }
    return number;
  }

  /// One of these words.
  const std::string& OneOf(const Words& known) {
    const std::string& word = Take();
    if (std::ranges::count(known, word) == 0) Refuse(Joined(known, " or "));
    return word;
  }
  bool IsTransposed() { return OneOf({"n", "t"}) == "t"; }

 private:
  [[noreturn]] void Refuse(std::string_view wanted) const {
    Fail(StrCat(columns_[at_ - 1], " is '", words_[at_ - 1], "'"), wanted);
  }

  const Words& columns_;
  Words words_;
  size_t at_ = 0;
};

std::string NameOf(const Gemm& p) {
  return StrCat("m", p.m, "n", p.n, "k", p.k, p.a_transposed ? "t" : "n",
                p.b_transposed ? "t" : "n");
}

Gemm TakeProduct(Row& row) {
  Gemm product;
  product.m = row.Positive();
  product.n = row.Positive();
  product.k = row.Positive();
  product.a_transposed = row.IsTransposed();
  product.b_transposed = row.IsTransposed();
  return product;
}

void ReadGemm(Row& row, Problem* problem) {
  const Gemm product = TakeProduct(row);
  problem->name += NameOf(product);
  problem->of = product;
}

void ReadConvolution(Row& row, Problem* problem) {
  Convolution p;
  for (int64_t* extent : {&p.w, &p.h, &p.c, &p.n, &p.k, &p.s, &p.r}) {
    *extent = row.Positive();
  }
  p.pad_w = row.AtLeast(0);
  p.pad_h = row.AtLeast(0);
  for (int64_t* extent : {&p.stride_w, &p.stride_h, &p.group}) {
    *extent = row.Positive();
  }
  if (p.c % p.group != 0 || p.k % p.group != 0) {
    Fail(StrCat("group is ", p.group),
         StrCat("a divisor of c, ", p.c, ", and k, ", p.k));
  }
  if (p.s > p.w + 2 * p.pad_w || p.r > p.h + 2 * p.pad_h) {
    Fail(StrCat("a filter of ", p.s, " by ", p.r),
         "one within the image and its pads");
  }
  problem->name += StrCat("w", p.w, "h", p.h, "c", p.c, "n", p.n, "k", p.k, "s",
                          p.s, "r", p.r, "p", p.pad_w, "x", p.pad_h, "d",
                          p.stride_w, "x", p.stride_h, "g", p.group);
  problem->of = p;
}

void ReadRecurrent(Row& row, Problem* problem) {
  Recurrent p;
  p.cell = row.OneOf({"vanilla", "lstm", "gru"});
  p.hidden = row.Positive();
  p.batch = row.Positive();
  p.steps = row.Positive();
  problem->name += StrCat(p.cell, ".h", p.hidden, "n", p.batch, "t", p.steps);
  problem->of = p;
}

void ReadSparse(Row& row, Problem* problem) {
  const Gemm product = TakeProduct(row);
  const double density = row.Share();
  problem->name += StrCat(NameOf(product), "d", density);
  problem->of = SparseGemm{product, density};
}

void ReadAllReduce(Row& row, Problem* problem) {
  const AllReduce p = {row.Positive()};
  problem->name += StrCat(p.elements);
  problem->of = p;
}

void ReadGraph(Row& row, Problem* problem) {
  GraphText p;
  p.name = row.Take();
  p.text = row.Take();
  problem->name += p.name;
  problem->of = p;
}

struct Kind {
  Words columns;
  void (*read)(Row& row, Problem* problem);
};

const std::map<std::string, Kind, std::less<>>& Kinds() {
  static const std::map<std::string, Kind, std::less<>> kinds = {
      {"gemm", {WordsOf("set times m n k a b"), ReadGemm}},
      {"conv",
       {WordsOf("set times w h c n k s r pad_w pad_h stride_w stride_h group"),
        ReadConvolution}},
      {"recurrent",
       {WordsOf("set times cell hidden batch steps"), ReadRecurrent}},
      {"sparse", {WordsOf("set times m n k a b density"), ReadSparse}},
      {"all_reduce", {WordsOf("set times elements"), ReadAllReduce}},
      {"graph", {WordsOf("set times name model"), ReadGraph}}};
  return kinds;
}

/// The place of the number by which the problems of one row differ.
constexpr std::string_view kNumber = "$N";

std::string WithNumber(std::string_view line, const std::string& number) {
  std::string made;
  for (size_t at = line.find(kNumber); at != line.npos;
       at = line.find(kNumber)) {
    made.append(line.substr(0, at)).append(number);
    line.remove_prefix(at + kNumber.size());
  }
  return made.append(line);
}

/// Reads the lines of a file one by one.
class Reader {
 public:
  void Read(std::string_view line, const std::string& place) {
    line = line.substr(0, line.find('#'));
    Words words = WordsOf(line);
    if (words.empty()) return;
    if (words[0] == "each:") return ReadEach(std::move(words));
    if (words[0].ends_with(':')) return ReadHead(std::move(words));
    if (kind_ == nullptr) Fail(StrCat("'", words[0], "'"), "KIND: first");
    if (line.find(kNumber) == line.npos) return ReadRow(line, place);
    if (numbers_.empty()) Fail(StrCat("'", kNumber, "'"), "each: first");
    for (const std::string& number : numbers_) {
      ReadRow(WithNumber(line, number), place);
      Problem& problem = problems_.back();
      problem.axis = axis_;
      problem.size = Row({axis_}, {number}).Positive();
      problem.name = StrCat(problem.set, ".", name_, "#", axis_, number);
    }
  }

  /// Throws as Fail where two problems have one name.
  std::vector<Problem> Taken() {
    std::map<std::string, std::string> places;
    for (const Problem& problem : problems_) {
      const auto [known, is_new] = places.emplace(problem.name, problem.place);
      if (is_new) continue;
      Fail(StrCat(problem.name, " once more"), "one after " + known->second);
    }
    return std::move(problems_);
  }

 private:
  void ReadRow(std::string_view line, const std::string& place) {
    Words words = WordsOf(line);
    if (kind_->read == ReadGraph && words.size() > kind_->columns.size()) {
      const size_t at = line.find(words[3], line.find(words[2]) + 1);
      words.resize(3);
      words.emplace_back(line.substr(at));
    }
    Row row(kind_->columns, std::move(words));
    Problem problem;
    problem.set = row.Take();
    problem.times = row.Positive();
    problem.name = StrCat(problem.set, ".", name_, ".");
    problem.place = place;
    kind_->read(row, &problem);
    if (const int n = ++seen_[problem.name]; n > 1) {
      problem.name += StrCat(".", n);
    }
    problems_.push_back(std::move(problem));
  }

  void ReadHead(Words words) {
    name_ = words[0].substr(0, words[0].size() - 1);
    const auto found = Kinds().find(name_);
    if (found == Kinds().end()) {
      Fail(StrCat("the kind '", name_, "'"),
           Joined(Kinds(), ", ", [](const auto& kind) { return kind.first; }));
    }
    kind_ = &found->second;
    words.erase(words.begin());
    if (words != kind_->columns) {
      Fail(StrCat("the columns ", Joined(words, " ")),
           Joined(kind_->columns, " "));
    }
  }

  void ReadEach(Words words) {
    if (words.size() < 3) Fail(Joined(words, " "), "each: AXIS NUMBER...");
    axis_ = words[1];
    numbers_.assign(words.begin() + 2, words.end());
  }

  const Kind* kind_ = nullptr;
  std::string name_;
  std::string axis_;
  Words numbers_;
  std::map<std::string, int> seen_;
  std::vector<Problem> problems_;
};

}  // namespace

Result<std::vector<Problem>> ProblemsOfText(std::string_view text,
                                            const std::string& file) {
  Reader reader;
  for (int number = 1; !text.empty(); ++number) {
    const std::string place = StrCat(file, ":", number);
    try {
      reader.Read(CutFront(&text), place);
    } catch (const std::invalid_argument& wrong) {
      return InvalidArgument(place, ": ", wrong.what());
    }
  }
  std::vector<Problem> problems;
  try {
    problems = reader.Taken();
  } catch (const std::invalid_argument& wrong) {
    return InvalidArgument(file, ": ", wrong.what());
  }
  if (problems.empty()) return InvalidArgument(file, ": no row, wanted one");
  return problems;
}

}  // namespace assay::problems
