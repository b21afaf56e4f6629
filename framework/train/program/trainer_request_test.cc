// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/trainer_request.h"

#include "framework/testing/request/form_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::program {
namespace {

TEST(TrainerRequestTest, EachKindIsReadAsItIsWritten) {
  request::ExpectWhole<TrainRequest>();
  request::ExpectWhole<OptDiffRequest>();
  request::ExpectWhole<BisectRequest>();
  request::ExpectWhole<ConvergeRequest>();
}

// Kills: a second run that begins with the weights of seed 0 where none is
// asked for.
TEST(TrainerRequestTest, ASeedThatIsNotGivenIsNone) {
  const auto request = Got(request::Parse<BisectRequest>(
      "request,bisect\na,x\na_module,x\nb,x\nb_module,x\noracle,x\n"
      "oracle_module,x\nweights_seed_b,\norder_seed_b,0\n"));
  EXPECT_FALSE(request.weights_seed_b.has_value());
  EXPECT_EQ(request.order_seed_b, 0);
}

}  // namespace
}  // namespace assay::program
