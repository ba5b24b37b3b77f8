// backends_bench [ROUNDS [NAME]]: what containment adds to fork and exec of
// `true`; with NAME of that row alone.
//
// All rows run in turn in every round, so that what disturbs the machine
// disturbs all alike. Medians and, for a busy machine, the fastest tenth;
// "added" is over the plain row. Of "native, prepared" process 1 was made when
// the round began, by Backend::Prepare: what a caller waits for who calls that
// early, as gate does. Of the bwrap rows the first is the program
// itself with a few options that look alike, the second the program with those
// that give the view and the filter of the native row (Landlock it cannot), the
// third the bwrap backend, with gate's protected paths and bookkeeping.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/bwrap/bwrap.h"
#include "backends/identity.h"
#include "backends/native/calls/seccomp.h"
#include "backends/process/streams.h"
#include "backends/protected_paths.h"
#include "backends/view/view.h"

extern char** environ;

namespace {

using gate::backends::Backend;
using gate::backends::Network;
using gate::backends::OutcomeStatus;
using gate::backends::Profile;

double NowUs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) / 1e3;
}

bool Spawn(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  int status = 0;
  return posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) ==
             0 &&
         waitpid(pid, &status, 0) == pid && status == 0;
}

// bwrap's own command line for what `profile` gives, the filter in `filter`.
std::vector<std::string> BwrapAlone(const Profile& profile, int filter) {
  const gate::backends::ProtectedPaths protected_paths =
      gate::backends::ProtectedPaths::Snapshot(profile, "/");
  auto view = gate::backends::MakeView(
      profile, protected_paths, gate::backends::ChooseUser(profile), "/");
  if (!view) return {};
  gate::backends::BwrapInputs inputs;
  inputs.cwd = view->cwd;
  inputs.view = std::move(*view);
  inputs.network = profile.network;
  inputs.seccomp_fd = filter;
  std::vector<std::string> words = gate::backends::BwrapArguments(inputs);
  words.insert(words.begin(), "bwrap");
  words.insert(words.end(), {"--", "/bin/true"});
  return words;
}

struct Row {
  std::string name;
  std::function<bool()> run;
  std::vector<double> us = {};
  std::function<void()> before = nullptr;  // when a round begins, not timed
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  char directory[] = "/var/tmp/gate-bench-XXXXXX";
  if (mkdtemp(directory) == nullptr) return 1;
  const std::string base = directory;
  const std::string workspace = base + "/work";
  mkdir(workspace.c_str(), 0755);
  const std::string full = base + "/full";
  mkdir(full.c_str(), 0755);
  for (int i = 0; i < 1000; ++i)
    std::ofstream(full + "/p" + std::to_string(i)) << "x";

  gate::backends::Command command;  // in a place that every row shows
  command.permit = gate::backends::Permit::Given();
  command.argv = {"/bin/true"};
  command.cwd = "/";
  for (char** entry = environ; *entry != nullptr; ++entry)
    command.environment.emplace_back(*entry);

  std::vector<std::unique_ptr<Backend>> all = gate::backends::MakeBackends();
  const auto with = [&](const char* name, Network network, int protect,
                        bool watched = false) {
    Backend* found = nullptr;
    for (const auto& backend : all)
      if (std::string(name) == backend->Name()) found = backend.get();
    Profile profile;
    profile.workspace = protect >= 0 ? full : workspace;
    profile.write = {profile.workspace};
    profile.network = network;
    profile.report_blocked = watched;
    profile.watch_execs = watched;
    for (int i = 0; i < protect; ++i)
      profile.protect.push_back(full + "/p" + std::to_string(i));
    return [found, profile, &command] {
      const auto outcome = found->Run(profile, command, {});
      return outcome.status == OutcomeStatus::kExited && outcome.exit_code == 0;
    };
  };
  Profile likely;
  likely.workspace = workspace;
  likely.write = {workspace};
  std::vector<std::unique_ptr<Backend>> others = gate::backends::MakeBackends();
  Backend* prepared = nullptr;
  for (const auto& backend : others)
    if (std::string("native") == backend->Name()) prepared = backend.get();
  const gate::backends::Filter filter = gate::backends::MakeFilter();
  const int filter_fd = memfd_create("filter", 0);  // bwrap inherits it
  if (filter_fd < 0 || write(filter_fd, filter.code.data(),
                             filter.size * sizeof(filter.code[0])) < 0)
    return 1;
  Profile plain_view;
  plain_view.workspace = workspace;
  plain_view.write = {workspace};
  const std::vector<std::string> alone = BwrapAlone(plain_view, filter_fd);
  if (alone.empty()) return 1;
  std::vector<Row> rows = {
      {"plain", [] { return Spawn({"/bin/true"}); }},
      {"native", with("native", Network::kNone, -1)},
      {"native, prepared",
       [&] {
         const auto outcome = prepared->Run(likely, command, {});
         return outcome.status == OutcomeStatus::kExited &&
                outcome.exit_code == 0;
       },
       {},
       [&] { prepared->Prepare(likely); }},
      {"native loopback", with("native", Network::kLoopback, -1)},
      {"native, watched", with("native", Network::kNone, -1, true)},
      {"native open", with("native", Network::kOpen, -1)},
      {"native, 1000 files", with("native", Network::kNone, 0)},
      {"native 500", with("native", Network::kNone, 500)},
      {"native 1000", with("native", Network::kNone, 1000)},
      {"bwrap raw",
       [&] {
         return Spawn({"bwrap",
                       "--unshare-all",
                       "--die-with-parent",
                       "--new-session",
                       "--cap-drop",
                       "ALL",
                       "--ro-bind",
                       "/",
                       "/",
                       "--proc",
                       "/proc",
                       "--dev",
                       "/dev",
                       "--tmpfs",
                       "/run",
                       "--tmpfs",
                       "/tmp",
                       "--tmpfs",
                       "/var/tmp",
                       "--tmpfs",
                       "/dev/shm",
                       "--bind",
                       workspace,
                       workspace,
                       "--chdir",
                       workspace,
                       "/bin/true"});
       }},
      {"bwrap, same view",
       [&] { return lseek(filter_fd, 0, SEEK_SET) == 0 && Spawn(alone); }},
      {"bwrap backend", with("bwrap", Network::kNone, -1)},
  };
  if (argc > 2)
    std::erase_if(rows, [&](const Row& row) {
      return row.name != "plain" && row.name != argv[2];
    });
  for (int round = 0; round < rounds; ++round) {
    for (const Row& row : rows)
      if (row.before) row.before();
    for (Row& row : rows) {
      const double begin = NowUs();
      if (!row.run()) {
        fprintf(stderr, "%s: did not run\n", row.name.c_str());
        row.run = [] { return true; };
        continue;
      }
      row.us.push_back(NowUs() - begin);
    }
  }
  const auto at = [](std::vector<double> values, size_t percent) {
    if (values.empty()) return 0.0;
    std::sort(values.begin(), values.end());
    return values[values.size() * percent / 100];
  };
  printf("%-20s %10s %10s %10s %10s\n", "", "median us", "added us", "10 % us",
         "added us");
  for (const Row& row : rows) {
    printf("%-20s", row.name.c_str());
    for (const size_t percent : {size_t{50}, size_t{10}})
      printf(" %10.0f %10.0f", at(row.us, percent),
             at(row.us, percent) - at(rows[0].us, percent));
    printf("\n");
  }
  return system(("rm -rf '" + base + "'").c_str()) == 0 ? 0 : 1;
}
