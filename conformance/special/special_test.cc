// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/special/case_text.h"
#include "framework/core/value_walk.h"
#include "framework/file/scratch_folder.h"
#include "framework/metric/element.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::special {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<Value>;

std::vector<fs::path> CaseFiles() {
  const fs::directory_iterator folder(ASSAY_SPECIAL_CASES);
  return {begin(folder), end(folder)};
}

struct SpecialCase {
  CaseText text;
  cases::CaseData data;

  const Values& expected() const { return data.sets.at(0).expected; }
};

/// The cases of all files.
const std::vector<SpecialCase>& AllCases() {
  static const auto& all = *[] {
    auto* const made = new std::vector<SpecialCase>;
    for (CaseText& text : Got(ReadCaseFiles(CaseFiles()))) {
      cases::CaseData data = Got(DataOf(text));
      made->push_back({std::move(text), std::move(data)});
    }
    return made;
  }();
  return all;
}

cases::Limit LimitOf(const SpecialCase& c) {
  const double rtol = c.text.rtol;
  return {
      rtol > 0 ? record::Comparator::kTolerance : record::Comparator::kExact,
      rtol, 0, ""};
}

/// The raw outcome of a backend that gives `outputs`.
record::Outcome OutcomeOf(const SpecialCase& c, const Values& outputs) {
  const std::vector<std::string> names(outputs.size(), "y");
  measure::Observation seen;
  seen.outputs = outputs;
  return measure::Judge(seen, measure::Measure(seen.outputs, c.expected(),
                                               names, LimitOf(c)))
      .outcome;
}

/// With tensors that may be written to.
Value CopyOf(const Value& value) {
  return MapTensors(value, &Tensor::Clone).value();
}

/// Calls visit(tensor, outputs) for each tensor of a copy of the expected
/// outputs, in sequences and maps too.
template <class Visit>
void ForEachTensor(const SpecialCase& c, const Visit& visit) {
  Values outputs;
  std::vector<Tensor> tensors;  // which share the outputs' bytes
  for (const Value& value : c.expected()) {
    outputs.push_back(CopyOf(value));
    assay::ForEachTensor(outputs.back(), [&](const Tensor& tensor) {
      tensors.push_back(tensor);
    });
  }
  for (Tensor& tensor : tensors) visit(tensor, outputs);
}

/// Another value at `index`: 0 in place of NaN, else `bit` is another; of a
/// complex number, the lowest of its real part.
void Change(Tensor& tensor, int64_t index, uint64_t bit) {
  const DType type = tensor.dtype();
  if (type == DType::kString) {
    tensor.mutable_strings()[static_cast<size_t>(index)] += "?";
    return;
  }
  const int width = BitsOf(type);
  if (ClassOf(type) == DTypeClass::kComplex) {
    tensor.mutable_data()[index * width / 8] ^= std::byte{1};
    return;
  }
  const uint64_t bits = metric::ElementBits(type, tensor.data(), index);
  const bool is_nan =
      IsFloatingPoint(type) && std::isnan(metric::DecodeFloat(type, bits));
  const uint64_t flip = is_nan ? bits : bit;
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  for (int k = 0; k < width; ++k) {
    if ((flip >> k & 1) == 0) continue;
    const int64_t at = index * width + k;
    bytes[at / 8] ^= static_cast<uint8_t>(1U << (at % 8));
  }
}

/// The bit whose change is beyond a relative limit, the lowest without one.
uint64_t BitBeyond(double rtol, DType type) {
  if (rtol == 0 || !IsFloatingPoint(type)) return 1;
  const int mantissa = type == DType::kFloat64 ? 52 : 23;
  return uint64_t{1} << (mantissa + std::ilogb(rtol) + 2);
}

/// The elements of `right`, of the same type and shape, again.
void Restore(Tensor& tensor, const Tensor& right) {
  if (tensor.dtype() == DType::kString) {
    std::ranges::copy(right.strings(), tensor.mutable_strings().begin());
  } else {
    std::ranges::copy(right.bytes(), tensor.mutable_data());
  }
}

TEST(Special, RowsAreWhole) {
  EXPECT_GE(AllCases().size(), 3000U);
  for (const SpecialCase& c : AllCases()) {
    SCOPED_TRACE(c.text.place + " " + c.text.name);
    EXPECT_GT(c.text.because.size(), 5U);
    const Graph& graph = c.data.model->graph();
    const cases::DataSet& set = c.data.sets.at(0);
    const auto check = [&](const std::vector<ValueId>& ids,
                           const Values& values, const char* what) {
      for (size_t i = 0; i < ids.size(); ++i) {
        EXPECT_TRUE(Accepts(graph[ids[i]].type, values[i].Type())) << what << i;
      }
    };
    check(graph.inputs, set.inputs, "input ");
    check(graph.outputs, set.expected, "output ");
  }
}

TEST(Special, EveryFileHasCases) {
  std::map<std::string, int> count;
  for (const SpecialCase& c : AllCases()) {
    ++count[c.text.place.substr(0, c.text.place.rfind(':'))];
  }
  EXPECT_EQ(count.size(), CaseFiles().size());
  for (const auto& [file, cases] : count) EXPECT_GE(cases, 15) << file;
}

