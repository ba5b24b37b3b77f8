#include "hooks/pty_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::hooks {
namespace {

// Programs that show a terminal to a person, by the base name of their
// executable or of the script that an interpreter runs.
constexpr std::string_view kMakers[] = {
    "sshd", "sshd-session", "dropbear", "tailscaled", "login", "agetty",
    "telnetd", "in.telnetd", "mosh-server", "etterminal", "etserver",
    // What people detach from. Of the first three somebody must be attached.
    "tmux", "screen", "zellij", "dtach", "abduco",
    // Terminal programs.
    "xterm", "uxterm", "lxterm", "rxvt", "urxvt", "urxvtd", "mlterm", "st",
    "stterm", "kitty", "alacritty", "foot", "wezterm-gui", "wezterm-mux-server",
    "konsole", "yakuake", "gnome-terminal-server", "kgx", "gnome-console",
    "ptyxis", "ptyxis-agent", "xfce4-terminal", "mate-terminal", "lxterminal",
    "qterminal", "terminology", "tilix", "terminator", "guake", "tilda",
    "ghostty", "rio", "warp", "warp-terminal", "tabby", "hyper",
    "cool-retro-term", "termite", "sakura", "roxterm", "cosmic-term",
    "io.elementary.terminal", "deepin-terminal",
    // Editors. Those with an agent of their own are refused before.
    "vim", "vim.basic", "vim.tiny", "vim.gtk3", "gvim", "nvim", "emacs",
    // Containers and machines, and terminals in a browser.
    "conmon", "docker-init", "systemd", "systemd-run", "systemd-nspawn",
    "lxc-start", "lxc-attach", "init", "ttyd", "gotty", "cockpit-bridge"};

// Between two terminals: what is typed on theirs comes out on the one they
// make. So theirs is what counts.
constexpr std::string_view kRelays[] = {"script", "asciinema", "ttyrec",
                                        "sudo",   "su",        "doas"};

constexpr std::string_view kInterpreters[] = {"perl", "ruby", "node", "nodejs",
                                              "gjs",  "sh",   "bash", "dash"};

constexpr unsigned kPseudoTerminals = 136;  // Documentation/admin-guide/
constexpr unsigned kMasterMajor = 5;        // devices.txt of the kernel
constexpr unsigned kMasterMinor = 2;

bool IsMakerName(std::string_view name) {
  return Contains(kMakers, name) || Contains(kRelays, name) ||
         name.starts_with("containerd-shim") || name.starts_with("emacs-");
}

// The name by which `process` is a maker: of its executable, or of the script
// that it interprets, if only root could have put it there. Whoever is told
// what to run chooses any other name. Empty when it has none.
std::string MakerName(const ProcessSource& source, const ProcessView& process,
                      const Hold& hold) {
  const std::string name(BaseName(process.executable));
  if (!hold.roots_executable) return "";
  if (!name.starts_with("python") && !Contains(kInterpreters, name))
    return IsMakerName(name) ? name : "";
  for (size_t i = 1; i < process.words.size(); ++i) {
    const std::string& word = process.words[i];
    // Options that take no word, as terminal programs' own first lines have.
    if (word == "-I" || word == "-s" || word == "-E" || word == "-P") continue;
    if (!word.starts_with('/') || !source.is_roots(word)) return "";
    std::string script(BaseName(word));
    return IsMakerName(script) ? script : "";
  }
  return "";
}

bool IsListed(const std::vector<std::string>& terminals,
              const ProcessView& process) {
  return std::any_of(terminals.begin(), terminals.end(),
                     [&](const std::string& entry) {
                       return entry.starts_with('/')
                                  ? entry == process.executable
                                  : entry == process.name ||
                                        entry == BaseName(process.executable);
                     });
}

bool IsSshd(const ProcessView& process) {
  return process.name == "sshd" || process.name == "sshd-session";
}

std::string Told(const ProcessView& process, const char* what) {
  return "`" + Visible(process.name) + "` (process " +
         std::to_string(process.pid) + ") " + what;
}

// With the way out for somebody whose terminal program gate does not know.
std::string Refusal(const ProcessView& process, const char* what) {
  return Told(process, what) +
         ". A terminal program of your own is named in \"terminals\" of "
         "~/.config/gate/config.json";
}

}  // namespace

