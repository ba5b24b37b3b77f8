#include "gateway/runs/left_running.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "lasting/lasting_runs.h"
#include "parser/read.h"
#include "services/listeners.h"

namespace gate::app {
namespace {

constexpr size_t kMaxStatus = size_t{16} << 10;
// A process that is further below process 1 is not found.
constexpr int kMaxAncestors = 1000;

// Process 1 of each run that an earlier line of the session left.
std::vector<pid_t> EarlierRuns(const std::string& state, const Request& request,
                               const std::string& workspace) {
  std::vector<pid_t> found;
  if (request.session.empty()) return found;
  const auto runs = lasting::ListRunning(state);
  if (!runs) return found;
  for (const lasting::Entry& run : *runs)
    if (run.session == request.session && run.agent == request.agent &&
        run.workspace == workspace)
      found.push_back(run.process_one);
  return found;
}

std::optional<pid_t> NumberOf(std::string_view text) {
  pid_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0)
    return std::nullopt;
  return number;
}

// proc_pid_status(5): its parent, and its numbers in this PID namespace and in
// those below, down to its own.
struct ProcessNumbers {
  pid_t parent = 0;
  std::vector<pid_t> own;
};

std::optional<ProcessNumbers> NumbersOf(pid_t pid) {
  const auto text =
      ReadFile("/proc/" + std::to_string(pid) + "/status", kMaxStatus);
  if (!text) return std::nullopt;
  ProcessNumbers numbers;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool parent = line.starts_with("PPid:");
    if (!parent && !line.starts_with("NSpid:")) continue;
    line.remove_prefix(line.find(':') + 1);
    while (!line.empty()) {
      const size_t begin = line.find_first_not_of("\t ");
      if (begin == std::string_view::npos) break;
      line.remove_prefix(begin);
      const size_t stop = std::min(line.find_first_of("\t "), line.size());
      const auto number = NumberOf(line.substr(0, stop)).value_or(0);
      if (parent)
        numbers.parent = number;
      else
        numbers.own.push_back(number);
      line.remove_prefix(stop);
    }
  }
  return numbers;
}

// Whether `pid` has `number` in a PID namespace below this one.
bool IsNumbered(pid_t pid, pid_t number) {
  const auto numbers = NumbersOf(pid);
  return numbers && numbers->own.size() > 1 && numbers->own.back() == number;
}

// Whether one of `runs` is the process 1 that `pid` is below.
bool IsOf(pid_t pid, const std::vector<pid_t>& runs) {
  for (int i = 0; i < kMaxAncestors; ++i) {
    const auto numbers = NumbersOf(pid);
    if (!numbers || numbers->own.size() < 2) return false;
    if (numbers->own.back() == 1)
      return std::ranges::find(runs, pid) != runs.end();
    pid = numbers->parent;
  }
  return false;
}

}  // namespace

Background FindBackground(std::string_view code) {
  parser::ReadOptions options;
  options.compare = false;
  const parser::Ast ast = parser::Read(code, options).ast;
  Background found;
  for (const parser::Node& node : ast.nodes)
    for (size_t i = 0; i < node.asynchronous.size(); ++i) {
      if (!node.asynchronous[i]) continue;
      found.any = true;
      found.end = std::max(found.end, ast.nodes[node.children[i]].span.end);
    }
  return found;
}

bool IsEndedByLine(const parser::Analysis& analysis,
                   const Background& background) {
  constexpr auto kEndsIt = std::to_array<std::string_view>(
      {"fg", "kill", "killall", "pkill", "wait"});
  return background.any &&
         std::ranges::any_of(
             analysis.invocations, [&](const parser::Invocation& invocation) {
               const bool asks = invocation.argv.size() > 1 &&
                                 invocation.argv[1].text == "-0";
               return !asks && invocation.span.begin >= background.end &&
                      std::ranges::find(kEndsIt, invocation.program) !=
                          kEndsIt.end();
             });
}

bool IsListenedOn(uint16_t port) {
  const auto listening = services::FindListening({}, port);
  return !listening || !listening->empty();
}

bool SignalsProcesses(const parser::Analysis& analysis) {
  constexpr auto kByFile = std::to_array<std::string_view>(
      {"apachectl", "fuser", "kill", "killall", "nginx", "pg_ctl", "pkill",
       "pidwait", "skill", "start-stop-daemon", "supervisorctl"});
  return std::ranges::any_of(analysis.effects,
                             [](const parser::Effect& effect) {
                               return effect.kind ==
                                      parser::EffectKind::kSignal;
                             }) ||
         std::ranges::any_of(
             analysis.invocations, [&](const parser::Invocation& invocation) {
               return std::ranges::find(kByFile, invocation.program) !=
                      kByFile.end();
             });
}

bool HasEarlierRuns(const std::string& state, const Request& request,
                    const std::string& workspace) {
  return !EarlierRuns(state, request, workspace).empty();
}

int SignalEarlierRun(const std::string& state, const Request& request,
                     const std::string& workspace, pid_t number, int signal) {
  const std::vector<pid_t> runs = EarlierRuns(state, request, workspace);
  Fd found;
  size_t count = 0;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc", error)) {
    const std::optional<pid_t> pid = NumberOf(entry.path().filename().string());
    if (!pid || !IsNumbered(*pid, number)) continue;
    // What it is now, it stays while this is held.
    Fd held(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0u)));
    if (!held || !IsNumbered(*pid, number) || !IsOf(*pid, runs)) continue;
    found = std::move(held);
    ++count;
  }
  if (count != 1) return ESRCH;
  return ::syscall(SYS_pidfd_send_signal, found.get(), signal, nullptr, 0u) == 0
             ? 0
             : errno;
}

}  // namespace gate::app