TEST(WriteSpecialCorpus, WritesWhatReadCorpusReads) {
  const file::ScratchFolder folder;
  const fs::path file =
      folder.Write("some.txt",
                   "case ml.DictVectorizer/a: of the other domain\n"
                   "  model (map(string, float) x) => (float[2] y)\n"
                   "    { y = ai.onnx.ml.DictVectorizer\n"
                   "    <string_vocabulary = [\"a\", \"b\"]>(x) }\n"
                   "  x = \"b\": 1 => y = 0, 1\n"
                   "case Neg/b: the other sign\n"
                   "  types float16\n  opsets 6\n"
                   "  model ($T[2] x) => ($T[2] y) { y = Neg(x) }\n"
                   "  limit 2^-3 because of nothing\n"
                   "  x = 1, -2 => y = -1, 2\n");
  const fs::path place = folder.path() / "special";
  for (int times = 0; times < 2; ++times) {
    const Status written = WriteSpecialCorpus({file}, place);
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  const auto corpus = Got(cases::ReadCorpus(place));
  ASSERT_EQ(corpus.cases.size(), 2U);
  const cases::TestCase& neg = corpus.cases[0];
  EXPECT_EQ(neg.test_id, "special/Neg/b_float16_opset_6");
  EXPECT_EQ(neg.suite + " " + neg.kind + " " + neg.op + " " + neg.domain,
            "special special Neg ai.onnx");
  EXPECT_EQ(neg.opset, 6);
  EXPECT_THAT(neg.operators, testing::ElementsAre("ai.onnx::Neg"));
  EXPECT_THAT(neg.dtypes, testing::ElementsAre("float16"));
  EXPECT_EQ(neg.limit.comparator, record::Comparator::kTolerance);
  EXPECT_EQ(neg.limit.rtol, 0.125);
  EXPECT_EQ(neg.limit.source, "of nothing");
  const auto data = Got(cases::ReadCaseData(neg.directory, 1));
  EXPECT_EQ(data.sets[0].expected[0].tensor()->elements<uint16_t>()[1], 0x4000);
  const cases::TestCase& dictionary = corpus.cases[1];
  EXPECT_EQ(dictionary.domain, "ai.onnx.ml");
  EXPECT_EQ(dictionary.limit.comparator, record::Comparator::kExact);
  EXPECT_THAT(dictionary.dtypes, testing::ElementsAre("float32", "string"));
  const auto twice = WriteSpecialCorpus({file, file}, place);
  EXPECT_THAT(twice.message(), testing::HasSubstr("wanted each name once"));
}

TEST(Special, WhatIsExpectedPassesAndAnyOtherElementFails) {
  constexpr int64_t kTried = 40;  // of a tensor, the first and last among them
  for (const SpecialCase& c : AllCases()) {
    SCOPED_TRACE(c.text.name);
    EXPECT_EQ(OutcomeOf(c, c.expected()), record::Outcome::kPass);
    ForEachTensor(c, [&](Tensor& tensor, const Values& outputs) {
      const int64_t last = tensor.num_elements() - 1;
      const int64_t step = std::max<int64_t>(1, last / kTried);
      for (int64_t i = last; i >= 0;
           i = i == 0 ? -1 : std::max<int64_t>(i - step, 0)) {
        const Tensor right = tensor.Clone().value();
        Change(tensor, i, BitBeyond(c.text.rtol, tensor.dtype()));
        EXPECT_EQ(OutcomeOf(c, outputs), record::Outcome::kFail)
            << "element " << i;
        Restore(tensor, right);
      }
    });
  }
}

/// True when a backend passes that fills every output with its first element.
bool PassesWithConstants(const SpecialCase& c) {
  bool any = false;
  Values outputs;
  for (const Value& value : c.expected()) outputs.push_back(CopyOf(value));
  for (Value& value : outputs) {
    Tensor* const tensor = value.mutable_tensor();
    if (tensor == nullptr || tensor->num_elements() < 2) return false;
    any = true;
    if (tensor->dtype() == DType::kString) {
      const auto texts = tensor->mutable_strings();
      std::ranges::fill(texts, std::string(texts[0]));
      continue;
    }
    const auto width = static_cast<size_t>(BitsOf(tensor->dtype()));
    if (width < 8) return false;
    std::byte* const data = tensor->mutable_data();
    for (int64_t i = 1; i < tensor->num_elements(); ++i) {
      std::copy(data, data + width / 8,
                data + i * static_cast<int64_t>(width / 8));
    }
  }
  return any && OutcomeOf(c, outputs) == record::Outcome::kPass;
}

/// True when a backend passes that leaves every output zero.
bool PassesWithZeros(const SpecialCase& c) {
  Values outputs;
  for (const Value& value : c.expected()) {
    const Tensor* const tensor = value.tensor();
    if (tensor == nullptr) return false;
    outputs.push_back(
        Tensor::Allocate(tensor->dtype(), tensor->shape()).value());
  }
  return OutcomeOf(c, outputs) == record::Outcome::kPass;
}

TEST(Special, NoCaseIsPassedByZerosOrAConstant) {
  for (const SpecialCase& c : AllCases()) {
    EXPECT_FALSE(PassesWithZeros(c)) << c.text.name;
    EXPECT_FALSE(PassesWithConstants(c)) << c.text.name;
  }
}

/// Two values that compare equal but are not the same bits would hide a sign:
/// where a case is about that of zero, no zero is expected.
TEST(Special, SignsOfZeroAreSeenAsInfinities) {
  int seen = 0;
  for (const SpecialCase& c : AllCases()) {
    if (c.text.place.find("/zeros.txt:") == std::string::npos) continue;
    ++seen;
    for (const Value& value : c.expected()) {
      const Tensor& tensor = *value.tensor();
      if (!IsFloatingPoint(tensor.dtype())) continue;
      for (int64_t i = 0; i < tensor.num_elements(); ++i) {
        EXPECT_NE(metric::DecodeFloat(
                      tensor.dtype(),
                      metric::ElementBits(tensor.dtype(), tensor.data(), i)),
                  0)
            << c.text.name;
      }
    }
  }
  EXPECT_GE(seen, 15);
}

}  // namespace
}  // namespace assay::special
