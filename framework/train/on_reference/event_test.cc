// SPDX-License-Identifier: Apache-2.0
//
// What events say of small training runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/train/event/dataset_watch.h"
#include "framework/train/event/mlperf_log.h"
#include "framework/train/event/progress_line.h"
#include "framework/train/event/wrong_samples.h"
#include "framework/train/on_reference/corners_fixture.h"
#include "framework/train/on_reference/linear_network_fixture.h"

namespace assay::on_reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

train::Trained Watched(CornersRun& run, int64_t epochs,
                       train::TrainingEvent* event) {
  train::Training training = run.Run(epochs);
  training.events = {event};
  return Got(train::Train(training));
}

// Kills: samples of the test before, and those that are right.
TEST(WrongSamplesTest, AreThoseOfTheLastTest) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "wrong.csv";
  CornersRun run("rate=0.0001");
  train::WrongSamples wrong(path, run.dataset);
  for (const int64_t epochs : {1, 2}) {
    const train::Trained trained = Watched(run, epochs, &wrong);
    const int64_t n_wrong = trained.test.samples - trained.test.right;
    ASSERT_GT(n_wrong, 0);
    const std::string text = Got(file::ReadFile(path));
    EXPECT_THAT(text, StartsWith("sample,label,taken_for,score_of_label,"
                                 "score\n"));
    EXPECT_EQ(std::ranges::count(text, '\n'), 1 + n_wrong);
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      int64_t sample = 0, label = 0, taken = 0;
      char comma = 0;
      std::istringstream(line) >> sample >> comma >> label >> comma >> taken;
      EXPECT_EQ(label, sample % 3) << line;
      EXPECT_NE(taken, label) << line;
    }
  }
}

TEST(ProgressLineTest, SaysALineAnEpoch) {
  std::ostringstream out;
  CornersRun run("rate=0.1");
  train::ProgressLine progress(out, {.epochs = 2, .steps = 14});
  Watched(run, 2, &progress);
  EXPECT_THAT(out.str(),
              MatchesRegex("epoch 1/2: loss [0-9.]+, accuracy [0-9.]+; test "
                           "loss [0-9.]+, accuracy [0-9.]+\n"
                           "epoch 2/2: .*\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

TEST(ProgressLineTest, LeavesNoLineOnATerminal) {
  std::ostringstream out;
  CornersRun run("rate=0.1");
  train::ProgressLine progress(out, {.is_terminal = true,
                                     .epochs = 1,
                                     .steps = 7,
                                     .between = std::chrono::milliseconds(0)});
  Watched(run, 1, &progress);
  EXPECT_THAT(out.str(), HasSubstr("epoch 1/1 step 7/7: loss "));
  EXPECT_THAT(out.str(), HasSubstr(" samples/s, 0 s left\r\033[Kepoch 1/1: "));
  for (std::string rest = out.str(); rest.find('\r') != std::string::npos;
       rest = rest.substr(rest.find('\r') + 1)) {
    EXPECT_LE(rest.find('\r'), 80U);
  }
}

TEST(MlperfLogTest, HasItsKeysInOrder) {
  std::ostringstream out;
  CornersRun run("rate=0.1");
  train::MlperfLog log(out, {{"submission_benchmark", "a \"b\""}});
  Watched(run, 1, &log);
  std::vector<std::string> keys;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(
        line, MatchesRegex(":::MLLOG \\{\"namespace\": \"\", \"time_ms\": "
                           "[0-9]+, \"event_type\": \"[A-Z_]+\", \"key\": "
                           "\"[a-z_]+\", \"value\": .*, \"metadata\": .*\\}"));
    const size_t at = line.find("\"key\": \"") + 8;
    keys.push_back(line.substr(at, line.find('"', at) - at));
  }
  EXPECT_THAT(out.str(), HasSubstr("\"value\": \"a \\\"b\\\"\""));
  EXPECT_THAT(
      keys, ::testing::ElementsAre("submission_benchmark", "run_start",
                                   "epoch_start", "eval_start", "eval_accuracy",
                                   "eval_stop", "epoch_stop", "run_stop"));
  EXPECT_THAT(out.str(), HasSubstr("{\"status\": \"success\"}"));
}

/// The rows behind the columns, without the seconds.
std::vector<std::string> Watched(const std::filesystem::path& path) {
  const std::string text = *file::ReadFile(path);
  std::string_view rest = text;
  EXPECT_EQ(CutFront(&rest), train::DatasetWatch::kColumns);
  std::vector<std::string> rows;
  while (!rest.empty()) {
    const std::string_view row = CutFront(&rest);
    rows.emplace_back(row.substr(0, row.rfind(',', row.rfind(',') - 1)));
  }
  return rows;
}

// Kills: samples that come twice and count as others; shares of the classes
// that are not those of the samples.
TEST(DatasetWatchTest, SaysWhatAnEpochWas) {
  const file::ScratchFolder folder;
  CornersRun run("rate=0.1");
  train::DatasetWatch watch(folder.path() / "a.csv", run.dataset);
  train::Training training = run.Run(2);
  training.events = {&watch};
  ASSERT_TRUE(train::Train(training).ok());
  EXPECT_THAT(Watched(folder.path() / "a.csv"),
              ElementsAre("0,7,50,50,0", "1,7,50,50,0"));

  // One sample again and again: of the 50 its class has 17.
  train::DatasetWatch narrow(folder.path() / "b.csv", run.dataset);
  training.epochs = 1;
  training.train.sampler = [](int64_t) {
    return std::vector<train::Batch>(4, train::Batch{3, 3});
  };
  training.events = {&narrow};
  ASSERT_TRUE(train::Train(training).ok());
  EXPECT_THAT(Watched(folder.path() / "b.csv"), ElementsAre("0,4,8,1,0.66"));
}

TEST(DatasetWatchTest, GoesOnWithItsFile) {
  const file::ScratchFolder folder;
  const std::string columns(train::DatasetWatch::kColumns);
  const auto path = folder.Write(
      "a.csv", columns + "\n0,7,50,50,0,1,1\n1,7,50,50,0.5,1,1\n2,7");
  CornersRun run("rate=0.1");
  train::DatasetWatch watch(path, run.dataset);
  train::Training training = run.Run(2);
  training.from.epoch = 1;
  training.events = {&watch};
  ASSERT_TRUE(train::Train(training).ok());
  EXPECT_THAT(Watched(path), ElementsAre("0,7,50,50,0", "1,7,50,50,0"));
  folder.Write("a.csv", "epoch\n");
  EXPECT_THAT(train::Train(training).status().message(),
              HasSubstr("found the columns 'epoch', wanted 'epoch,batches"));
}

}  // namespace
}  // namespace assay::on_reference
