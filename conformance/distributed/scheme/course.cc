// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/course.h"

#include <bit>
#include <string_view>
#include <utility>

#include "conformance/distributed/ranks/bits.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/text.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/watch.h"

namespace assay::distributed {
namespace {

int64_t Differing(const Vector& got, const Vector& wanted) {
  return DifferingBits(std::as_bytes(std::span(got)),
                       std::as_bytes(std::span(wanted)));
}

bool SameBits(float got, float wanted) {
  return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(wanted);
}

}  // namespace

Vector NumbersOf(train::Objective& objective) {
  Vector numbers;
  for (const train::Parameter& each : objective.parameters()) {
    const auto elements = each.value.elements<float>();
    numbers.insert(numbers.end(), elements.begin(), elements.end());
  }
  return numbers;
}

Result<Course> CourseOf(train::Objective& objective, int64_t steps,
                        const std::function<Status(int64_t)>& step) {
  Course course;
  for (int64_t i = 0; i < steps; ++i) {
    ASSAY_RETURN_IF_ERROR(step(i));
    course.push_back(NumbersOf(objective));
  }
  return course;
}

Result<Trainee> Trained(
    Endpoint& mine, train::Objective& objective, int64_t steps,
    const std::function<std::unique_ptr<ranks::Scheme>(Endpoint&)>& make,
    const std::function<Status(int64_t)>& step) {
  ranks::WatchedEndpoint watched(mine);
  const auto scheme = make(watched);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(mine));
  Trainee trainee;
  ASSAY_ASSIGN_OR_RETURN(
      trainee.course, CourseOf(objective, steps, [&](int64_t i) -> Status {
        if (step) ASSAY_RETURN_IF_ERROR(step(i));
        ASSAY_ASSIGN_OR_RETURN(const double loss, scheme->Step(objective));
        trainee.losses.Add(loss);
        return OkStatus();
      }));
  ASSAY_ASSIGN_OR_RETURN(trainee.sent, SentSince(before, mine, watched.sent()));
  ASSAY_RETURN_IF_ERROR(scheme->Finish(objective));
  trainee.course.back() = NumbersOf(objective);
  return trainee;
}

std::string BytesOf(const Trainee& trainee) {
  std::string text;
  ranks::AppendFields(trainee.sent, &text);
  ranks::AppendFields(trainee.losses, &text);
  for (const Vector& each : trainee.course) {
    AppendBytes(std::span(each), &text);
  }
  return text;
}

Result<std::vector<Trainee>> TraineesOf(std::span<const std::string> found,
                                        const Course& like) {
  std::vector<Trainee> trainees;
  for (const std::string& bytes : found) {
    Trainee& trainee = trainees.emplace_back(Trainee{like, {}, {}});
    std::string_view text = bytes;
    bool fits = ranks::CutFields(&text, &trainee.sent) &&
                ranks::CutFields(&text, &trainee.losses);
    for (Vector& each : trainee.course) {
      fits = fits && CutBytes(&text, std::span(each));
    }
    if (!fits || !text.empty()) {
      return DataLoss("rank ", trainees.size() - 1, " brought ", bytes.size(),
                      " bytes of what it trained");
    }
  }
  return trainees;
}

std::vector<RankSent> SentBy(std::span<const Trainee> trainees) {
  std::vector<RankSent> sent;
  for (const Trainee& each : trainees) sent.push_back(each.sent);
  return sent;
}

std::vector<Losses> LossesOf(std::span<const Trainee> trainees) {
  std::vector<Losses> losses;
  for (const Trainee& each : trainees) losses.push_back(each.losses);
  return losses;
}

std::string NameOf(train::Objective& objective, size_t at) {
  for (const train::Parameter& each : objective.parameters()) {
    const auto size = static_cast<size_t>(each.value.num_elements());
    if (at < size) return StrCat(each.name, "[", at, "]");
    at -= size;
  }
  return StrCat("[", at, "]");
}

std::optional<measure::Judgement> FirstDifference(
    std::span<const Trainee> trainees, const Course& wanted, bool has_each_step,
    train::Objective& objective) {
  const size_t first = has_each_step ? 0 : wanted.size() - 1;
  for (size_t step = first; step < wanted.size(); ++step) {
    for (size_t rank = 0; rank < trainees.size(); ++rank) {
      const Vector& got = trainees[rank].course[step];
      for (size_t i = 0; i < got.size(); ++i) {
        if (SameBits(got[i], wanted[step][i])) continue;
        return Fails(kFailBits, StrCat("rank ", rank, ", step ", step + 1, ", ",
                                       NameOf(objective, i), ": found ", got[i],
                                       ", wanted ", wanted[step][i]));
      }
    }
  }
  return std::nullopt;
}

std::optional<measure::Judgement> StandsStill(const Course& course,
                                              const Vector& start) {
  if (course.back() != start) return std::nullopt;
  return Fails(kFailBits, "no parameter is another than at the start");
}

int64_t CompareLast(std::span<const Trainee> trainees, const Vector& wanted,
                    DistributedRow* row) {
  int64_t differing = 0;
  bool agree = true;
  HashOfRanks hash;
  for (const Trainee& each : trainees) {
    const Vector& last = each.course.back();
    differing += Differing(last, wanted);
    agree = agree && Differing(last, trainees[0].course.back()) == 0;
    hash.Add(std::as_bytes(std::span(last)));
  }
  row->rank_agreement = agree ? 1 : 0;
  row->hash = hash.text();
  return differing;
}

}  // namespace assay::distributed
