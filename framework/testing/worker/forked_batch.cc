// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/forked_batch.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <new>

#include "framework/testing/host/end_like.h"

namespace assay::worker {

struct ForkedBatch::Shared {
  std::atomic<int64_t> next = 0;   // case, in the order of asking
  std::atomic<bool> open = false;  // taken and without a verdict
};

bool ForkedBatch::IsPossible() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return std::distance(threads, {}) == 1;
}

ForkedBatch::ForkedBatch(int64_t n_cases, int64_t most)
    : n_cases_(n_cases), most_(most) {
  void* const page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  shared_ = new (page) Shared();
}

ForkedBatch::~ForkedBatch() { munmap(shared_, sizeof(Shared)); }

bool ForkedBatch::Take() {
  const int64_t at = asked_++;
  if (at < shared_->next || taken_ == most_) return false;
  ++taken_;
  shared_->open = true;
  shared_->next = at + 1;
  return true;
}

void ForkedBatch::Done() { shared_->open = false; }

void ForkedBatch::BeChild(journal::Journal& journal, int parent,
                          const std::function<void()>& run) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  journal.TakeOver();
  run();
  // As a process of its own would end, with what the backend does then.
  std::exit(EXIT_SUCCESS);
}

Status ForkedBatch::Run(journal::Journal& journal,
                        const std::function<void()>& run) {
  while (shared_->next < n_cases_) {
    const int64_t before = shared_->next;
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
      return ResourceExhausted("cannot fork: ", std::strerror(errno));
    }
    if (child == 0) BeChild(journal, parent, run);
    const int status = host::WaitFor(child);
    if (status != 0 || shared_->open) {
      ASSAY_RETURN_IF_ERROR(journal.CutTornTail());
      ASSAY_RETURN_IF_ERROR(journal.Ended(child, status));
      shared_->open = false;
    }
    if (shared_->next == before) {
      return FailedPrecondition("a child ended before its first case");
    }
  }
  return OkStatus();
}

}  // namespace assay::worker
