// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/crash_report.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace assay::host {
namespace {

constexpr int kMostFrames = 10;
constexpr int kMostLooked = 64;

std::atomic<const char*> current_phase = nullptr;

/// A line that takes no memory and is written at once: of all that a handler of
/// signals calls only dladdr is not made for it.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const size_t size = std::min(text.size(), text_.size() - 1 - size_);
    std::memcpy(text_.data() + size_, text.data(), size);
    size_ += size;
    return *this;
  }
  Line& operator<<(uintptr_t number) {
    std::array<char, 2 * sizeof(number)> digits;
    size_t at = digits.size();
    do {
      digits[--at] = "0123456789abcdef"[number % 16];
      number /= 16;
    } while (number != 0);
    return *this << "0x"
                 << std::string_view(digits.data() + at, digits.size() - at);
  }
  void Write() {
    text_[size_++] = '\n';
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 1024> text_;
  size_t size_ = 0;
};

std::string_view FileOf(const Dl_info& info) {
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

/// Frames up to the first of our own programs.
void WriteFrames(void* const* frames, int begin, int end) {
  for (int i = begin; i < std::min(end, begin + kMostFrames); ++i) {
    // A return address may stand behind the last instruction of its function.
    const auto address = reinterpret_cast<uintptr_t>(frames[i]);
    const uintptr_t within = address - (i > begin ? 1 : 0);
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(within), &info);
    if (info.dli_fname == nullptr) {
      (Line() << "  ?").Write();
      continue;
    }
    const std::string_view file = FileOf(info);
    if (i > begin && (file == "assay-host" || file == "assay-worker")) break;
    const bool named = info.dli_sname != nullptr;
    const auto base =
        reinterpret_cast<uintptr_t>(named ? info.dli_saddr : info.dli_fbase);
    (Line() << "  " << file << "(" << (named ? info.dli_sname : "") << "+"
            << address - base << ")")
        .Write();
  }
}

/// `at` is the instruction that was run last, null where nobody knows.
void Report(std::string_view what, const void* at, int ours) {
  std::array<void*, kMostLooked> frames = {};
  const int count = backtrace(frames.data(), kMostLooked);
  const auto* const all = frames.begin();
  const auto* const found = std::find(all, all + count, at);
  Line head;
  head << "assay crash: " << what;
  if (const char* phase = current_phase.load(); phase != nullptr) {
    head << " in " << phase;
  }
  head.Write();
  WriteFrames(frames.data(),
              found != all + count ? static_cast<int>(found - all)
                                   : std::min(ours, count),
              count);
  (Line() << "assay crash: end").Write();
}

const void* InstructionOf(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  static_cast<void>(machine);
  return nullptr;
#endif
}

void OnSignal(int signal, siginfo_t*, void* context) {
  static std::atomic<int> first = 0;
  int none = 0;
  // A stack that is broken cannot be read: the report fails by itself.
  if (!first.compare_exchange_strong(none, signal)) raise(none);
  constexpr int kOurs = 3;  // Report, this, and the return from it
  const char* name = sigabbrev_np(signal);
  std::array<char, 16> text = {'S', 'I', 'G'};
  if (name != nullptr) std::strncpy(text.data() + 3, name, text.size() - 4);
  Report(text.data(), InstructionOf(context), kOurs);
  raise(signal);  // has no handler any more, and is not blocked
}

void OnExit() {
  constexpr int kOurs = 2;
  if (current_phase.load() != nullptr) Report("exit", nullptr, kOurs);
}

}  // namespace

void ReportCrashes() {
  // The unwinder is loaded at the first call.
  std::array<void*, 1> none;
  backtrace(none.data(), none.size());
  // A stack of its own, since the program's may be full.
  static std::array<char, 64 << 10> stack;
  const stack_t alternative = {
      .ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternative, nullptr);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    struct sigaction before = {};
    if (sigaction(signal, nullptr, &before) != 0 ||
        before.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action = {};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
  std::atexit(OnExit);
}

void EnterPhase(const char* phase) { current_phase = phase; }

}  // namespace assay::host
