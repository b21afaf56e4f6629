// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/composed/composer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/special/case_text.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

constexpr double kGreatest = 1000;  // of all numbers of a network
constexpr double kLeast = 0.05;     // of a divisor, or what a log is taken of
constexpr int64_t kMostExtent = 4;
constexpr int64_t kMostInputs = 3;

/// A value: its shape, and what its numbers lie between.
struct Made {
  std::string name;
  int64_t rows = 1, columns = 1;
  double low = -2, high = 2;
  int readers = 0;

  double Size() const { return std::max(std::abs(low), std::abs(high)); }
};

struct Step {
  std::string_view op;
  bool two = false;  // operands
};

constexpr Step kSteps[] = {
    {"Neg"},          {"Abs"},        {"Relu"},       {"LeakyRelu"},
    {"Tanh"},         {"Sigmoid"},    {"Softplus"},   {"Sin"},
    {"Cos"},          {"Erf"},        {"Gelu"},       {"Elu"},
    {"Softsign"},     {"Exp"},        {"Sqrt"},       {"Log"},
    {"Reciprocal"},   {"Softmax"},    {"LogSoftmax"}, {"Transpose"},
    {"ReduceSum"},    {"ReduceMean"}, {"ReduceMax"},  {"CumSum"},
    {"Gather"},       {"Add", true},  {"Sub", true},  {"Mul", true},
    {"Max", true},    {"Min", true},  {"Div", true},  {"MatMul", true},
    {"Concat", true},
};

/// The result of an operator on one value; nothing where the operator is not
/// defined or the numbers become too great. `axis` is what it reduces, adds up
/// or takes of.
std::optional<Made> OfOne(std::string_view op, const Made& x, bool axis) {
  Made y = x;
  y.readers = 0;
  const double size = x.Size();
  const auto between = [&](double low, double high) {
    y.low = low;
    y.high = high;
  };
  if (op == "Sqrt" || op == "Log" || op == "Reciprocal") {
    if (x.low < kLeast) return std::nullopt;
    if (op == "Sqrt") between(std::sqrt(x.low), std::sqrt(x.high));
    if (op == "Log") between(std::log(x.low), std::log(x.high));
    if (op == "Reciprocal") between(1 / x.high, 1 / x.low);
  } else if (op == "Exp") {
    between(std::exp(x.low), std::exp(x.high));
  } else if (op == "Sigmoid") {
    between(1 / (1 + std::exp(-x.low)), 1);
  } else if (op == "Softplus") {
    between(std::log1p(std::exp(x.low)), 1 + size);
  } else if (op == "Softmax") {
    between(std::exp(x.low - x.high) / static_cast<double>(x.columns), 1);
  } else if (op == "LogSoftmax") {
    between(-2 * size - 2, 0);
  } else if (op == "Transpose") {
    std::swap(y.rows, y.columns);
  } else if (op.starts_with("Reduce")) {
    int64_t& extent = axis ? y.columns : y.rows;
    const auto count = static_cast<double>(extent);
    if (op == "ReduceSum") between(count * x.low, count * x.high);
    extent = 1;
  } else if (op == "CumSum") {
    const auto count = static_cast<double>(axis ? x.columns : x.rows);
    between(std::min(x.low, count * x.low), std::max(x.high, count * x.high));
  } else if (op == "Gather") {
    (axis ? y.columns : y.rows) = 2;
  } else if (op == "Neg") {
    between(-x.high, -x.low);
  } else if (op == "Tanh" || op == "Sin" || op == "Cos" || op == "Erf" ||
             op == "Softsign") {
    between(-1, 1);
  } else {
    between(-size, size);
  }
  if (y.Size() > kGreatest) return std::nullopt;
  return y;
}

/// The extent of two that are broadcast; nothing where they are not.
std::optional<int64_t> Common(int64_t a, int64_t b) {
  if (a != b && a != 1 && b != 1) return std::nullopt;
  return std::max(a, b);
}

std::optional<Made> OfTwo(std::string_view op, const Made& a, const Made& b) {
  Made y;
  double size = a.Size() + b.Size();
  if (op == "MatMul") {
    if (a.columns != b.rows) return std::nullopt;
    y.rows = a.rows;
    y.columns = b.columns;
    size = static_cast<double>(a.columns) * a.Size() * b.Size();
  } else if (op == "Concat") {
    if (a.columns != b.columns || a.rows + b.rows > 2 * kMostExtent) {
      return std::nullopt;
    }
    y.rows = a.rows + b.rows;
    y.columns = a.columns;
  } else {
    const auto rows = Common(a.rows, b.rows);
    const auto columns = Common(a.columns, b.columns);
    if (!rows.has_value() || !columns.has_value()) return std::nullopt;
    y.rows = *rows;
    y.columns = *columns;
    if (op == "Mul") size = a.Size() * b.Size();
    if (op == "Div") {
      if (b.low < kLeast) return std::nullopt;
      size = a.Size() / b.low;
    }
  }
  y.low = -size;
  y.high = size;
  if (size > kGreatest) return std::nullopt;
  return y;
}

class Composer {
 public:
  explicit Composer(int64_t number)
      : number_(number),
        draw_("gradcheck/composed", number, "network"),
        type_(number % 2 == 0 ? "float" : "double") {}

