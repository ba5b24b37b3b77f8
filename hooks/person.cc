// Names decide here, and an ancestor's name is out of its descendants' reach:
// an agent that starts `gate approve` can choose everything below itself, but
// not what it is called itself. What it can do is to cut the line: let the
// parent die, so that init or another reaper adopts the child. Then the oldest
// process that can be seen is a shell, an interpreter or a maker of
// pseudo-terminals, which no init starts; a person's oldest process is a login,
// an ssh daemon, a terminal program.
#include "hooks/person.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "clients/clients.h"
#include "hooks/pty_owner.h"

namespace gate::hooks {
namespace {

constexpr int kMaxPersonAncestors = 128;
constexpr size_t kMaxWordBytes = 64 * 1024;

// Programs that run commands for a model, by the name of their process, their
// executable, or the package their script lies in. Editors with an agent of
// their own are here too: what runs in their terminals may be the agent's.
// Those of which gate knows more are in rules.d/clients.
constexpr std::string_view kAgents[] = {"qwen",
                                        "qwen-code",
                                        "aider",
                                        "aider-chat",
                                        "goose",
                                        "goosed",
                                        "copilot",
                                        "copilot-cli",
                                        "cline",
                                        "kiro",
                                        "kiro-cli",
                                        "qchat",
                                        "windsurf",
                                        "antigravity",
                                        "trae",
                                        "devin",
                                        "droid",
                                        "auggie",
                                        "openhands",
                                        "swe-agent",
                                        "sweagent",
                                        "plandex",
                                        "kimi",
                                        "kimi-cli",
                                        "grok",
                                        "continue-cli",
                                        "code",
                                        "code-insiders",
                                        "codium",
                                        "code-server",
                                        ".vscode-server",
                                        "vscode-server",
                                        "zed",
                                        "zed-editor",
                                        "mini-swe-agent",
                                        "interpreter",
                                        "open-interpreter",
                                        "letta",
                                        "forge"};

// Programs whose own name says nothing: what they run is among their words.
constexpr std::string_view kNamelessPrograms[] = {
    "node", "nodejs", "bun", "deno", "npx",  "npm",  "pnpm",
    "yarn", "uv",     "uvx", "pipx", "ruby", "java", "sh",
    "bash", "dash",   "zsh", "fish", "ksh"};

// What makes a terminal, or lives in one, and is never the first process of a
// person's session: as the oldest ancestor it was orphaned.
constexpr std::string_view kOrphans[] = {
    "script",  "expect",  "unbuffer", "socat",   "dtach", "abduco", "setsid",
    "nohup",   "sh",      "bash",     "dash",    "zsh",   "fish",   "ksh",
    "mksh",    "csh",     "tcsh",     "busybox", "node",  "nodejs", "bun",
    "deno",    "ruby",    "perl",     "lua",     "tclsh", "php",    "java",
    "env",     "timeout", "stdbuf",   "xargs",   "find",  "make",   "ssh-agent",
    "unshare", "nsenter", "sudo",     "su",      "doas",  "ttyrec", "asciinema",
    "reptyr",  "empty",   "pty",      "faketty", "watch", "gate"};

// Keep terminals that people detach from; whoever started one may be gone.
constexpr std::string_view kMultiplexers[] = {"tmux: server", "screen",
                                              "zellij"};

std::string_view WithoutExtension(std::string_view name) {
  for (const std::string_view extension :
       {".js", ".mjs", ".cjs", ".py", ".exe", ".sh"}) {
    if (name.size() > extension.size() && name.ends_with(extension)) {
      return name.substr(0, name.size() - extension.size());
    }
  }
  return name;
}

// python3.12 is python.
bool IsPython(std::string_view name) { return name.starts_with("python"); }

}  // namespace

// A name is matched as it is and in the 15 bytes that the kernel keeps of it.
bool IsAgentName(std::string_view name) {
  constexpr size_t kKernelName = 15;
  name = WithoutExtension(name);
  // A login shell's leading dash.
  if (name.starts_with('-')) name.remove_prefix(1);
  const auto is = [&](std::string_view agent) {
    return name == agent ||
           (name.size() == kKernelName && agent.starts_with(name));
  };
  return std::ranges::any_of(kAgents, is) ||
         std::ranges::any_of(clients::All(clients::Names::kProcesses), is);
}

namespace {

bool HasAgentDirectory(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    // The last part as a name; the others as the package it lies in.
    if (IsAgentName(part) &&
        (slash == std::string_view::npos || part.find('-') != part.npos ||
         part.starts_with('.'))) {
      return true;
    }
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace

bool IsAgent(const ProcessView& process) {
  const std::string_view executable = BaseName(process.executable);
  const std::string_view first =
      process.words.empty() ? std::string_view() : BaseName(process.words[0]);
  if (IsAgentName(process.name) || IsAgentName(executable) ||
      IsAgentName(first)) {
    return true;
  }
  // Executables that are installed in a directory of versions, or in a
  // package's directory.
  const auto has = [&](std::string_view part) {
    return process.executable.find(part) != std::string::npos;
  };
  if (std::ranges::any_of(clients::All(clients::Names::kProcessPaths), has) ||
      HasAgentDirectory(
          DirName(process.executable) == "." ? "" : process.executable)) {
    return true;
  }
  if (!Contains(kNamelessPrograms, executable) &&
      !Contains(kNamelessPrograms, first) && !IsPython(executable) &&
      !IsPython(first) && !IsPython(process.name)) {
    return false;
  }
  constexpr size_t kWordsSeen = 6;
  for (size_t i = 1; i < process.words.size() && i < kWordsSeen; ++i) {
    if (HasAgentDirectory(process.words[i])) return true;
  }
  return false;
}

namespace {

// gate as an ancestor has been started by a hook, or runs a command in a
// sandbox or out of it: never what a person's own shell stands on.
bool IsGate(const ProcessView& process, const std::string& own) {
  return process.name == "gate" || BaseName(process.executable) == "gate" ||
         (!own.empty() && process.executable == own);
}

struct Chain {
  std::vector<ProcessView> processes;  // from self to the oldest seen
  bool to_init = false;                // ends at process 1
};

// The ancestors of `pid` with itself. Empty when one cannot be read.
std::optional<Chain> Ancestors(const ProcessSource& source, int pid) {
  Chain chain;
  for (int count = 0; count < kMaxPersonAncestors; ++count) {
    auto process = source.read(pid);
    if (!process || process->pid != pid) return std::nullopt;
    const int parent = process->parent;
    chain.processes.push_back(std::move(*process));
    if (pid == 1) {
      chain.to_init = true;
      return chain;
    }
    // A process entered from outside this namespace has parent 0.
    if (parent == 0) return chain;
    pid = parent;
  }
  return std::nullopt;
}

bool IsInit(const ProcessView& process) {
  return process.pid == 1 ||
         (process.parent == 1 &&
          (process.name == "systemd" || process.name == "init"));
}

Person No(std::string why) { return Person{false, std::move(why)}; }

Person JudgeChain(const ProcessSource& source, int self, bool may_nest) {
  const auto chain = Ancestors(source, self);
  if (!chain) return No("not all of its ancestors can be seen");
  const ProcessView& me = chain->processes.front();
  if (me.terminal == 0) return No("there is no controlling terminal");
  bool leader_seen = false;
  const ProcessView* oldest = &me;
  const ProcessView* multiplexer = nullptr;
  for (const ProcessView& process : chain->processes) {
    if (process.pid != self) {
      if (IsAgent(process)) {
        return No("`" + Visible(process.name) + "` (process " +
                  std::to_string(process.pid) +
                  ") among its ancestors runs commands for an agent");
      }
      if (IsGate(process, source.own_executable)) {
        return No("it was started by gate (process " +
                  std::to_string(process.pid) + ")");
      }
    }
    if (process.pid == me.session) {
      leader_seen = process.terminal == me.terminal;
    }
    if (process.pid != self && Contains(kMultiplexers, process.name)) {
      multiplexer = &process;
    }
    if (!IsInit(process)) oldest = &process;
  }
  if (!leader_seen) {
    return No("the terminal's own shell is not among its ancestors");
  }
  if (std::string why = ObjectToMaker(source, chain->processes); !why.empty()) {
    return No(std::move(why));
  }
  if (multiplexer != nullptr) {
    if (!may_nest) return No("its terminal is kept by a terminal multiplexer");
    // Somebody must be looking: a client of it, at a person's terminal.
    const bool tmux = multiplexer->name.starts_with("tmux");
    const std::string client = tmux ? "tmux: client" : multiplexer->name;
    for (const int pid : source.find(client)) {
      const bool in_chain = std::any_of(
          chain->processes.begin(), chain->processes.end(),
          [&](const ProcessView& process) { return process.pid == pid; });
      if (!in_chain && JudgeChain(source, pid, /*may_nest=*/false).yes) {
        return Person{true, ""};
      }
    }
    return No("no person's terminal is attached to its " +
              Visible(multiplexer->name));
  }
  if (!chain->to_init) return Person{true, ""};
  // A container whose first process is the person's shell.
  if (chain->processes.back().pid == me.session) return Person{true, ""};
  if (oldest != &me &&
      (Contains(kOrphans, oldest->name) ||
       Contains(kOrphans, BaseName(oldest->executable)) ||
       IsPython(oldest->name) || IsPython(BaseName(oldest->executable)))) {
    return No("`" + Visible(oldest->name) + "` (process " +
              std::to_string(oldest->pid) +
              ") among its ancestors has lost its parent");
  }
  if (oldest == &me) return No("it has lost its parent");
  return Person{true, ""};
}

}  // namespace

// Fields of /proc/PID/stat: the name is in parentheses and may hold anything.
std::optional<ProcessView> ReadProcess(int pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  const auto stat = ReadFile(directory + "/stat", 4096);
  if (!stat) return std::nullopt;
  const size_t open = stat->find('(');
  const size_t close = stat->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return std::nullopt;
  }
  ProcessView process;
  process.pid = pid;
  process.name = stat->substr(open + 1, close - open - 1);
  char state = 0;
  int group = 0;
  if (std::sscanf(stat->c_str() + close + 1, " %c %d %d %d %ld", &state,
                  &process.parent, &group, &process.session,
                  &process.terminal) != 5) {
    return std::nullopt;
  }
  // Of a dead process nothing can be said.
  if (state == 'Z' || state == 'X') return std::nullopt;
  char path[PATH_MAX];
  const ssize_t size =
      readlink((directory + "/exe").c_str(), path, sizeof path);
  if (size > 0) {
    process.executable.assign(path, static_cast<size_t>(size));
    constexpr std::string_view kDeleted = " (deleted)";
    if (process.executable.ends_with(kDeleted)) {
      process.executable.resize(process.executable.size() - kDeleted.size());
    }
  }
  const Fd words(
      ::open((directory + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC));
  if (words) {
    std::string bytes(kMaxWordBytes, '\0');
    const ssize_t got = ::read(words.get(), bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    for (size_t at = 0; at < bytes.size();) {
      const size_t end = std::min(bytes.find('\0', at), bytes.size());
      process.words.push_back(bytes.substr(at, end - at));
      at = end + 1;
    }
  }
  return process;
}

namespace {

std::vector<int> FindProcesses(const std::string& name) {
  std::vector<int> found;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return found;
  while (const dirent* entry = readdir(directory)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const auto comm = ReadFile("/proc/" + std::to_string(pid) + "/comm", 64);
    struct stat info{};
    if (comm && *comm == name + "\n" &&
        stat(("/proc/" + std::to_string(pid)).c_str(), &info) == 0 &&
        info.st_uid == geteuid()) {
      found.push_back(pid);
    }
  }
  closedir(directory);
  return found;
}

std::string Link(const char* path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path, target, sizeof target);
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : "";
}

// In any other, files of whoever made it can look like root's.
bool InFirstUserNamespace() {
  return Link("/proc/self/ns/user") == "user:[4026531837]";
}

// The first namespaces of the kernel have fixed numbers (linux/proc_ns.h). A
// PID namespace below them hides ancestors; without privilege it takes a user
// namespace to make one, so that one in the first user namespace is a
// container that root made.
bool SeesEverything() {
  return Link("/proc/self/ns/pid") == "pid:[4026531836]" ||
         InFirstUserNamespace();
}

}  // namespace

Person JudgeTerminal(const ProcessSource& source, int self) {
  if (!source.sees_everything) {
    return No("it runs in a namespace that hides its ancestors");
  }
  return JudgeChain(source, self, /*may_nest=*/true);
}

Person FindUserTerminal(
    const std::function<std::vector<std::string>()>& terminals) {
  const Fd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) return No("there is no controlling terminal");
  ProcessSource source;
  source.read = ReadProcess;
  source.find = FindProcesses;
  source.own_executable = Link("/proc/self/exe");
  source.sees_everything = SeesEverything();
  source.user = getuid();
  const bool knows_root = InFirstUserNamespace();
  source.look = [=](const ProcessView& process, long terminal_device) {
    Hold hold = LookAtHolder(process, terminal_device);
    hold.roots_executable &= knows_root;
    return hold;
  };
  source.is_roots = [=](const std::string& path) {
    return knows_root && CheckTrusted(path, 0).has_value() &&
           CheckTrustedPlace(path, 0).has_value();
  };
  source.terminals = terminals;
  return JudgeTerminal(source, getpid());
}

}  // namespace gate::hooks
