// SPDX-License-Identifier: Apache-2.0
//
// assay train, optdiff and bisect as a person types them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "framework/cli/program_fixture.h"
#include "framework/file/file.h"

namespace assay::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TrainTest : public cli::ProgramTest {
 protected:
  std::string Checkpoint(const std::string& run) const {
    const auto text = file::ReadFile(folder_ / run / "checkpoint.safetensors");
    return text.ok() ? *text : "";
  }
  /// Without the header, which has the name of the model.
  std::string Tensors(const std::string& run) const {
    const std::string text = Checkpoint(run);
    uint64_t size = 0;
    for (size_t i = std::min<size_t>(text.size(), 8); i > 0; --i) {
      size = size << 8U | static_cast<unsigned char>(text[i - 1]);
    }
    return text.size() < 8 + size ? "" : text.substr(8 + size);
  }
  /// Without the seconds, which no two runs share.
  std::string Curves(const std::string& run) const {
    return Shell("cut -d, -f1,2,3,5,6,7 ", run, "/curves.csv").output;
  }

  static constexpr char kRun[] =
      "train mlp --dataset drawn --optimizer adam/pytorch --batch 16 ";
};

// Kills: a checkpoint that a kill leaves in halves; one that lags behind its
// curves; curves of steps that were taken twice.
TEST_F(TrainTest, AKilledRunGoesOnWithTheSameBits) {
  ASSERT_EQ(Assay(kRun, "--epochs 4 --out whole").exit_code, 0);
  // The trainer is killed as soon as there is a checkpoint, three times.
  const std::string killed = R"(
    for round in 1 2 3; do
      if [ -e cut/train.txt ]; then
        )" + cli::Program() + R"( train --resume cut --epochs 4 \
            --checkpoint-every 5 &
      else
        )" + cli::Program() + " " +
                             kRun + R"(--epochs 4 --out cut \
            --checkpoint-every 5 &
      fi
      assay=$!
      before=$(stat -c %Y%i cut/checkpoint.safetensors 2>/dev/null)
      for i in $(seq 2000); do
        now=$(stat -c %Y%i cut/checkpoint.safetensors 2>/dev/null)
        [ "$now" != "$before" ] && break
        kill -0 $assay 2>/dev/null || break
        sleep 0.005
      done
      for pid in $(cat /proc/$assay/task/$assay/children); do kill -9 $pid; done
      wait $assay
    done)";
  EXPECT_THAT(Shell(killed).output, HasSubstr("was ended by signal 9"));
  ASSERT_NE(Checkpoint("cut"), "");
  EXPECT_NE(Checkpoint("cut"), Checkpoint("whole"));
  // Its epochs are those that it was begun with.
  EXPECT_THAT(Assay("train --resume cut"),
              cli::Ended(0, "goes on behind step "));
  EXPECT_EQ(Checkpoint("cut"), Checkpoint("whole"));
  EXPECT_EQ(Curves("cut"), Curves("whole"));
}

/// CIFAR-10's files with few images, whose squares are bright in a place of the
/// class.
void WriteImages(const std::filesystem::path& folder) {
  ASSERT_TRUE(file::MakeDirectory(folder).ok());
  for (const char* name :
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
        "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    std::string bytes;
    for (int label = 0; label < 10; ++label) {
      bytes.push_back(static_cast<char>(label));
      for (int pixel = 0; pixel < 3 * 32 * 32; ++pixel) {
        const bool is_bright = pixel % 32 / 3 == label;
        bytes.push_back(static_cast<char>((is_bright ? 90 : 0) + pixel % 7));
      }
    }
    ASSERT_TRUE(file::WriteFile(folder / name, bytes).ok());
  }
}

// Kills: statistics that are not in a checkpoint, a mask that a resumed run
// draws otherwise, a model of other images than the dataset's; a model file
// whose run is another than that of its name, or that is looked for where it
// was.
TEST_F(TrainTest, AStatefulModelGoesOnWithTheSameBits) {
  WriteImages(folder_ / "cifar");
  for (const std::string model : {"resnet8", "transformer"}) {
    const std::string run =
        " --dataset cifar10:cifar --optimizer adam/pytorch --batch 8 "
        "--micro-batch 5 ";
    const auto out = [&](const char* name) { return model + name; };
    const cli::Ran whole =
        Assay("train ", model, run, "--epochs 2 --out ", out("whole"));
    ASSERT_EQ(whole.exit_code, 0) << whole.output;
    // The model that was written, from another place.
    ASSERT_EQ(Shell("cp -r ", out("whole"), " aside").exit_code, 0);
    const cli::Ran cut =
        Assay("train aside/model.onnx", run, "--epochs 1 --out ", out("cut"));
    ASSERT_EQ(cut.exit_code, 0) << cut.output;
    EXPECT_EQ(Shell("rm -r aside").exit_code, 0);
    EXPECT_THAT(Assay("train --epochs 2 --resume ", out("cut")),
                cli::Ended(0, "goes on behind step 7"));
    EXPECT_EQ(Tensors(out("cut")), Tensors(out("whole")));
    EXPECT_EQ(Curves(out("cut")), Curves(out("whole")));
    EXPECT_EQ(Shell("ls ", model, "*/*.bin | wc -l").output, "2\n");
  }
  EXPECT_THAT(Checkpoint("resnet8cut"), HasSubstr("state:statistic:norm1_var"));
  ASSERT_EQ(Shell("for f in resnet8cut/*.bin; do "
                  "printf x | dd of=$f bs=1 seek=9 conv=notrunc; done")
                .exit_code,
            0);
  const cli::Ran lies = Assay("train --epochs 3 --resume resnet8cut");
  EXPECT_NE(lies.exit_code, 0);
  EXPECT_THAT(lies.output, HasSubstr("found weights with the digest "));
}