  std::string Text() {
    const int64_t n_inputs = 1 + draw_.Index(kMostInputs);
    for (int64_t i = 0; i < n_inputs; ++i) {
      Made x;
      x.name = StrCat("x", i);
      x.rows = 1 + draw_.Index(kMostExtent);
      x.columns = 1 + draw_.Index(kMostExtent);
      made_.push_back(x);
    }
    const int64_t n_nodes = 2 + draw_.Index(11);
    while (n_nodes_ < n_nodes) AddNode();
    const auto end_of_inputs = made_.begin() + n_inputs;
    const auto declared = [&](const Made& value) {
      return StrCat(type_, "[", value.rows, ",", value.columns, "] ",
                    value.name);
    };
    const std::vector<Made> inputs(made_.begin(), end_of_inputs);
    std::vector<Made> outputs;
    std::copy_if(end_of_inputs, made_.end(), std::back_inserter(outputs),
                 [](const Made& value) { return value.readers == 0; });
    const std::string digits = StrCat(1000 + number_).substr(1);
    std::string text =
        StrCat("case composed/n", digits, ": a network at random\n  model (",
               Joined(inputs, ", ", declared), ")\n    => (",
               Joined(outputs, ", ", declared), ")\n");
    if (!constants_.empty()) text += StrCat("    <", constants_, ">\n");
    text += StrCat("    {", nodes_, " }\n");
    for (const Made& input : inputs) text += ValuesOf(input);
    return text + "\n";
  }

 private:
  /// Mostly of what nobody reads, so that little is left over; the second node
  /// reads what the first does.
  Made& Operand() {
    if (n_nodes_ == 1) return made_[first_];
    std::vector<size_t> unread;
    for (size_t i = 0; i < made_.size(); ++i) {
      if (made_[i].readers == 0) unread.push_back(i);
    }
    const size_t at =
        !unread.empty() && draw_.Index(3) > 0
            ? unread[static_cast<size_t>(draw_.Index(std::ssize(unread)))]
            : static_cast<size_t>(draw_.Index(std::ssize(made_)));
    return made_[at];
  }

  /// Tries one step; nothing is added where it is not defined.
  void AddNode() {
    const Step& step =
        kSteps[static_cast<size_t>(draw_.Index(std::ssize(kSteps)))];
    Made& a = Operand();
    const bool axis = draw_.Coin();
    Made& b = made_[static_cast<size_t>(draw_.Index(std::ssize(made_)))];
    std::optional<Made> y =
        step.two ? OfTwo(step.op, a, b) : OfOne(step.op, a, axis);
    if (!y.has_value()) return;
    const std::string operands =
        step.two ? StrCat(a.name, ", ", b.name) : OneOperand(step.op, a, axis);
    if (n_nodes_ == 0) first_ = static_cast<size_t>(&a - made_.data());
    ++a.readers;
    if (step.two) ++b.readers;
    y->name = StrCat("v", n_nodes_++);
    nodes_ += StrCat("\n    ", y->name, " = ", step.op,
                     AttributesOf(step.op, axis), "(", operands, ")");
    made_.push_back(*std::move(y));
  }

  /// With the constant that some operators read beside it.
  std::string OneOperand(std::string_view op, const Made& x, bool axis) {
    const int place = axis ? 1 : 0;
    std::string constant;
    if (op == "ReduceSum" || op == "ReduceMean" || op == "ReduceMax") {
      constant = StrCat("int64[1] c", n_nodes_, " = {", place, "}");
    } else if (op == "CumSum") {
      constant = StrCat("int64 c", n_nodes_, " = {", place, "}");
    } else if (op == "Gather") {
      const int64_t extent = axis ? x.columns : x.rows;
      constant = StrCat("int64[2] c", n_nodes_, " = {", draw_.Index(extent),
                        ",", draw_.Index(extent), "}");
    }
    if (constant.empty()) return x.name;
    constants_ += StrCat(constants_.empty() ? "" : ", ", constant);
    return StrCat(x.name, ", c", n_nodes_);
  }

  static std::string AttributesOf(std::string_view op, bool axis) {
    if (op == "Gather") return StrCat("<axis = ", axis ? 1 : 0, ">");
    if (op == "Concat") return "<axis = 0>";
    return "";
  }

  std::string ValuesOf(const Made& input) {
    std::vector<int64_t> numbers(
        static_cast<size_t>(input.rows * input.columns));
    for (int64_t& number : numbers) number = draw_.Index(257) - 128;
    return StrCat("  ", input.name, " = ",
                  Joined(numbers, ", ",
                         [](int64_t number) { return StrCat(number, "/64"); }),
                  "\n");
  }

  const int64_t number_;
  Draw draw_;
  const std::string_view type_;
  std::vector<Made> made_;  // inputs, then what nodes give
  int64_t n_nodes_ = 0;
  size_t first_ = 0;  // what the first node reads
  std::string nodes_, constants_;
};

constexpr const char* kName = "composed";

void Describe(const special::CaseText& text, const Graph& graph,
              cases::TestCase* c) {
  const DType type = graph[graph.inputs[0]].type.dtype;
  c->test_id =
      StrCat("gradcheck/", text.name, Suffix({InputClass::kComposed, type}));
  c->suite = "gradcheck";
  c->kind = kName;
  // Every tenth: what is seen at night alone is seen late.
  c->tier = text.name.ends_with('6') ? cases::Tier::kCi : cases::Tier::kNightly;
  c->claim = cases::ClaimKind::kGradient;
}

}  // namespace

std::string ComposedCase(int64_t number) { return Composer(number).Text(); }

Status WriteComposedCorpus(int64_t count, const std::filesystem::path& text,
                           const std::filesystem::path& place) {
  std::string cases;
  for (int64_t number = 0; number < count; ++number) {
    cases += ComposedCase(number);
  }
  ASSAY_RETURN_IF_ERROR(file::WriteFile(text, cases));
  ASSAY_ASSIGN_OR_RETURN(const auto texts, special::ReadCaseFiles({text}));
  return special::WriteTextCorpus({kName, &special::InputsOf, &Describe}, texts,
                                  place);
}

}  // namespace assay::gradcheck
