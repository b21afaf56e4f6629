// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/graph/edit/training.h"
#include "framework/train/event/stop.h"
#include "framework/train/model/models.h"
#include "framework/train/trainer.h"

namespace assay::converge {
namespace {

constexpr int64_t kTestBatch = 250;

/// Cuts the batches of an epoch into short epochs, so that a test follows each.
train::Sampler Sliced(train::Sampler whole, int64_t batches, int64_t slices) {
  return [whole = std::move(whole), batches, slices](int64_t slice) {
    std::vector<train::Batch> all = whole(slice / slices);
    const int64_t begin = slice % slices * batches;
    const int64_t end = std::min(begin + batches, std::ssize(all));
    return std::vector<train::Batch>(all.begin() + begin, all.begin() + end);
  };
}

class CountSamples : public train::TrainingEvent {
 public:
  Status AfterStep(const train::TrainingMoment& moment) override {
    samples_ += std::ssize(moment.batch);
    return OkStatus();
  }
  int64_t samples() const { return samples_; }

 private:
  int64_t samples_ = 0;
};

Result<std::unique_ptr<train::NetworkObjective>> ObjectiveOf(
    const Goal& goal, const train::Dataset& data, Backend& backend,
    uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const train::ModelOptions wanted,
                         train::OptionsFor(data, seed));
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel model,
                         train::MakeModel(goal.model, wanted));
  ASSAY_ASSIGN_OR_RETURN(
      train::Trainee trainee,
      train::TraineeOf(
          model, {.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot}, seed));
  return train::NetworkObjective::Load(backend, std::move(trainee));
}

constexpr std::string_view kColumns =
    "run,model,dataset,batch,every,most_epochs,goal,seed,samples,accuracy,"
    "reached";
constexpr size_t kWidth = 11;

std::string RowOf(const SeededRuns& runs, size_t seed) {
  const Reached& reached = runs.seeds[seed];
  std::string row;
  for (const std::string& field :
       {runs.run, runs.goal.model, runs.dataset, file::ToText(runs.goal.batch),
        file::ToText(runs.goal.every), file::ToText(runs.goal.most_epochs),
        file::ToText(runs.goal.accuracy),
        file::ToText(static_cast<int64_t>(seed)), file::ToText(reached.samples),
        file::ToText(reached.accuracy),
        file::ToText(int64_t{reached.is_reached})}) {
    if (!row.empty()) row += ',';
    file::AppendCsvField(row, field);
  }
  return row + "\n";
}

/// The numbers of a row; nothing where a field is no number.
struct Row {
  int64_t batch, every, most_epochs;
  double goal;
  int64_t seed, samples;
  double accuracy;
  int64_t reached;
};

std::optional<Row> RowOf(const std::vector<std::string>& fields) {
  if (fields.size() != kWidth) return std::nullopt;
  std::vector<double> numbers;
  for (size_t i = 3; i < kWidth; ++i) {
    const auto number = file::ParseDouble(fields[i]);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  const auto whole = [&](size_t i) { return static_cast<int64_t>(numbers[i]); };
  return Row{whole(0), whole(1), whole(2),   numbers[3],
             whole(4), whole(5), numbers[6], whole(7)};
}

double Mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) /
         static_cast<double>(x.size());
}

double Squares(std::span<const double> x) {
  const double mean = Mean(x);
  return std::transform_reduce(
      x.begin(), x.end(), 0.0, std::plus<>(),
      [mean](double v) { return (v - mean) * (v - mean); });
}

/// The next greater number with as many bits (HAKMEM, item 175).
uint32_t NextOfAsManyBits(uint32_t bits) {
  const uint32_t lowest = bits & (~bits + 1);
  const uint32_t ripple = bits + lowest;
  return ripple | ((bits ^ ripple) / lowest) >> 2U;
}