// Kills: a run that dies of Ctrl-C with the steps since its last checkpoint.
TEST_F(TrainTest, AStopIsBehindAStep) {
  const cli::Ran ran = Shell(
      cli::Program(), " ", kRun, "--epochs 500 --out run & assay=$!\n",
      "while ! grep -q ',3,' run/curves.csv 2>/dev/null; do sleep 0.01; done\n",
      "kill -INT $(cat /proc/$assay/task/$assay/children)\n",
      "wait $assay; echo exit code $?");
  EXPECT_THAT(ran.output, HasSubstr(": it was asked to"));
  EXPECT_THAT(ran.output, HasSubstr("exit code 130"));
  EXPECT_NE(Checkpoint("run"), "");
}

TEST_F(TrainTest, SaysWhatIsWrong) {
  ASSERT_TRUE(file::MakeDirectory(folder_ / "cut").ok());
  ASSERT_TRUE(
      file::WriteFile(folder_ / "cut" / "train.txt", Shell("echo").output)
          .ok());
  ASSERT_EQ(Shell(R"(mkdir small; cd small; for part in train t10k; do
      printf '\0\0\10\3\0\0\0\1\0\0\0\1\0\0\0\1x' > $part-images-idx3-ubyte
      printf '\0\0\10\1\0\0\0\1\0' > $part-labels-idx1-ubyte; done)")
                .exit_code,
            0);
  const std::vector<cli::Refusal> rows = {
      {"train lenet", "found the model 'lenet', wanted mlp, "},
      {"train mlp --dataset digit", "did you mean digits?"},
      {"train mlp --dataset mnist:none", "found no train-images-idx3-ubyte"},
      {"train mlp --dataset mnist:small",
       "found images [1,1,1], wanted [N,28,28]"},
      {"train mlp --optimizer adm", "found the optimizer 'adm'"},
      {"train mlp --optimizer adam:rate=-1", "rate: found '-1', wanted"},
      {"train mlp --batch 0", "--batch"},
      {"train mlp --dataset drawn --optimizer 'adam:decay=in_rule'",
       "decay: found 'in_rule', wanted coupled or by_rate"},
      {"train --resume none", "found no train.txt in none"},
      {"train --resume cut", "cut/train.txt: line 1: found '', wanted"},
      {"train mlp --seed -1", "found the seed -1, wanted 0 or more"},
      {"train mlp --resume none", "excludes"},
      {"optdiff reference", "b is required"},
      {"bisect reference reference:adm", "found the optimizer 'adm'"},
  };
  ExpectRefused("", rows);
}

// Kills: a run that is written over; a run that goes on as another.
TEST_F(TrainTest, KeepsWhatIsThere) {
  ASSERT_EQ(Assay("train mlp --dataset drawn --epochs 1 --out run").exit_code,
            0);
  const std::string kept = Checkpoint("run");
  EXPECT_THAT(Assay("train mlp --dataset drawn --epochs 1 --out run"),
              cli::Ended(2, "wanted another folder, or --resume"));
  ASSERT_EQ(
      Shell("sed -i s/^model,mlp$/model,small_cnn/ run/train.txt").exit_code,
      0);
  EXPECT_THAT(Assay("train --resume run --epochs 2"),
              cli::Ended(2, "model 'mlp', wanted 'small_cnn'"));
  EXPECT_EQ(Checkpoint("run"), kept);
}

// Kills: a run of the release before, which left words, that is lost.
TEST_F(TrainTest, ARunThatLeftWordsGoesOn) {
  ASSERT_EQ(Assay("train mlp --dataset drawn --batch 16 --epochs 1 --out run")
                .exit_code,
            0);
  ASSERT_EQ(Shell("grep -v '^request\\|^out\\|^goes_on\\|^parent' "
                  "run/train.txt | sed 's/^/--/;s/_/-/;s/,/\\n/' > words && "
                  "mv words run/train.txt")
                .exit_code,
            0);
  EXPECT_THAT(Shell("cat run/train.txt").output,
              HasSubstr("--micro-batch\n0\n--seed\n0\n"));
  EXPECT_THAT(Assay("train --resume run --epochs 2"),
              cli::Ended(0, "goes on behind step "));
}

