// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/process_state.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <climits>
#include <clocale>
#include <cstring>

namespace assay::inline v1 {
namespace {

std::string WorkingDirectory() {
  std::array<char, PATH_MAX> path;
  return getcwd(path.data(), path.size()) == nullptr ? "" : path.data();
}

bool SameSignals(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&a, signal) != sigismember(&b, signal)) return false;
  }
  return true;
}

}  // namespace

ProcessState ProcessState::Capture() {
  ProcessState state;
  state.rounding_ = std::fegetround();
  state.locale_ = std::setlocale(LC_ALL, nullptr);
  state.directory_ = WorkingDirectory();
  pthread_sigmask(SIG_SETMASK, nullptr, &state.signals_);
  return state;
}

std::string ProcessState::Restore() const {
  std::string changed;
  const auto note = [&changed](const char* what) {
    if (!changed.empty()) changed += ", ";
    changed += what;
  };
  if (std::fegetround() != rounding_) {
    note("rounding mode");
    std::fesetround(rounding_);
  }
  if (locale_ != std::setlocale(LC_ALL, nullptr)) {
    note("locale");
    std::setlocale(LC_ALL, locale_.c_str());
  }
  if (WorkingDirectory() != directory_) {
    note("working directory");
    if (chdir(directory_.c_str()) != 0) changed += " (not put back)";
  }
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  if (!SameSignals(now, signals_)) {
    note("signal mask");
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  }
  return changed;
}

}  // namespace assay::inline v1
