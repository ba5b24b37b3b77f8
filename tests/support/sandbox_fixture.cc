#include "tests/support/sandbox_fixture.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "base/paths.h"
#include "tests/support/engines.h"
#include "tests/support/files.h"
#include "tests/support/must_work.h"
#include "tests/support/wait.h"

namespace gate::backends {
namespace {

constexpr uid_t kNobody = 65534;

// Runs `body` in a child as `uid`; what it returns comes back. `started` is
// told the child.
std::string InChild(uid_t uid, gid_t gid,
                    const std::function<std::string()>& body,
                    const std::function<void(pid_t)>& started = {}) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return "pipe failed";
  const pid_t child = fork();
  if (child == 0) {
    close(pipes[0]);
    if (geteuid() == 0 && uid != 0 &&
        (setgroups(0, nullptr) != 0 || setresgid(gid, gid, gid) != 0 ||
         setresuid(uid, uid, uid) != 0))
      _exit(99);
    const std::string text = body();
    (void)WriteAll(pipes[1], text);
    _exit(0);
  }
  close(pipes[1]);
  if (started) started(child);
  const Fd read_end(pipes[0]);
  const Result<std::string> text = ReadAll(read_end.get(), size_t{64} << 20);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return "child failed with status " + std::to_string(status);
  return text ? *text : "";
}

// One field a line; the output comes last.
std::string Pack(const Outcome& outcome) {
  std::ostringstream text;
  text << static_cast<int>(outcome.status) << '\n'
       << outcome.exit_code << '\n'
       << outcome.signal << '\n'
       << outcome.not_found << '\n'
       << outcome.sweep_complete << '\n'
       << outcome.reason << '\n'
       << outcome.violations.size() << '\n';
  for (const Violation& violation : outcome.violations)
    text << Name(violation.kind) << '\n' << violation.detail << '\n';
  text << outcome.starts << '\n' << outcome.programs.size() << '\n';
  for (const StartedProgram& program : outcome.programs)
    text << program.times << ' ' << program.path << '\n';
  return text.str();
}

Outcome Unpack(const std::string& packed) {
  std::istringstream text(packed);
  Outcome outcome;
  int status = 0;
  size_t count = 0;
  text >> status >> outcome.exit_code >> outcome.signal >> outcome.not_found >>
      outcome.sweep_complete;
  text.ignore();
  std::getline(text, outcome.reason);
  text >> count;
  text.ignore();
  outcome.status = static_cast<OutcomeStatus>(status);
  for (size_t i = 0; i < count && i < 1000; ++i) {
    Violation violation;
    std::string kind;
    std::getline(text, kind);
    violation.kind =
        ParseViolationKind(kind).value_or(ViolationKind::kProtectedPath);
    std::getline(text, violation.detail);
    outcome.violations.push_back(violation);
  }
  text >> outcome.starts >> count;
  for (size_t i = 0; i < count && i < 1000; ++i) {
    StartedProgram program;
    text >> program.times >> program.path;
    outcome.programs.push_back(program);
  }
  if (!text) outcome.reason = "the test's child: " + packed;
  return outcome;
}

// A directory that no sandbox hides, where a test may make things.
std::string OpenPlace() {
  char here[4096];
  std::vector<std::string> places = {"/srv", "/opt"};
  if (getcwd(here, sizeof(here)) != nullptr)
    places.insert(places.begin(), here);
  if (const char* home = getenv("HOME"); home != nullptr)
    places.emplace_back(home);
  for (const std::string& place : places) {
    if (IsWithin(place, "/tmp") || IsWithin(place, "/var/tmp")) continue;
    if (access(place.c_str(), W_OK) != 0) continue;
    // Others must be able to walk there.
    struct stat info = {};
    if (geteuid() == 0 &&
        (stat(place.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0 ||
         IsWithin(place, "/root")))
      continue;
    return place;
  }
  return "/var/tmp";
}

}  // namespace

std::vector<Who> Everyone() {
  std::vector<Who> all = {{"native", false}, {"bwrap", false}};
  if (geteuid() == 0) {
    all.push_back({"native", true});
    all.push_back({"bwrap", true});
  }
  return all;
}

std::vector<Who> Engines() {
  std::vector<Who> all;
  for (const std::string& name : EnginesHere()) {
    const char* const text = name == "docker"   ? "docker"
                             : name == "podman" ? "podman"
                                                : "gvisor";
    all.push_back({text, false});
    if (name == "gvisor" && geteuid() == 0) all.push_back({text, true});
  }
  return all;
}

std::string WhoName(const testing::TestParamInfo<Who>& info) {
  return std::string(info.param.backend) +
         (info.param.ordinary ? "_as_nobody" : "_as_caller");
}

std::unique_ptr<Backend> Find(const std::string& name) {
  if (std::unique_ptr<Backend> engine = MakeTestEngine(name)) return engine;
  for (std::unique_ptr<Backend>& backend : MakeBackends())
    if (name == backend->Name()) return std::move(backend);
  return nullptr;
}

void Sandbox::SetUp() {
  uid_ = GetParam().ordinary ? kNobody : geteuid();
  gid_ = GetParam().ordinary ? kNobody : getegid();
  // What works is asked once for each backend and user.
  static std::map<std::string, std::string> known;
  const std::string key = WhoName({GetParam(), 0});
  if (!known.contains(key)) {
    known[key] = InChild(uid_, gid_, [] {
      const Availability found = Find(GetParam().backend)->Probe();
      return found.available ? std::string("yes") : found.why;
    });
  }
  if (known[key] != "yes") {
    GATE_SKIP_WITHOUT(GetParam().backend)
        << key << " does not work here: " << known[key];
  }
  std::string pattern = OpenPlace() + "/gate-test-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  base_ = pattern;
  w_ = base_ + "/work space";
  x_ = base_ + "/outside";
  h_ = base_ + "/home";
  s_ = h_ + "/.ssh/id";
  quarantine_ = base_ + "/quarantine";
  ASSERT_EQ(chmod(base_.c_str(), 0755), 0);
  if (uid_ != geteuid()) {
    ASSERT_EQ(chown(base_.c_str(), uid_, gid_), 0);
  }
  for (const std::string& directory : {w_, x_, h_, h_ + "/.ssh"})
    MakeDirectory(directory);
  Write(s_, "CANARY-SECRET\n");
  Write(x_ + "/existing", "before\n");
  Write(w_ + "/file", "in the workspace\n");
  profile_.name = "workspace-write";
  profile_.write = {w_};
  profile_.workspace = w_;
  profile_.deny_read = {h_ + "/.ssh"};
  profile_.quarantine_dir = quarantine_;
  profile_.environment_set = {
      {"W", w_}, {"X", x_}, {"H", h_}, {"S", s_}, {"HOME", h_}};
  environment_ = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                  "LANG=C.UTF-8",
                  "GIT_AUTHOR_NAME=t",
                  "GIT_AUTHOR_EMAIL=t@t",
                  "GIT_COMMITTER_NAME=t",
                  "GIT_COMMITTER_EMAIL=t@t"};
  cwd_ = w_;
}

