// The commands that lint tries. They are never run.

#include "engine/lint.h"

namespace gate::engine {
namespace {

// Whether an option means anything to a program is for its description to
// say (rules.d/programs); what it does not know counts for nothing here.
constexpr std::string_view kGeneral[] = {"-c id",
                                         "-e id",
                                         "-o made",
                                         "--output=made",
                                         "--output made",
                                         "-i made",
                                         "--in-place made",
                                         "-w made",
                                         "--write made",
                                         "-d made",
                                         "--delete made",
                                         "--eval id",
                                         "-f made",
                                         "--file=made",
                                         "-m made",
                                         "-r made",
                                         "--exec id",
                                         "-x id",
                                         "--config=made",
                                         "--rcfile made",
                                         "--init-file made",
                                         "-C made",
                                         "--directory=made",
                                         "--plugin made",
                                         "--load made",
                                         "--require made",
                                         "--import made",
                                         "--pager=id",
                                         "--editor=id",
                                         "--shell=id",
                                         "--to-command=id",
                                         "--rsh=id",
                                         "-u https://example.org/",
                                         "--upload-file a",
                                         "-T made",
                                         "made",
                                         "https://example.org/"};

struct Row {
  std::string_view program;
  std::span<const std::string_view> tails;
};

constexpr std::string_view kGit[] = {
    "-c alias.x='!id' x",   "-c core.pager=id log", "push --force origin main",
    "config alias.x '!id'", "clean -fdx",           "reset --hard HEAD~1",
    "--output=made",        "--ext-diff",           "-O id",
    "checkout -- .",        "branch -D main",       "commit -m x",
    "--upload-pack=id"};
constexpr std::string_view kFind[] = {
    ". -delete", ". -exec touch made ';'", ". -fprint made", ". -ok rm {} ';'",
    "-delete",   "-exec touch made ';'",   "-fprint made"};
constexpr std::string_view kTar[] = {"--checkpoint-action=exec=id",
                                     "--to-command=id", "-xf a.tar",
                                     "-cf made a", "--use-compress-program=id"};
constexpr std::string_view kNode[] = {
    "-e 'process.exit()'", "run.js",       "publish",     "exec x",
    "install left-pad",    "-r ./made.js", "run anything"};
constexpr std::string_view kPython[] = {"-c 'print(1)'", "made.py",
                                        "-m http.server", "-m pip install x"};
constexpr std::string_view kShell[] = {"-c 'touch made'", "made.sh",
                                       "-s < made.sh"};
constexpr std::string_view kSed[] = {"-i s/a/b/ made", "'w made' a",
                                     "'1e id' a", "-n 's/a/b/w made' a"};
constexpr std::string_view kAwk[] = {"'BEGIN{system(\"id\")}'",
                                     "'{print > \"made\"}' a", "-f made a"};
constexpr std::string_view kCurl[] = {
    "-o made https://example.org/", "-d @made https://example.org/",
    "-T made https://example.org/", "-K made", "https://example.org/"};
constexpr std::string_view kDocker[] = {"run -v /:/host alpine id", "exec x id",
                                        "system prune -af"};
constexpr std::string_view kKubectl[] = {"delete pod x", "exec x -- id",
                                         "apply -f made.yml"};
constexpr std::string_view kEditor[] = {"-c '!id'", "+'!id'", "made"};
constexpr std::string_view kMake[] = {"-f made", "SHELL=/tmp/made", "install"};
constexpr std::string_view kSsh[] = {"host id", "-o ProxyCommand=id host"};

constexpr std::string_view kOneLiner[] = {"-e 'system(1)'", "made",
                                          "-r 'system(1);'"};

constexpr Row kRows[] = {
    {"perl", kOneLiner},   {"ruby", kOneLiner}, {"php", kOneLiner},
    {"lua", kOneLiner},    {"git", kGit},       {"find", kFind},
    {"fd", kFind},         {"tar", kTar},       {"node", kNode},
    {"npm", kNode},        {"npx", kNode},      {"yarn", kNode},
    {"pnpm", kNode},       {"python", kPython}, {"python3", kPython},
    {"pip", kNode},        {"bash", kShell},    {"sh", kShell},
    {"zsh", kShell},       {"dash", kShell},    {"sed", kSed},
    {"awk", kAwk},         {"gawk", kAwk},      {"curl", kCurl},
    {"wget", kCurl},       {"docker", kDocker}, {"podman", kDocker},
    {"kubectl", kKubectl}, {"vim", kEditor},    {"vi", kEditor},
    {"less", kEditor},     {"make", kMake},     {"ssh", kSsh}};

constexpr std::string_view kUnlike[] = {
    "ls -la",         "git status",      "npm test",       "make",
    "cargo build -r", "python3 app.py",  "cp a.txt b.txt", "echo hello world",
    "docker ps",      "mytool --version"};

}  // namespace

std::span<const std::string_view> RiskyTails(std::string_view program) {
  if (program.empty()) return kGeneral;
  for (const Row& row : kRows)
    if (row.program == program) return row.tails;
  return {};
}

std::span<const std::string_view> UnlikeCommands() { return kUnlike; }

}  // namespace gate::engine
