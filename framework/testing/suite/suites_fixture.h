// SPDX-License-Identifier: Apache-2.0
//
// SuitesTest: a case with files, and one suite that runs it on a backend that
// gives y = x.
//
//   TEST_F(SuitesTest, ARightOutputPasses) {
//     EXPECT_EQ(Run(suite, CaseOf({kRight})).outcome, record::Outcome::kPass);
//   }

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/suite/copy_backend_fixture.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::suite {

/// What a data set feeds and expects.
struct Set {
  std::vector<float> x, y;
};

inline const Set kRight = {{1, 2}, {1, 2}};
inline const Set kNear = {{1, 2}, {1, 2.00001F}};
inline const Set kOff = {{1, 2}, {1, 2.1F}};
inline const Set kDrawn = {{1, 0}, {1, 0}};  // as Bernoulli must

/// A case in files, run by one suite.
class SuitesTest : public testing::Test {
 protected:
  /// A case of y = op(x) under a limit of 1e-5 times what is wanted.
  record::PlanRow CaseOf(const std::vector<Set>& sets,
                         const std::string& op = "Identity") const {
    const auto write = [&](const std::string& file, const Value& value) {
      folder_.Write(file, *graph::SerializeValue(value, ""));
    };
    const auto size = sets[0].x.size();
    const auto model =
        graph::ModelOfText(StrCat("g (float[", size, "] x) => (float[", size,
                                  "] y) { y = ", op, "(x) }"));
    folder_.Write("model.onnx",
                  {reinterpret_cast<const char*>(model->bytes().data()),
                   model->bytes().size()});
    for (size_t i = 0; i < sets.size(); ++i) {
      const std::string set = StrCat("test_data_set_", i);
      write(set + "/input_0.pb", Floats(sets[i].x));
      write(set + "/output_0.pb", Floats(sets[i].y));
    }
    record::PlanRow row;
    row.oracle = (folder_.path() / "answers").string();
    row.sensitive = {0};
    row.test_id = "node/Identity/a";
    row.suite = "node";
    row.directory = folder_.path().string();
    row.n_data_sets = std::ssize(sets);
    row.rtol = 1e-5;
    row.limit_source = "onnx";
    if (op == "Bernoulli") row.comparator = record::Comparator::kDistribution;
    row.tolerate_source = "line 7";
    return row;
  }

  measure::Judgement Run(const Suite& suite, const record::PlanRow& row,
                         Fault fault = {}) {
    CopyBackend backend(std::move(fault));
    record_ = record::Record{record::ResultOf(row, facts_)};
    return suite.run(row, backend, facts_, &record_);
  }
  std::vector<record::AccuracyRow> Rows() const {
    return *record_.Rows<record::AccuracyRow>();
  }
  /// The accuracy of the last run as its table has it, without the key.
  std::string Table() const {
    std::string text;
    for (const record::RecordRow& row : record_.rows) text += row.fields + "\n";
    return text;
  }

  const file::ScratchFolder folder_;
  record::RunFacts facts_ = {.output = folder_.path() / "out"};
  record::Record record_;
};

}  // namespace assay::suite
