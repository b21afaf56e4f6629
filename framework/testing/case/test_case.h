// SPDX-License-Identifier: Apache-2.0
//
// TestCase: the facts of one case, as the corpus states them, and CaseData, the
// model and values that are read from its files when it runs. The names of
// cases and operators, which stay the same for ever, and Corpus.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/record/outcome.h"

namespace assay::cases {

/// The error that a result may have, and the source of that number.
struct Limit {
  record::Comparator comparator = record::Comparator::kTolerance;
  double rtol = 0;
  double atol = 0;
  std::string source;  // "onnx", "onnx bfloat16 rule", "expectations.txt:12"
};

/// How much a run takes: the tier of a case is the least that takes it.
enum class Tier : uint8_t { kSmoke, kCi, kNightly, kScale };

std::string_view ToString(Tier tier);
/// None for another word than the names of the four.
std::optional<Tier> TierNamed(std::string_view name);

/// The kinds of claims of a vendor about a case.
enum class ClaimKind : uint8_t {
  kForward,
  kGradient,
  kAccumulator,
  kDeterministic
};

inline constexpr int kNoRank = -1;

struct TestCase {
  std::string test_id;  // suite/op/case[#variant]
  std::string corpus;
  std::string suite;
  std::string op;
  std::string domain;                  // "ai.onnx", ...
  std::string kind;                    // node, expanded, model
  int opset = 0;                       // of that domain
  std::map<std::string, int> imports;  // domain to opset
  std::vector<std::string> operators;  // "ai.onnx::Conv", ..., sorted
  /// Operators that stand for each other: the case runs with the first of them
  /// that the backend loads, and is claimed where one of them is.
  std::vector<std::string> probes;
  /// By operator, the ranks of the tensors that its nodes read and write,
  /// kNoRank among them where the model does not tell one or a value is no
  /// tensor. Empty until somebody asks (cli/select/selection.h).
  std::map<std::string, std::vector<int>> ranks;
  std::vector<std::string> dtypes;  // sorted
  std::vector<std::string> value_kinds;
  std::map<std::string, std::string> attributes;
  std::string shape_sig;  // of the first data set's inputs, "[2,3];[3]"
  /// The element types of the inputs and outputs, empty for a value that is no
  /// tensor. None where the manifest has none.
  std::vector<std::string> input_dtypes, output_dtypes;
  Limit limit;
  std::string vacuous;  // why a pass would prove nothing; empty: it proves
  /// Inputs whose change must show in an output, as "0 2" (recheck.h).
  std::string sensitive;
  int n_data_sets = 1;
  ClaimKind claim = ClaimKind::kForward;  // that it is inside or outside of
  Tier tier = Tier::kCi;
  int n_ranks = 0;  // that it runs on; 0: a network, in one process
  /// True where each of them runs a network of the backend.
  bool ranks_train = false;
  /// True when its inputs are drawn for the run, so that nobody can know what
  /// its outputs are before.
  bool drawn = false;
  /// True for a case of a corpus that is none of the default ones, and for one
  /// derived from it: floors are not about it.
  bool own = false;
  std::filesystem::path directory;
  /// Digests of its files as its manifest has them; empty without one.
  std::string digests;
};

struct DataSet {
  std::vector<Value> inputs;
  std::vector<Value> expected;
  /// The gradients of the sum of the outputs by inputs and initializers. A case
  /// states all of them or none.
  std::map<std::string, Value> gradients = {};
};

struct CaseData {
  std::shared_ptr<const Model> model;
  std::vector<DataSet> sets;
};

/// Reads the model and the data sets of a case's directory, in any of the
/// layouts of data_set.h. Errors name the file.
Result<CaseData> ReadCaseData(const std::filesystem::path& directory,
                              int n_data_sets);

/// Bytes of a tensor in external data beyond which the facts of a case do not
/// depend on its elements.
inline constexpr uint64_t kMostOfFacts = 1 << 20;

/// The same for whoever describes a case: larger tensors in external data are
/// left without data, outputs may be expected of no data set, and values are of
/// the types that the model declares, else invalid argument.
Result<CaseData> ReadCaseFacts(const std::filesystem::path& directory,
                               int n_data_sets);

/// The same without expected outputs, whether or not there are any.
Result<CaseData> ReadCaseInputs(const std::filesystem::path& directory,
                                int n_data_sets);

/// The right answers of a case that states gradients.
struct Stated {
  std::vector<Value> outputs;
  std::map<std::string, Value> gradients;  // as in DataSet
};

/// The outputs in the first data set of a case, and its gradients by these
/// inputs and initializers, from gradient_NAME.pb. Nothing at all where the
/// case has no such file; not found where it has some of them only.
Result<Stated> ReadStated(const std::filesystem::path& directory,
                          size_t n_outputs,
                          const std::vector<std::string>& names);

/// `suite/op/case[#variant]` in the characters that ids may have.
bool IsTestId(std::string_view text);

/// The case whose operator was replaced by its function body in this one, x of
/// "x_expanded"; of any other, itself.
std::string_view CaseOfTwin(std::string_view test_id);

/// An operator as test_ids and queries name it: outside ai.onnx the last part
/// of its domain stands before it, "ml.TreeEnsemble", as the corpus export has
/// it.
inline std::string OperatorName(std::string_view domain,
                                std::string_view op_type) {
  if (domain.empty() || domain == "ai.onnx") return std::string(op_type);
  return StrCat(domain.substr(domain.rfind('.') + 1), ".", op_type);
}

// The corpora that a run takes when none is named; floors and expectations are
// about these.

/// The default corpora of backends that run networks.
inline constexpr std::array<std::string_view, 11> kDefaultCorpora = {
    "onnx",      "random", "contract", "special",  "redrawn", "gradcheck",
    "optimizer", "field",  "graphs",   "composed", "scaled"};
/// The default corpora of libraries that carry messages between ranks.
inline constexpr std::array<std::string_view, 1> kRankCorpora = {"distributed"};

inline std::span<const std::string_view> DefaultCorpora(bool of_ranks) {
  if (of_ranks) return kRankCorpora;
  return kDefaultCorpora;
}

inline bool IsDefaultCorpus(std::string_view name) {
  return std::ranges::count(kDefaultCorpora, name) > 0 ||
         std::ranges::count(kRankCorpora, name) > 0;
}

/// Cases under one name and digest. A folder holds them (ReadCorpus), or a
/// suite makes them.
struct Corpus {
  std::string name;
  std::string hash;   // of all that decides its cases
  std::string words;  // of a command that names it; empty: --corpus
  /// True for the default corpus of its name: made by this build, or by
  /// this program.
  bool standard = false;
  std::vector<std::string> drift;  // expected outputs that differ from pinned
  std::vector<TestCase> cases;     // by test_id
  int64_t n_left_out = 0;          // cases that nobody asked for
  /// A plain folder's: the faults of what would be a case, and the things that
  /// are taken for none, a sentence each.
  std::vector<std::string> bad, passed_over;
};

}  // namespace assay::cases
