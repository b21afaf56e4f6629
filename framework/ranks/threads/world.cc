// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/world.h"

#include <algorithm>
#include <utility>

#include "framework/core/text.h"

namespace assay::ranks {

size_t ListedChoices::Choose(size_t options) {
  if (at_ == way_.size()) way_.push_back({0, options});
  return way_[at_++].taken;
}

bool ListedChoices::GoOn() {
  at_ = 0;
  while (!way_.empty()) {
    if (++way_.back().taken < way_.back().options) return true;
    way_.pop_back();
  }
  return false;
}

bool World::Member::AwaitsAnybody() const {
  return std::ranges::any_of(
      awaits, [](const Wanted& each) { return each.from == kAnybody; });
}

std::vector<size_t> World::Answers(int rank) {
  const Member& member = At(rank);
  std::vector<size_t> first;
  for (size_t i = 0; i < member.came.size(); ++i) {
    const Message& message = member.came[i];
    const bool is_wanted = std::ranges::any_of(
        member.awaits,
        [&](const Wanted& each) { return each.Matches(message); });
    const bool is_behind = std::ranges::any_of(first, [&](size_t other) {
      return member.came[other].from == message.from &&
             member.came[other].channel == message.channel;
    });
    if (is_wanted && !is_behind) first.push_back(i);
  }
  return first;
}

bool World::CanGoOn(int rank) {
  const Member& member = At(rank);
  if (member.has_ended) return false;
  return member.awaits.empty() || !Answers(rank).empty();
}

/// Passes the turn to a rank that can go on. Where only answers are chosen, a
/// rank that takes a message from anybody comes last.
void World::PassTurn() {
  std::vector<int> able;
  std::vector<int> last;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!CanGoOn(rank)) continue;
    const bool is_last = choices_->only_answers() && At(rank).AwaitsAnybody();
    (is_last ? last : able).push_back(rank);
  }
  // The order is chosen, too: the answer to one rank may let another send to
  // the next one.
  const bool chooses = able.empty() || !choices_->only_answers();
  if (able.empty()) able = last;
  if (able.empty()) return StopWhereAllWait();
  turn_ = able[chooses ? choices_->Choose(able.size()) : 0];
  At(turn_).wakes.notify_one();
}

void World::WaitForTurn(int rank, Lock& lock) {
  At(rank).wakes.wait(lock, [&] { return !failure_.ok() || turn_ == rank; });
}

void World::Begin(int rank) {
  Lock lock(mutex_);
  if (choices_ == nullptr) return;
  if (++begun_ == ranks()) PassTurn();
  WaitForTurn(rank, lock);
}

Status World::Send(Channel channel, int from, int to,
                   std::span<const std::byte> bytes) {
  Lock lock(mutex_);
  if (!failure_.ok()) return failure_;
  At(to).came.push_back({from, channel, {bytes.begin(), bytes.end()}});
  if (to != from) {
    At(from).sent.bytes += static_cast<int64_t>(bytes.size());
    At(from).sent.messages += 1;
  }
  if (choices_ == nullptr) {
    At(to).wakes.notify_one();
    return OkStatus();
  }
  // Where only answers are chosen, the time of a send cannot be observed.
  if (choices_->only_answers()) return OkStatus();
  PassTurn();
  WaitForTurn(from, lock);
  return failure_;
}

Result<Message> World::Receive(const std::vector<Wanted>& wanted, int to) {
  Lock lock(mutex_);
  Member& member = At(to);
  member.awaits = wanted;
  if (choices_ != nullptr) {
    PassTurn();
    WaitForTurn(to, lock);
  } else {
    StopWhereAllWait();
    member.wakes.wait(lock,
                      [&] { return !failure_.ok() || !Answers(to).empty(); });
  }
  if (!failure_.ok()) return failure_;
  const std::vector<size_t> answers = Answers(to);
  const bool is_chosen = choices_ != nullptr && member.AwaitsAnybody();
  const size_t taken =
      answers[is_chosen ? choices_->Choose(answers.size()) : 0];
  const auto at = member.came.begin() + static_cast<std::ptrdiff_t>(taken);
  Message message = std::move(*at);
  member.came.erase(at);
  member.awaits.clear();
  return message;
}

std::optional<Message> World::ReceiveNow(const Wanted& wanted, int to) {
  const std::lock_guard lock(mutex_);
  std::deque<Message>& came = At(to).came;
  const auto found = std::ranges::find_if(
      came, [&](const Message& each) { return wanted.Matches(each); });
  if (found == came.end()) return std::nullopt;
  Message message = std::move(*found);
  came.erase(found);
  return message;
}

void World::End(int rank, const Status& status) {
  const std::lock_guard lock(mutex_);
  At(rank).has_ended = true;
  if (!status.ok() && failed_.empty()) {
    failed_ = StrCat("rank ", rank, " failed: ", status.message());
  }
  if (choices_ == nullptr || !failure_.ok()) return StopWhereAllWait();
  PassTurn();
}

Traffic World::SentBy(int rank) {
  const std::lock_guard lock(mutex_);
  return At(rank).sent;
}

int64_t World::NewGroup() {
  const std::lock_guard lock(mutex_);
  return ++groups_;
}

void World::Stop(const Status& failure) {
  failure_ = failure;
  for (Member& member : members_) member.wakes.notify_all();
}

std::string World::WaitText(int rank) {
  std::vector<std::string> texts;
  for (const Wanted& each : At(rank).awaits) {
    if (each.from == kAnybody) {
      texts.emplace_back("anybody");
      continue;
    }
    texts.push_back(StrCat("rank ", each.from));
    if (At(each.from).has_ended) texts.back() += ", which has ended";
  }
  return StrCat("rank ", rank, " waits for ", Joined(texts, " or "));
}

void World::StopWhereAllWait() {
  if (!failure_.ok()) return;
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (At(rank).has_ended) continue;
    if (CanGoOn(rank)) return;
    texts.push_back(WaitText(rank));
  }
  if (texts.empty()) return;
  const std::string waits = Joined(texts, "; ");
  Stop(failed_.empty() ? FailedPrecondition("ranks stand still: ", waits)
                       : Status(StatusCode::kCancelled, Reason::kNone,
                                StrCat(failed_, "; ", waits)));
}

}  // namespace assay::ranks
