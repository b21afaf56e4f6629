// SPDX-License-Identifier: Apache-2.0
//
// OtherThread: one thread that runs one task after the other. To start a task
// takes microseconds, to start a thread up to half a millisecond; and a host
// has a channel for each thread that calls it.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace assay::train {

class OtherThread {
 public:
  /// std::system_error where there is no thread to be had.
  OtherThread() : thread_([this] { Run(); }) {}
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;
  ~OtherThread() {
    Wait();
    Start(nullptr);
    thread_.join();
  }

  /// The task before must be through. It does not throw.
  void Start(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    is_busy_ = true;
    changed_.notify_all();
  }

  bool IsBusy() const {
    const std::lock_guard lock(mutex_);
    return is_busy_;
  }

  void Wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_busy_; });
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_busy_; });
      if (task_ == nullptr) return;
      const std::function<void()> task = std::move(task_);
      lock.unlock();
      task();
      lock.lock();
      is_busy_ = false;
      changed_.notify_all();
    }
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::function<void()> task_;  // null: the end
  bool is_busy_ = false;
  std::thread thread_;
};

}  // namespace assay::train
