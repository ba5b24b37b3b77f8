#include "tests/git/formats/checks.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "git/branch.h"
#include "git/config.h"
#include "git/doubts.h"
#include "git/index.h"
#include "parser/analysis.h"

namespace gate::formats {
namespace {

namespace fs = std::filesystem;

constexpr size_t kConfigsAtOnce = 25;
constexpr const char* kSecret = "machine-that-nobody-may-see";

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string Slurp(const std::string& path) {
  const auto text = ReadFile(path, size_t{64} << 20);
  return text ? *text : "";
}

const std::vector<std::string> kConfigPieces = {"[a]",
                                                "[b \"c\"]",
                                                "[d.E]",
                                                "[",
                                                "]",
                                                "\"",
                                                "\\",
                                                "\n",
                                                "\r\n",
                                                " ",
                                                "\t",
                                                "#",
                                                ";",
                                                "x",
                                                "y-1",
                                                "=",
                                                " = ",
                                                "\\n",
                                                "\\\\",
                                                "\\\"",
                                                "\r",
                                                "v w",
                                                "\n[a]\n",
                                                "k=v\n",
                                                "\\\n",
                                                "\"q # r\"",
                                                "\f",
                                                "\x0b",
                                                "\nk = \"",
                                                "b\"\n",
                                                "\xef\xbb\xbf",
                                                "[f \"g\\\"h\\i\"]",
                                                "K = 1 ; c \\\n",
                                                "\n[include]\npath = inc\n",
                                                "[includeIf \"gitdir:/\"]",
                                                "path = inc\n",
                                                std::string(300, 'k'),
                                                std::string(3000, 'v'),
                                                "\n[core]\nfsmonitor = x\n",
                                                std::string(1, '\0')};
const std::vector<std::string> kConfigTexts = {
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = "
    "false\n[remote \"origin\"]\n\turl = https://h/r\n\tfetch = "
    "+refs/*:refs/*\n",
    "[core]\n\tfsmonitor = a b \\\n\t\tc # d\n[alias]\n\tst = \"status -sb\" ; "
    "x\n\tl = log\t--graph\n",
    "[user]\nname = \"A \\\"B\\\" C\"\nemail\n[include]\npath = inc\n[Section "
    "\"Sub\\\\x]\"]key=v\n",
    "\xef\xbb\xbf[extensions]\r\nobjectFormat = sha256\r\n[core] "
    "repositoryFormatVersion = 1\r\nhooksPath =\r\n",
    "; c \\\n# d\n[x.Y \"z\"] a = 1\nb\nc =\n[includeIf \"onbranch:m\"]\npath "
    "= "
    "inc\n",
};

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string Blanks(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\r') c = ' ';
  return text;
}

// Whether the output of `git ls-files --stage -z` has a gitlink.
bool ShowsLink(const std::string& out) {
  for (const std::string& line : Split(out, '\0')) {
    // With --debug the fields of the entry before stand in front.
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const size_t begin = line.rfind('\n', tab) + 1;
    const auto mode = std::strtoul(line.c_str() + begin, nullptr, 8);
    if ((mode & 0170000) == 0160000) return true;
  }
  return false;
}

// Whether git shows one entry of `name`, whose times are those of `file`.
bool ShowsFile(const std::string& out, const std::string& name,
               const IndexedFile& file) {
  const std::string mark = " 0\t" + name + std::string(1, '\0');
  const size_t at = out.find(mark);
  return at != std::string::npos &&
         out.substr(at + mark.size())
             .starts_with("  ctime: " + std::to_string(file.ctime_s) + ":" +
                          std::to_string(file.ctime_ns) +
                          "\n  mtime: " + std::to_string(file.mtime_s) + ":" +
                          std::to_string(file.mtime_ns) + "\n");
}

}  // namespace

Checker::Checker(std::string git, std::string root, std::string keep,
                 uint64_t seed, bool others)
    : git_(std::move(git)),
      root_(std::move(root)),
      keep_(std::move(keep)),
      seed_(seed) {
  indexes_ = MakeIndexes(root_);
  for (const Repository& each : indexes_)
    index_bytes_.push_back(Slurp(each.path + "/.git/index"));
  fs::create_directories(root_ + "/others");
  if (others) others_ = MakeOthers(root_ + "/others");
  fs::create_directories(root_ + "/config");
  Write(root_ + "/config/inc", "[inc]\nx = y\n");
  std::string main;
  for (size_t i = 0; i < kConfigsAtOnce; ++i)
    main += "[include]\npath = c" + std::to_string(i) + "\n";
  Write(root_ + "/config/main", main);
  ready_ =
      indexes_.size() >= 36 && (!others || others_.size() >= 15) &&
      RunShell(root_,
               "git init -q dirs/real && mv dirs/real/.git dirs/g && rm -rf "
               "dirs/real && mkdir -p dirs/w/sub dirs/g/worktrees/w && cp "
               "dirs/g/HEAD dirs/g/worktrees/w/HEAD && git init -q refs && git "
               "-C refs commit -q --allow-empty -m x && git -C refs branch "
               "other && git -C refs pack-refs --all && git -C refs branch "
               "loose && git init -q alt && cd alt && mkdir -p plain/info "
               "linked/info near/info && echo ../linked > "
               "near/info/alternates && echo " +
                   std::string(kSecret) +
                   " > ../secret && ln -s ../../../secret "
                   "linked/info/alternates");
}

void Checker::Missed(Format format, uint64_t number, const std::string& what,
                     const std::string& bytes) {
  ++tallies_[format].missed;
  const std::string file =
      keep_ + "/" + std::to_string(seed_) + "-" + std::to_string(number);
  Write(file, bytes);
  std::fprintf(stderr, "missed: mutation %llu (%s): %s; kept as %s\n",
               static_cast<unsigned long long>(number), kFormatNames[format],
               Visible(what).c_str(), file.c_str());
}

void Checker::Check(uint64_t number) {
  Random random(seed_ * 0x2545f4914f6cdd1d + number);
  const size_t kind = number % 20;
  if (kind < 12)
    CheckIndex(number, &random);
  else if (kind < 16)
    CheckConfig(number, &random);
  else if (kind < 18)
    CheckDirectories(number, &random);
  else if (kind < 19)
    CheckRefs(number, &random);
  else
    CheckAlternates(number, &random);
}

void Checker::CheckIndex(uint64_t number, Random* random) {
  Tally& tally = tallies_[kIndex];
  ++tally.mutations;
  const size_t which = random->Below(indexes_.size());
  const Repository& at = indexes_[which];
  const std::string bytes =
      MutateIndex(random, index_bytes_[which], static_cast<size_t>(at.hash));
  const std::string path = at.path + "/.git/index";
  Write(path, bytes);
  const Gitlinks found = FindGitlinks(path, at.hash, at.path);
  const auto top = FindIndexed(bytes, at.hash, "top");
  if (found != Gitlinks::kNone && !top) {
    ++tally.unknown;
    return;
  }
  // Half of them by threads, which read by the table.
  // A directory of a sparse index stays one: its entries are not there.
  std::vector<std::string> arguments = {"ls-files", "--stage", "-z", "--debug",
                                        "--sparse"};
  if (random->Below(2) == 0)
    arguments.insert(arguments.begin(), {"-c", "index.threads=4"});
  const Ran ran = RunGit(git_, at.path, arguments);
  if (found == Gitlinks::kNone && ShowsLink(ran.out))
    return Missed(kIndex, number, at.name + " has a gitlink", bytes);
  if (ran.status != 0) {
    ++tally.refused;
    return;
  }
  if (top && !ShowsFile(ran.out, "top", *top))
    return Missed(kIndex, number, at.name + " has another `top`", bytes);
  ++tally.same;
}

void Checker::CheckConfig(uint64_t number, Random* random) {
  Tally& tally = tallies_[kConfig];
  ++tally.mutations;
  std::string text = MutateText(
      random, kConfigTexts[random->Below(kConfigTexts.size())], kConfigPieces);
  std::vector<GitEntry> entries;
  if (!ParseGitConfig(text, &entries)) {
    ++tally.unknown;
    return;
  }
  configs_.push_back({number, std::move(text)});
  if (configs_.size() < kConfigsAtOnce) return;
  CheckConfigs(configs_);
  configs_.clear();
}

void Checker::CheckConfigs(const std::vector<Config>& configs) {
  for (size_t i = 0; i < kConfigsAtOnce; ++i)
    Write(root_ + "/config/c" + std::to_string(i),
          i < configs.size() ? configs[i].text : "");
  const Ran ran = RunGit(git_, root_ + "/config",
                         {"config", "-z", "--list", "--show-origin",
                          "--includes", "--file", "main"});
  if (ran.status != 0 && configs.size() > 1) {
    // One of them is refused, or an include of it.
    for (const Config& each : configs) CheckConfigs({each});
    return;
  }
  // In halves: where it comes from, then the entry.
  const std::vector<std::string> parts = Split(ran.out, '\0');
  std::map<std::string, std::vector<std::string>> shown;
  for (size_t i = 0; i + 1 < parts.size(); i += 2)
    shown[parts[i]].push_back(Blanks(parts[i + 1]));
  for (size_t i = 0; i < configs.size(); ++i) {
    std::vector<GitEntry> entries;
    ParseGitConfig(configs[i].text, &entries);
    std::vector<std::string> read;
    for (const GitEntry& entry : entries)
      read.push_back(
          Blanks(entry.boolean ? entry.key : entry.key + "\n" + entry.value));
    if (ran.status != 0) {
      ++tallies_[kConfig].refused;
    } else if (read == shown["file:c" + std::to_string(i)]) {
      ++tallies_[kConfig].same;
    } else {
      Missed(kConfig, configs[i].number, "other entries", configs[i].text);
    }
  }
}

void Checker::CheckDirectories(uint64_t number, Random* random) {
  Tally& tally = tallies_[kDirectories];
  ++tally.mutations;
  const std::string dirs = root_ + "/dirs";
  const std::vector<std::string> pieces = {"\n",
                                           "\r",
                                           "\r\n",
                                           " ",
                                           "/",
                                           ".",
                                           "..",
                                           "gitdir: ",
                                           "../",
                                           "worktrees",
                                           "g",
                                           "ref:",
                                           "refs/",
                                           "\t",
                                           std::string(1, '\0'),
                                           std::string(40, 'a'),
                                           std::string(5000, '\n')};
  std::string link = random->Below(2) == 0
                         ? "gitdir: ../g/worktrees/w\n"
                         : "gitdir: " + dirs + "/g/worktrees/w\n";
  std::string common = random->Below(2) == 0 ? "../..\n" : dirs + "/g\n";
  std::string head = "ref: refs/heads/main\n";
  std::string* const texts[] = {&link, &common, &head};
  std::string* const changed = texts[random->Below(3)];
  if (random->Below(3) == 0) {
    *changed = MutateText(random, *changed, pieces);
  } else {
    // What may leave it as it is: at its end, or behind a slash or a blank.
    const std::vector<std::string> same = {"\n",
                                           "\r",
                                           "\r\n\n",
                                           "/",
                                           "./",
                                           "//.//",
                                           " ",
                                           "\t",
                                           "x/../",
                                           std::string("\0x", 2),
                                           std::string(70000, '\n'),
                                           "../w/",
                                           "\f"};
    size_t at = changed->size() - random->Below(2);
    if (random->Below(2) == 0)
      at = changed->find_first_of("/ ", random->Below(changed->size()));
    at = std::min(at == std::string::npos ? at : at + 1, changed->size());
    changed->insert(at, same[random->Below(same.size())]);
  }
  Write(dirs + "/w/.git", link);
  Write(dirs + "/g/worktrees/w/commondir", common);
  Write(dirs + "/g/worktrees/w/HEAD", head);
  const std::string at = dirs + "/w/sub";
  const Ran ran =
      RunGit(git_, at, {"rev-parse", "--absolute-git-dir", "--git-common-dir"});
  if (ran.status != 0) {
    ++tally.refused;
    return;
  }
  const std::vector<std::string> lines = Split(ran.out, '\n');
  const GitDirectories git = FindGitDirectories(at);
  const auto real = [&](const std::string& path) {
    return RealPath(path.starts_with('/') ? path : at + "/" + path);
  };
  if (lines.size() == 2 && RealPath(git.own) == real(lines[0]) &&
      RealPath(git.common) == real(lines[1]))
    ++tally.same;
  else
    Missed(kDirectories, number, ran.out, link + "|" + common + "|" + head);
}

void Checker::CheckRefs(uint64_t number, Random* random) {
  Tally& tally = tallies_[kRefs];
  ++tally.mutations;
  const std::string at = root_ + "/refs";
  const std::vector<std::string> pieces = {"ref:",
                                           "ref: ",
                                           "refs/heads/",
                                           "other",
                                           "loose",
                                           "\n",
                                           "\t",
                                           " ",
                                           "\r",
                                           "/",
                                           "..",
                                           "^",
                                           "#",
                                           std::string(1, '\0'),
                                           std::string(40, 'a'),
                                           "refs/heads/loose",
                                           "\nref: refs/heads/other"};
  const char* const names[] = {"loose", "other", "master", "none"};
  std::string head =
      "ref: refs/heads/" + std::string(names[random->Below(4)]) + "\n";
  std::string loose = random->Below(2) == 0
                          ? std::string("ref: refs/heads/other\n")
                          : std::string(40, 'b') + "\n";
  static const std::string packed_refs = Slurp(at + "/.git/packed-refs");
  std::string packed = packed_refs;
  std::string* const texts[] = {&head, &head, &loose, &loose, &packed};
  std::string* const changed = texts[random->Below(5)];
  *changed = MutateText(random, *changed, pieces);
  Write(at + "/.git/HEAD", head);
  Write(at + "/.git/refs/heads/loose", loose);
  Write(at + "/.git/packed-refs", packed);
  parser::Context context;
  context.cwd = at;
  const app::Branch branch =
      app::FindBranch(at, parser::Analyze("git commit", context));
  if (!branch.known) {
    ++tally.unknown;
    return;
  }
  const Ran ran = RunGit(git_, at, {"symbolic-ref", "-q", "HEAD"});
  const std::string expected =
      branch.name.empty() ? "" : "refs/heads/" + branch.name + "\n";
  if (ran.status > 1)
    ++tally.refused;
  else if (ran.out == expected)
    ++tally.same;
  else
    Missed(kRefs, number, branch.name + " is " + ran.out,
           head + "|" + loose + "|" + packed);
}

void Checker::CheckAlternates(uint64_t number, Random* random) {
  Tally& tally = tallies_[kAlternates];
  ++tally.mutations;
  const std::string at = root_ + "/alt";
  const std::vector<std::string> pieces = {at + "/plain\n",
                                           "../../plain\n",
                                           at + "/linked",
                                           "../../linked",
                                           "../../near\n",
                                           "#",
                                           "\"",
                                           "\n",
                                           "/",
                                           "..",
                                           "/nowhere\n",
                                           "\\",
                                           "\r",
                                           at + "/near/.",
                                           "../objects\n",
                                           "\"\n",
                                           std::string(1, '\0')};
  const char* const texts[] = {"../../plain\n", "../../linked\n",
                               "../../near\n", "# c\n../../plain\n"};
  const std::string text = MutateText(random, texts[random->Below(4)], pieces);
  Write(at + "/.git/objects/info/alternates", text);
  if (!app::UnsafeRepositoryReason(FindGitDirectories(at), "").empty()) {
    ++tally.unknown;
    return;
  }
  const Ran ran = RunGit(git_, at, {"cat-file", "-e", std::string(40, 'c')},
                         /*both=*/true);
  if (ran.out.find(kSecret) != std::string::npos)
    Missed(kAlternates, number, ran.out, text);
  else
    ++tally.same;
}

void Checker::Finish() {
  if (!configs_.empty()) CheckConfigs(configs_);
  configs_.clear();
}

size_t Checker::CheckOrdinary(std::vector<std::string>* unknown,
                              std::vector<std::string>* wrong) const {
  for (const std::vector<Repository>* list : {&indexes_, &others_}) {
    for (const Repository& each : *list) {
      const GitDirectories git = FindGitDirectories(each.path);
      const auto config = ReadFile(git.common + "/config", 1 << 20);
      std::vector<GitEntry> entries;
      const bool whole = config && ParseGitConfig(*config, &entries);
      const auto hash = ObjectFormatOf(entries);
      const Gitlinks links =
          hash ? FindGitlinks(git.own + "/index", *hash, git.worktree)
               : Gitlinks::kUnknown;
      parser::Context context;
      context.cwd = each.path;
      const bool branch =
          app::FindBranch(each.path, parser::Analyze("git log", context)).known;
      if (hash && *hash != each.hash) wrong->push_back(each.name);
      if (!whole || !hash || !branch || links == Gitlinks::kUnknown)
        unknown->push_back(each.name);
      else if ((links == Gitlinks::kSome) != each.links)
        wrong->push_back(each.name);
    }
  }
  return indexes_.size() + others_.size();
}

}  // namespace gate::formats