/// The share of all ways to deal the numbers to groups of these sizes whose
/// means are at least as far apart as these.
double ShareApart(std::span<const double> first,
                  std::span<const double> second) {
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const auto apart = [&](double sum) {
    return std::abs(sum / n - (total - sum) / m);
  };
  // The slack allows for sums in another order.
  const double least =
      std::abs(Mean(first) - Mean(second)) * (1 - 1e-12) - 1e-12;
  int64_t ways = 0, as_far = 0;
  const auto end = uint32_t{1} << all.size();
  for (uint32_t dealt = (uint32_t{1} << first.size()) - 1; dealt < end;
       dealt = NextOfAsManyBits(dealt)) {
    double sum = 0;
    for (uint32_t left = dealt; left != 0; left &= left - 1) {
      sum += all[static_cast<size_t>(std::countr_zero(left))];
    }
    ++ways;
    if (apart(sum) >= least) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(ways);
}

/// Student's t with these degrees of freedom at the normal quantile z (M.
/// Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.5, up to
/// the second power of 1/degrees).
double StudentOf(double z, double degrees) {
  const double z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * degrees) +
         (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/// The greatest shift of the second group's logarithms in this direction that
/// the test does not reject, by bisection.
double EndOfInterval(std::span<const double> first,
                     std::span<const double> second, double sign) {
  const double middle = Mean(second) - Mean(first);
  const auto [low, high] = std::ranges::minmax(first);
  const auto [low2, high2] = std::ranges::minmax(second);
  double kept = middle;
  double rejected = middle + sign * (2 * (high - low + high2 - low2) + 1e-9);
  constexpr int kHalvings = 24;
  std::vector<double> shifted(second.size());
  for (int i = 0; i < kHalvings; ++i) {
    const double shift = (kept + rejected) / 2;
    std::ranges::transform(second, shifted.begin(),
                           [shift](double v) { return v - shift; });
    (ShareApart(first, shifted) > kSignificance ? kept : rejected) = shift;
  }
  return kept;
}

}  // namespace

Result<Reached> SamplesTo(const Goal& goal, const train::Split& data,
                          Backend& backend, const train::Wanted& optimizer,
                          uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const auto objective,
                         ObjectiveOf(goal, data.train, backend, seed));
  ASSAY_ASSIGN_OR_RETURN(train::Made made, train::MakeOptimizer(optimizer));
  const train::Cut cut{.samples = data.train.samples(), .batch = goal.batch};
  ASSAY_ASSIGN_OR_RETURN(train::Sampler whole,
                         train::ShuffledSampler(cut, seed));
  ASSAY_ASSIGN_OR_RETURN(
      train::Sampler test,
      train::OrderedSampler({data.test.samples(), kTestBatch}));
  const int64_t batches = (cut.samples + cut.batch - 1) / cut.batch;
  const int64_t slices = (batches + goal.every - 1) / goal.every;
  train::Training training{
      *objective,
      *made.optimizer,
      {&data.train, Sliced(std::move(whole), goal.every, slices)}};
  training.test = train::Samples{&data.test, std::move(test)};
  training.epochs = slices * goal.most_epochs;
  training.targets = train::Targets::kOneHot;
  CountSamples count;
  train::StopAtAccuracy enough(goal.accuracy);
  train::StopOnNan nan;
  training.events = {&count, &nan, &enough};
  ASSAY_ASSIGN_OR_RETURN(const train::Trained trained, train::Train(training));
  const double accuracy = trained.test.accuracy();
  return Reached{accuracy >= goal.accuracy, count.samples(), accuracy};
}

std::vector<double> SeededRuns::Samples() const {
  std::vector<double> samples;
  for (const Reached& reached : seeds) {
    if (reached.is_reached) {
      samples.push_back(static_cast<double>(reached.samples));
    }
  }
  return samples;
}

Status WriteRunTable(const std::filesystem::path& path,
                     std::span<const SeededRuns> all) {
  std::string text = StrCat(kColumns, "\n");
  for (const SeededRuns& runs : all) {
    for (size_t seed = 0; seed < runs.seeds.size(); ++seed) {
      text += RowOf(runs, seed);
    }
  }
  return file::WriteFile(path, text);
}

Result<std::vector<SeededRuns>> ReadRunTable(
    const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(path));
  file::CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields) || Joined(fields, ",") != kColumns) {
    return DataLoss(path.string(), ": found the columns '", Joined(fields, ","),
                    "', wanted '", kColumns, "'");
  }
  std::vector<SeededRuns> all;
  while (reader.Next(&fields)) {
    const auto row = RowOf(fields);
    const bool begins = all.empty() || all.back().run != fields[0];
    const auto seed =
        static_cast<int64_t>(begins ? 0 : all.back().seeds.size());
    if (!row.has_value() || row->seed != seed) {
      return DataLoss(path.string(), ":", reader.line(), ": wanted a row of ",
                      kWidth, " fields, its numbers, and seed ", seed);
    }
    if (begins) {
      all.push_back(
          {fields[0],
           fields[2],
           {fields[1], row->goal, row->batch, row->every, row->most_epochs},
           {}});
    }
    all.back().seeds.push_back(
        {row->reached != 0, row->samples, row->accuracy});
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  if (all.empty()) return DataLoss(path.string(), ": found no rows");
  return all;
}

Status CheckComparable(const SeededRuns& a, const SeededRuns& b) {
  const auto said = [](const SeededRuns& runs) {
    return StrCat(runs.goal.model, " on ", runs.dataset, " in batches of ",
                  runs.goal.batch, " to ", runs.goal.accuracy, " within ",
                  runs.goal.most_epochs, " epochs, tested each ",
                  runs.goal.every, " steps");
  };
  if (said(a) == said(b)) return OkStatus();
  return InvalidArgument(b.run, ": found ", said(b), ", wanted ", said(a));
}

Result<Comparison> Compare(std::span<const double> first,
                           std::span<const double> second) {
  std::vector<double> logs[2];
  for (const auto& [samples, into] :
       {std::pair(first, &logs[0]), {second, &logs[1]}}) {
    if (samples.size() < kLeastSeeds || samples.size() > kMostSeeds) {
      return InvalidArgument("found ", samples.size(), " seeds, wanted ",
                             kLeastSeeds, " to ", kMostSeeds);
    }
    for (const double count : samples) {
      if (!(count > 0) || std::isinf(count)) {
        return InvalidArgument("found ", count, " samples, wanted more than 0");
      }
      into->push_back(std::log(count));
    }
  }
  constexpr double kBothSides = 1.959964, kOfPower = 0.841621;  // of the normal
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double degrees = n + m - 2;
  const double spread =
      std::sqrt((Squares(logs[0]) + Squares(logs[1])) / degrees);
  Comparison found;
  found.ratio = std::exp(Mean(logs[1]) - Mean(logs[0]));
  found.low = std::exp(EndOfInterval(logs[0], logs[1], -1));
  found.high = std::exp(EndOfInterval(logs[0], logs[1], 1));
  found.p = ShareApart(logs[0], logs[1]);
  found.least =
      std::exp((StudentOf(kBothSides, degrees) + StudentOf(kOfPower, degrees)) *
               spread * std::sqrt(1 / n + 1 / m));
  return found;
}

}  // namespace assay::converge