std::string ObjectToMaker(const ProcessSource& source,
                          const std::vector<ProcessView>& chain) {
  constexpr const char* kUnknown =
      "made its terminal, and is no terminal program that gate knows";
  if (!source.look || chain.empty()) return "";
  std::optional<std::vector<std::string>> terminals;
  const auto listed = [&](const ProcessView& process) {
    if (!terminals)
      terminals =
          source.terminals ? source.terminals() : std::vector<std::string>();
    return IsListed(*terminals, process);
  };
  long terminal = chain.front().terminal;
  for (size_t i = 1; i < chain.size(); ++i) {
    // A console has no other end.
    if (major(static_cast<dev_t>(terminal)) != kPseudoTerminals) return "";
    const ProcessView& process = chain[i];
    const Hold hold = source.look(process, terminal);
    if (hold.holds == Holds::kNo) continue;
    std::string name;
    if (hold.holds == Holds::kYes) {
      name = MakerName(source, process, hold);
      if (name.empty())
        return listed(process) ? "" : Refusal(process, kUnknown);
    } else if (hold.user != source.user) {
      // Somebody else's, root's as a rule: no agent of this user made it. What
      // lives on the terminal has not made it.
      if (process.terminal == terminal) continue;
      name = process.name;
    } else {
      // This user's, and shut all the same: a program with a group of its own
      // (xterm), or the one that an ssh daemon of root's has given up to the
      // user. Any program can shut itself and call itself so.
      const bool from_root = IsSshd(process) && i + 1 < chain.size() &&
                             IsSshd(chain[i + 1]) &&
                             source.look(chain[i + 1], terminal).user == 0;
      if (!from_root && !(hold.own_group && IsMakerName(process.name)) &&
          !listed(process))
        return Refusal(process, "does not show whether it made its terminal");
      return "";
    }
    if (!Contains(kRelays, name)) return "";
    if (process.terminal == 0 ||
        (hold.holds == Holds::kYes && !hold.reads_its_terminal))
      return Told(process, "made its terminal, and nobody types into it");
    terminal = process.terminal;
  }
  return "";
}

Hold LookAtHolder(const ProcessView& process, long terminal) {
  Hold hold;
  hold.holds = Holds::kUnseen;
  const std::string directory = "/proc/" + std::to_string(process.pid);
  const auto status = ReadFile(directory + "/status", 16 * 1024);
  const auto ids = [&](const char* label, unsigned(&out)[3]) {
    const size_t at = status ? status->find(label) : std::string::npos;
    return at != std::string::npos &&
           std::sscanf(status->c_str() + at + 5, "%u %u %u", &out[0], &out[1],
                       &out[2]) == 3;
  };
  // Of its own user and group where nothing is known: then it is refused.
  unsigned user[3] = {}, group[3] = {};
  hold.user = ids("\nUid:", user) ? user[0] : ::getuid();
  hold.own_group =
      ids("\nGid:", group) && (group[0] != group[1] || group[0] != group[2]);
  struct stat info{};
  hold.roots_executable = ::stat((directory + "/exe").c_str(), &info) == 0 &&
                          info.st_uid == 0 &&
                          (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const auto device = static_cast<unsigned long>(process.terminal);
  hold.reads_its_terminal = ::stat((directory + "/fd/0").c_str(), &info) == 0 &&
                            S_ISCHR(info.st_mode) && info.st_rdev == device;

  DIR* files = ::opendir((directory + "/fd").c_str());
  if (files == nullptr) return hold;
  hold.holds = Holds::kNo;
  errno = 0;
  while (const dirent* entry = ::readdir(files)) {
    if (::fstatat(::dirfd(files), entry->d_name, &info, 0) != 0 ||
        !S_ISCHR(info.st_mode) ||
        info.st_rdev != makedev(kMasterMajor, kMasterMinor))
      continue;
    // Which terminal it is the master of; where the kernel does not say, this.
    const auto text =
        ReadFile(directory + "/fdinfo/" + entry->d_name, 16 * 1024);
    const size_t at = text ? text->find("tty-index:") : std::string::npos;
    if (at == std::string::npos ||
        std::strtoul(text->c_str() + at + 10, nullptr, 10) ==
            minor(static_cast<dev_t>(terminal)))
      hold.holds = Holds::kYes;
  }
  ::closedir(files);
  return hold;
}

}  // namespace gate::hooks
