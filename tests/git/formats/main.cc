// git-formats: gate's readers of git's formats against git itself.
//
//   git-formats [--count N] [--seed S] [--from N] [--jobs N] [--git PROGRAM]
//
// Makes repositories of every kind in a temporary directory, changes their
// files, and asks git wherever gate is sure that nothing is there. Exits 1 when
// git shows a gitlink, an entry of a configuration, a git directory, a branch
// or a line of a secret file that gate did not see, or when more than one in
// twenty of the unchanged repositories is unknown to gate; 77 without git,
// unless GATE_MUST_WORK names it.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/git/formats/checks.h"
#include "tests/support/temporary_directory.h"

namespace {

using namespace gate::formats;  // NOLINT(google-build-using-namespace)

struct Options {
  uint64_t count = 1000, seed = 1, from = 0, jobs = 2;
  std::string git = "git";
};

bool Parse(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--git") {
      options->git = argv[i + 1];
      continue;
    }
    uint64_t* const value = name == "--count"  ? &options->count
                            : name == "--seed" ? &options->seed
                            : name == "--from" ? &options->from
                            : name == "--jobs" ? &options->jobs
                                               : nullptr;
    if (value == nullptr) return false;
    *value = strtoull(argv[i + 1], nullptr, 10);
  }
  return argc % 2 == 1 && options->jobs > 0;
}

struct Report {
  Tally tallies[kFormats];
  uint64_t ready = 0, ordinary = 0, unknown = 0, wrong = 0;
};

// Every `jobs`-th mutation.
Report RunJob(const Options& options, const std::string& root,
              const std::string& keep, uint64_t job) {
  Report report;
  Checker checker(options.git, root, keep, options.seed, job == 0);
  report.ready = checker.ready();
  if (!checker.ready()) return report;
  if (job == 0) {
    std::vector<std::string> unknown, wrong;
    report.ordinary = checker.CheckOrdinary(&unknown, &wrong);
    report.unknown = unknown.size();
    report.wrong = wrong.size();
    for (const std::string& name : unknown)
      fprintf(stderr, "unknown: %s\n", name.c_str());
    for (const std::string& name : wrong)
      fprintf(stderr, "read otherwise: %s\n", name.c_str());
  }
  // A mutated count makes git want memory for as many entries.
  constexpr rlim_t kMemory = rlim_t{4} << 30;
  const rlimit memory = {kMemory, kMemory}, core = {0, 0};
  // An address sanitizer reserves terabytes that it never touches.
#if defined(__SANITIZE_ADDRESS__)
  constexpr bool kSanitized = true;
#elif defined(__has_feature)
  constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
  constexpr bool kSanitized = false;
#endif
  if (!kSanitized) setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  for (uint64_t i = job; i < options.count; i += options.jobs) try {
      checker.Check(options.from + i);
    } catch (const std::exception& error) {
      fprintf(stderr, "mutation %" PRIu64 ": %s\n", options.from + i,
              error.what());
      report.ready = 0;
    }
  checker.Finish();
  for (int format = 0; format < kFormats; ++format)
    report.tallies[format] = checker.tally(static_cast<Format>(format));
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    fprintf(stderr,
            "usage: git-formats [--count N] [--seed S] [--from N] [--jobs N] "
            "[--git PROGRAM]\n");
    return 64;
  }
  const gate::TemporaryDirectory temporary;
  if (RunGit(options.git, temporary.path(), {"--version"}).status != 0) {
    const char* const list = getenv("GATE_MUST_WORK");
    const bool must =
        list != nullptr &&
        ("," + std::string(list) + ",").find(",git,") != std::string::npos;
    fprintf(stderr, "%s: there is no git\n", must ? "FAILED" : "SKIPPED");
    return must ? 1 : 77;
  }
  printf("seed %" PRIu64 ", %" PRIu64 " mutations from %" PRIu64 "\n",
         options.seed, options.count, options.from);
  fflush(stdout);
  const std::string keep =
      std::filesystem::temp_directory_path() / "git-formats-missed";
  std::filesystem::create_directories(keep);
  std::vector<pid_t> children;
  for (uint64_t job = 0; job < options.jobs; ++job) {
    const std::string root = temporary / std::to_string(job);
    std::filesystem::create_directories(root);
    const pid_t child = fork();
    if (child == 0) {
      const Report report = RunJob(options, root, keep, job);
      FILE* const file = fopen((root + ".report").c_str(), "wb");
      const bool written = file != nullptr &&
                           fwrite(&report, sizeof(report), 1, file) == 1 &&
                           fclose(file) == 0;
      _exit(written ? 0 : 1);
    }
    children.push_back(child);
  }
  Report all;
  bool whole = true;
  for (uint64_t job = 0; job < options.jobs; ++job) {
    int status = 0;
    waitpid(children[job], &status, 0);
    Report one;
    FILE* const file =
        fopen((temporary / std::to_string(job) + ".report").c_str(), "rb");
    whole &= status == 0 && file != nullptr &&
             fread(&one, sizeof(one), 1, file) == 1 && one.ready == 1;
    if (file != nullptr) fclose(file);
    for (int format = 0; format < kFormats; ++format) {
      Tally& sum = all.tallies[format];
      const Tally& add = one.tallies[format];
      sum.mutations += add.mutations;
      sum.unknown += add.unknown;
      sum.same += add.same;
      sum.refused += add.refused;
      sum.missed += add.missed;
    }
    all.ordinary += one.ordinary;
    all.unknown += one.unknown;
    all.wrong += one.wrong;
  }
  uint64_t missed = 0;
  printf("%-14s %9s %9s %9s %9s %9s\n", "", "mutations", "unknown", "same",
         "refused", "missed");
  for (int format = 0; format < kFormats; ++format) {
    const Tally& sum = all.tallies[format];
    missed += sum.missed;
    printf("%-14s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
           "\n",
           kFormatNames[format], sum.mutations, sum.unknown, sum.same,
           sum.refused, sum.missed);
  }
  printf("unchanged repositories: %" PRIu64 ", unknown %" PRIu64
         ", read otherwise %" PRIu64 "\n",
         all.ordinary, all.unknown, all.wrong);
  if (!whole) fprintf(stderr, "a part of the work failed\n");
  return whole && missed == 0 && all.wrong == 0 &&
                 all.unknown * 20 <= all.ordinary
             ? 0
             : 1;
}
