#include "facts/process_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern char** environ;

namespace gate::app {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// An absolute path, or nothing.
std::string Directory(const char* name) {
  const std::string value = Environment(name);
  return value.starts_with('/') ? Normalise(value, "/") : "";
}

}  // namespace

ProcessFacts ReadProcessFacts(const GlobalOptions& options) {
  ProcessFacts facts;
  facts.uid = ::getuid();
  facts.places = FindPlaces();
  if (!options.config_dir.empty()) facts.places.config = options.config_dir;
  if (!options.state_dir.empty()) facts.places.state = options.state_dir;
  facts.home = facts.places.home;
  facts.user = Environment("USER");
  facts.path = Environment("PATH");
  facts.shell = Environment("SHELL");
  for (size_t i = 0; i < clients::Directories().size(); ++i)
    facts.client_dirs[i] =
        Directory(std::string(clients::Directories()[i].variable).c_str());
  char buffer[PATH_MAX];
  facts.cwd = ::getcwd(buffer, sizeof buffer) == nullptr ? "" : buffer;
  struct stat here = {};
  if (::stat(".", &here) == 0) {
    facts.cwd_device = here.st_dev;
    facts.cwd_inode = here.st_ino;
  }
  const ssize_t size = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (size > 0) facts.executable.assign(buffer, static_cast<size_t>(size));
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    facts.environment.emplace_back(*entry);
  facts.relocated_dirs = router::RelocatedDirs(facts.environment, facts.home);
  return facts;
}

std::string DirectoryFor(const ProcessFacts& facts, const std::string& given) {
  if (given.empty()) return facts.cwd;
  if (facts.cwd.empty() && given[0] != '/') return "";
  return Normalise(given, facts.cwd);
}

Status CheckDirectory(const ProcessFacts& facts, const std::string& given) {
  const std::string directory = DirectoryFor(facts, given);
  if (given.empty() || directory.empty()) return {};
  struct stat info = {};
  if (::stat(directory.c_str(), &info) != 0)
    return Fail(ErrorCode::kNotFound, given + ": " + std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return {};
  return Fail(ErrorCode::kInvalid, given + " is not a directory");
}

std::string RealDirectory(const std::string& cwd, const DirectoryId& id) {
  std::string real = RealPath(cwd);
  return id.inode != 0 && !real.empty() && IdOf(real) == id ? real : "";
}

std::string BoundPlace(const std::string& cwd, const DirectoryId& id) {
  const std::string real = RealDirectory(cwd, id);
  return real.empty() ? ""
                      : std::to_string(id.device) + ":" +
                            std::to_string(id.inode) + " " + real;
}

parser::Context MakeContext(const ProcessFacts& facts, const std::string& cwd) {
  parser::Context context;
  context.cwd = cwd;
  context.home = facts.home;
  context.user = facts.user;
  context.shell = facts.shell.empty() ? "/bin/bash" : facts.shell;
  context.path = facts.path;
  return context;
}

bool IsThisBinary(const ProcessFacts& facts, const std::string& path) {
  struct stat ours{};
  struct stat theirs{};
  if (path.empty() || path.front() != '/') return false;
  if (::stat("/proc/self/exe", &ours) != 0 &&
      ::stat(facts.executable.c_str(), &ours) != 0)
    return false;
  return ::stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

std::string FileIdentity(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "-";
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) + ":" +
         std::to_string(info.st_size) + ":" +
         std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec);
}

}  // namespace gate::app
