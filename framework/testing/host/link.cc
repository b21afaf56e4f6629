// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/link.h"

#include <algorithm>
#include <cstring>

#include "framework/testing/host/wire/arena.h"

namespace assay::host {

void Link::Attach(wire::Channel channel, wire::Descriptor process) {
  const std::lock_guard lock(mutex_);
  lines_.clear();
  process_ = std::move(process);
  if (process_.get() >= 0) channel.Watch(process_.get());
  closed_.clear();
  issued_.clear();
  fault_ = OkStatus();
  first_ = std::this_thread::get_id();
  lines_[first_] = std::make_unique<Line>();
  lines_[first_]->channel = std::move(channel);
  ++generation_;
  gone_ = false;
}

void Link::Detach() {
  const std::lock_guard lock(mutex_);
  lines_.clear();
  gone_ = true;
}

bool Link::EndedMeanwhile() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      lines_, [](const auto& line) { return line.second->channel.IsGone(); });
}

Status Link::Gone() {
  gone_ = true;
  return Internal("the process of the backend ended");
}

Status Link::Break(Status why) {
  const std::lock_guard lock(mutex_);
  gone_ = true;
  if (fault_.ok()) fault_ = std::move(why);
  return fault_;
}

Status Link::Refuse(const Status& fault) {
  return Break(Internal("the backend's process answered what cannot be read: ",
                        fault.message()));
}

Status Link::NotSent(const Status& fault) {
  if (fault.code() == StatusCode::kCancelled) return Gone();
  if (fault.code() != StatusCode::kDataLoss) return fault;
  return Break(
      Internal("the backend's process cannot be asked: ", fault.message()));
}

Status Link::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void Link::CloseLater(wire::Kind kind, uint64_t number) {
  const std::lock_guard lock(mutex_);
  closed_.push_back({kind, number});
}

void Link::Issue(uint64_t number, const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  issued_.emplace(number, tensor);
}

void Link::Rewrite(uint64_t number, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = issued_.find(number);
  if (found == issued_.end() || found->second.bytes().size() != bytes.size()) {
    return;
  }
  std::memcpy(found->second.mutable_data(), bytes.data(), bytes.size());
}

/// The call, what is closed or not held any more, and which segments there are
/// when the line was not told yet.
std::string Link::Head(wire::Call call, Line* line,
                       std::vector<int>* descriptors) {
  wire::Writer head = wire::Written(call);
  {
    const std::lock_guard lock(mutex_);
    head.Put(uint64_t{closed_.size()});
    for (const Closed& closed : closed_) head.Put(closed.kind, closed.number);
    closed_.clear();
    std::vector<uint64_t> released;
    std::erase_if(issued_, [&](const auto& issued) {
      if (!issued.second.unique()) return false;
      released.push_back(issued.first);
      return true;
    });
    head.Put(released);
  }
  const uint64_t generation = wire::Arena::Generation() + 1;
  head.Put(generation == line->told ? 0 : generation);
  if (generation == line->told) return std::move(head).Take();
  const auto all = wire::Arena::Segments();
  std::vector<uint32_t> now;
  std::vector<uint32_t> fresh;
  for (const auto& [segment, descriptor] : all) {
    now.push_back(segment);
    if (std::ranges::binary_search(line->segments, segment)) continue;
    fresh.push_back(segment);
    descriptors->push_back(descriptor);
  }
  head.Put(uint64_t{now.size()});
  for (const uint32_t segment : now) head.Put(uint64_t{segment});
  for (const uint32_t segment : fresh) head.Put(uint64_t{segment});
  line->told = generation;
  line->segments = std::move(now);
  return std::move(head).Take();
}

Result<std::string> Link::Exchange(Line* line, std::string_view head,
                                   std::string_view what,
                                   const std::vector<int>& descriptors) {
  Status sent;
  {
    const std::lock_guard lock(line->sending);
    sent = line->channel.Send(head, what, descriptors);
  }
  if (!sent.ok()) return NotSent(sent);
  Result<wire::Message> answer = line->channel.Receive();
  if (answer.ok()) return std::move(answer->text);
  return answer.status().code() == StatusCode::kCancelled
             ? Gone()
             : Refuse(answer.status());
}

/// Tells the host of a thread that has not called before.
Result<Link::Line*> Link::NewLine() {
  ASSAY_ASSIGN_OR_RETURN(auto ends, wire::Channel::MakePair());
  auto made = std::make_unique<Line>();
  made->channel = std::move(ends.first);
  // Nothing is closed, nor released, and there are no other segments.
  const wire::Writer request =
      wire::Written(wire::Call::kThread, uint64_t{0}, uint64_t{0}, uint64_t{0});
  Status sent;
  {
    const std::lock_guard lock(mutex_);
    if (process_.get() >= 0) made->channel.Watch(process_.get());
    Line& first = *lines_.at(first_);
    // The one request that has no answer, for another thread reads those.
    const std::lock_guard sending(first.sending);
    sent = first.channel.Send(request.bytes(), {}, {ends.second.descriptor()});
    if (sent.ok()) {
      return (lines_[std::this_thread::get_id()] = std::move(made)).get();
    }
  }
  return NotSent(sent);
}

Result<Link::Line*> Link::LineOfThisThread() {
  {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(std::this_thread::get_id());
    if (found != lines_.end()) return found->second.get();
  }
  return NewLine();
}

Result<std::string> Link::Ask(wire::Call call, const wire::Writer& what) {
  if (gone_) {
    const Status why = fault();
    return why.ok() ? Gone() : why;
  }
  last_call_ = call;
  ASSAY_ASSIGN_OR_RETURN(Line* const line, LineOfThisThread());
  std::vector<int> descriptors;
  const std::string head = Head(call, line, &descriptors);
  return Exchange(line, head, what.bytes(), descriptors);
}

Result<Answer> Answer::To(Link& link, wire::Call call,
                          const wire::Writer& what) {
  ASSAY_ASSIGN_OR_RETURN(std::string bytes, link.Ask(call, what));
  Answer answer(link, std::move(bytes));
  auto status = answer.in().Read<Status>();
  if (status.ok()) return answer;
  ASSAY_RETURN_IF_ERROR(answer.End());
  return status;
}

Status Answer::End() {
  const Status fault = in_->Fault();
  return fault.ok() ? fault : link_->Refuse(fault);
}

}  // namespace assay::host