void Sandbox::TearDown() {
  if (base_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(base_, ignored);
  if (std::filesystem::exists(base_))
    (void)!system(
        ("chmod -R u+rwx '" + base_ + "'; rm -rf '" + base_ + "'").c_str());
}

Ran Sandbox::Bash(const std::string& line) {
  return Run({"/bin/bash", "-c", line});
}

Ran Sandbox::Run(const std::vector<std::string>& argv) {
  const std::string log =
      base_ + "/../" + std::string(BaseName(base_)) + ".log";
  const Fd out(open(log.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (uid_ != geteuid()) (void)!fchown(out.get(), uid_, gid_);
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Io io{in_ >= 0 ? in_ : null.get(), out.get(), out.get()};
  const std::string packed = InChild(
      uid_, gid_,
      [&] {
        if (machine_) machine_();
        Command command;
        command.permit = permit_;
        command.argv = argv;
        command.cwd = cwd_;
        command.cwd_device = cwd_device_;
        command.cwd_inode = cwd_inode_;
        command.environment = environment_;
        command.judge_exec = judge_;
        command.take_filter_socket = filter_;
        return Pack(Find(GetParam().backend)->Run(profile_, command, io));
      },
      held_by_);
  Ran ran;
  ran.outcome = Unpack(packed);
  ran.output = Read(log);
  unlink(log.c_str());
  return ran;
}

std::string Sandbox::AsUser(const std::function<std::string()>& body) const {
  return InChild(uid_, gid_, body);
}

pid_t Sandbox::Start(const std::vector<std::string>& argv, int out) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (uid_ != geteuid() &&
      (setgroups(0, nullptr) != 0 || setresgid(gid_, gid_, gid_) != 0 ||
       setresuid(uid_, uid_, uid_) != 0))
    _exit(99);
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Command command;
  command.permit = permit_;
  command.argv = argv;
  command.cwd = cwd_;
  command.cwd_device = cwd_device_;
  command.cwd_inode = cwd_inode_;
  command.environment = environment_;
  (void)Find(GetParam().backend)
      ->Run(profile_, command, {null.get(), out, out});
  _exit(0);
}

Sandbox::PausedRun::PausedRun(Sandbox* test, const std::string& workspace,
                              const std::string& first,
                              const std::string& second)
    : go_(test->base_ + "/go" + std::to_string(++test->paused_runs_)) {
  EXPECT_EQ(mkfifo(go_.c_str(), 0600), 0);
  if (test->uid_ != geteuid()) {
    EXPECT_EQ(chown(go_.c_str(), test->uid_, test->gid_), 0);
  }
  int pipes[2] = {-1, -1};
  EXPECT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const Fd read_end(pipes[0]);
  Fd write_end(pipes[1]);
  Profile profile = test->profile_;
  std::swap(profile, test->profile_);
  test->profile_.workspace = workspace;
  test->profile_.write = {workspace};
  std::string cwd = workspace;
  std::swap(test->cwd_, cwd);
  pid_ = test->Start(
      {"/bin/bash", "-c",
       first + "\necho done; read x < '" + go_ + "'\n" + second + "\n:"},
      pipes[1]);
  std::swap(test->cwd_, cwd);
  std::swap(profile, test->profile_);
  write_end.reset();
  // Programs of the first part may say something before that.
  std::string said;
  char byte = 0;
  while (said.find("done\n") == std::string::npos &&
         read(read_end.get(), &byte, 1) == 1)
    said += byte;
  EXPECT_NE(said.find("done\n"), std::string::npos) << first << said;
}

void Sandbox::PausedRun::End() {
  if (pid_ <= 0) return;
  const Fd go(open(go_.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(write(go.get(), "\n", 1), 1);
  EXPECT_GT(waitpid(std::exchange(pid_, 0), nullptr, 0), 0);
}

void Sandbox::PausedRun::Kill() {
  EXPECT_EQ(kill(pid_, SIGKILL), 0);
  EXPECT_GT(waitpid(std::exchange(pid_, 0), nullptr, 0), 0);
}

Availability Sandbox::Probe() {
  const std::string text = InChild(uid_, gid_, [&] {
    if (machine_) machine_();
    const Availability found = Find(GetParam().backend)->Probe();
    std::ostringstream out;
    out << found.available;
    for (int i = 0; i < kFeatures; ++i)
      out << ' ' << found.features.Has(static_cast<Feature>(i));
    out << ' ' << found.why;
    return out.str();
  });
  Availability found;
  std::istringstream in(text);
  in >> found.available;
  for (int i = 0; i < kFeatures; ++i) {
    bool has = false;
    in >> has;
    if (has) found.features.Add(static_cast<Feature>(i));
  }
  std::getline(in >> std::ws, found.why);
  EXPECT_TRUE(in || !found.available) << text;
  return found;
}

std::string Sandbox::Outside(const std::string& line) {
  return InChild(uid_, gid_, [&] {
    setenv("W", w_.c_str(), 1);
    setenv("X", x_.c_str(), 1);
    setenv("H", h_.c_str(), 1);
    setenv("HOME", h_.c_str(), 1);
    for (const char* name : {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME",
                             "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"})
      setenv(name, "t", 1);
    if (chdir(w_.c_str()) != 0) return std::string("no workspace");
    FILE* pipe = popen(("{ " + line + "\n} 2>&1").c_str(), "r");
    std::string text;
    char buffer[4096];
    size_t got = 0;
    while ((got = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
      text.append(buffer, got);
    pclose(pipe);
    return text;
  });
}

std::string Sandbox::Read(const std::string& path) const {
  return test::ReadText(path);
}

bool Sandbox::Exists(const std::string& path) const {
  return test::Exists(path);
}

void Sandbox::Write(const std::string& path, const std::string& content) {
  std::ofstream(path) << content;
  if (uid_ != geteuid()) {
    ASSERT_EQ(chown(path.c_str(), uid_, gid_), 0);
  }
}

void Sandbox::MakeDirectory(const std::string& path) {
  ASSERT_TRUE(MakeDirectories(path, 0755)) << path;
  for (std::string at = path; at.size() > base_.size();
       at = std::string(DirName(at)))
    if (uid_ != geteuid()) {
      ASSERT_EQ(chown(at.c_str(), uid_, gid_), 0);
    }
}

std::string Sandbox::Manifest(const std::string& path) const {
  namespace fs = std::filesystem;
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    struct stat info = {};
    lstat(entry.path().c_str(), &info);
    std::ostringstream line;
    line << entry.path().string() << ' ' << info.st_mode << ' ' << info.st_size
         << ' ' << info.st_mtim.tv_sec << '.' << info.st_mtim.tv_nsec << ' '
         << info.st_uid << ' ' << info.st_nlink;
    if (S_ISREG(info.st_mode)) line << ' ' << Read(entry.path());
    lines.push_back(line.str());
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

void Sandbox::ExpectHiddenAtASecondMount() {
  const std::string twin = base_ + "/twin", key = base_ + "/key";
  MakeDirectory(twin);
  MakeDirectory(key);
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount("", "/", "", MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(mount(h_.c_str(), twin.c_str(), "", MS_BIND, nullptr), 0);
  ASSERT_EQ(mount((h_ + "/.ssh").c_str(), key.c_str(), "", MS_BIND, nullptr),
            0);
  const Ran ran =
      Bash("cat \"$S\" '" + twin + "/.ssh/id' '" + key + "/id'; echo end");
  umount2(key.c_str(), MNT_DETACH);
  umount2(twin.c_str(), MNT_DETACH);
  EXPECT_EQ(ran.output.find("CANARY"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("end"), std::string::npos) << ran.outcome.reason;
}

bool Sandbox::HasViolation(const Outcome& outcome, ViolationKind kind) {
  for (const Violation& violation : outcome.violations)
    if (violation.kind == kind) return true;
  return false;
}

void AwaitTick() {
  // The coarse clock may lag behind by more than a tick, and Linux 6.13 and
  // later stamp some files by the fine one.
  timespec begin = {};
  clock_gettime(CLOCK_REALTIME, &begin);
  EXPECT_TRUE(test::WaitUntil([&] {
    timespec now = {};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now.tv_sec > begin.tv_sec ||
           (now.tv_sec == begin.tv_sec && now.tv_nsec > begin.tv_nsec);
  }));
}

}  // namespace gate::backends