// Kills: a loss that is no number and a run that goes on.
TEST_F(TrainTest, EndsWhereTheLossIsNoNumber) {
  EXPECT_THAT(
      Assay(
          "train mlp --dataset drawn --optimizer momentum:rate=1e30 --out run"),
      cli::Ended(1, "stopped behind step "));
  EXPECT_TRUE(
      std::filesystem::exists(folder_ / "run" / "gradients.safetensors"));
}

// Kills: a backend that is cut at a colon of its settings, as cuda:0 has one.
TEST_F(TrainTest, ABackendMayHaveColonsInItsSettings) {
  const std::string wrong = "faulty+mutant=gradient:sign:Gemm.1";
  const std::string how = " --dataset drawn --batch 500 ";
  EXPECT_THAT(Assay("train mlp --epochs 1 --out run --backend ", wrong, how),
              cli::Ended(0, "written to run"));
  EXPECT_THAT(Assay("train --resume run --epochs 2"), cli::Ended(0));
  EXPECT_THAT(
      Assay("train mlp --epochs 1 --optimizer adm --backend ", wrong, how),
      cli::Ended(2, "found the optimizer 'adm'"));
  const std::string steps = how + "--model mlp --steps 1";
  EXPECT_THAT(Assay("optdiff reference ", wrong, steps),
              cli::Ended(1, "run b: wrong at step 1: the gradient of "));
  EXPECT_THAT(
      Assay("bisect reference:adam ", wrong, ":adam/paper:rate=0.001", steps),
      cli::Ended(1, "cause: gradient", "the Gemm of run b"));
  EXPECT_THAT(Assay("converge ", wrong, how,
                    "--model mlp --seeds 4 --epochs 1 --every 2 --accuracy 0"),
              cli::Ended(0, "4 of 4 seeds come to 0"));
}

// Kills: a gradient of the wrong sign that is right since the oracle's limit is
// too wide.
TEST_F(TrainTest, WhatNobodyKnowsIsUndecided) {
  const std::string wrong = "faulty+mutant=gradient:sign:Gemm.1";
  const std::string how = " --model lstm --batch 4 --steps 2";
  EXPECT_THAT(
      Assay("optdiff reference ", wrong, how),
      cli::Ended(1, "run a: right at every step\n",
                 "run b: undecided: layer1_w.gradient at 2 steps; right ",
                 "they differ first at step 1, in layer1_w.gradient: by "));
  EXPECT_THAT(Assay("bisect reference ", wrong, how),
              cli::Ended(1, "cause: gradient", "oracle decides for neither"));
  EXPECT_THAT(Assay("optdiff ", wrong, " ", wrong, how),
              cli::Ended(0, "run a: undecided: layer1_w.gradient"));
}

TEST_F(TrainTest, TellsTwoPresetsApart) {
  EXPECT_THAT(Assay("optdiff reference reference --model mlp --steps 20"),
              cli::Ended(0));
  const cli::Ran apart = Assay(
      "bisect reference:adam/pytorch reference:adam/tensorflow --model mlp");
  EXPECT_EQ(apart.exit_code, 1) << apart.output;
  EXPECT_THAT(apart.output, HasSubstr("cause: convention"));
  EXPECT_THAT(apart.output, Not(HasSubstr("cause: update rule")));
}

// Kills: a judge of another model than the file's, or of other weights.
TEST_F(TrainTest, ModelsFromFilesAreHeldBesideEachOther) {
  const std::string run = "--dataset drawn --epochs 1 --out run";
  ASSERT_EQ(Assay("train lenet5 ", run).exit_code, 0);
  const std::string file = " --model run/model.onnx --steps 4 --batch 16";
  EXPECT_THAT(Assay("optdiff reference reference", file), cli::Ended(0));
  EXPECT_THAT(
      Assay("bisect reference:momentum reference:momentum:rate=0.02", file),
      cli::Ended(1, "--model run/model.onnx"));
  EXPECT_THAT(Assay("bisect reference reference --weights-seed-b 3", file),
              cli::Ended(2, "a file has weights of its own"));
}

// Kills: a command that finds two apart which are one, or one that finds none.
TEST_F(TrainTest, RunsAreHeldBesideOthersOverSeeds) {
  const std::string how =
      "--dataset drawn --model mlp --batch 32 --every 2 --seeds 4 --accuracy "
      "0.9 ";
  EXPECT_THAT(Assay("converge reference:momentum/pytorch:rate=0.01 "
                    "reference:momentum/keras:rate=0.01 ",
                    how, "--table both.csv"),
              cli::Ended(0, "4 of 4 seeds come to 0.9",
                         "they are not told apart", "four times in five"));
  EXPECT_THAT(Assay("converge reference:momentum/pytorch:rate=0.001 ", how,
                    "--against both.csv"),
              cli::Ended(1, "they are apart"));
  EXPECT_THAT(Assay("converge reference --dataset drawn --model mlp --seeds 4 "
                    "--against both.csv"),
              cli::Ended(2, "wanted mlp on drawn in batches of 32"));
}

}  // namespace
}  // namespace assay::train
