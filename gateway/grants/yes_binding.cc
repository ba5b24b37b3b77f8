#include "gateway/grants/yes_binding.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "gateway/grants/opened_places.h"
#include "git/remotes.h"

namespace gate::app {
namespace {

// A question that names more is not read.
constexpr size_t kMaxNamed = 3;

// What a command reads, or may read; of a directory all that is in it.
struct Read {
  std::string path;
  bool far_below = true;  // in its directories, too

  auto operator<=>(const Read&) const = default;
};

// `src/*.yml` reads some of `src`; `src/*/x.yml` some of what is below it.
Read ReadOfPattern(const std::string& pattern) {
  const size_t first = pattern.find_first_of("*?[");
  const size_t slash = pattern.rfind('/', first);
  const bool deeper = first != std::string::npos &&
                      pattern.find('/', first) != std::string::npos;
  return {slash == 0 ? "/" : pattern.substr(0, slash), deeper};
}

// The words of a command, and what stands behind `=`, `@`, `,` and `://` in
// them, that name something there: a program may read it although its
// description does not say so. The directory itself is no such name.
void AddWords(const parser::Invocation& invocation, std::set<Read>* reads) {
  const std::vector<std::string> places = parser::DirectoriesOf(invocation);
  const auto add = [&](std::string_view name) {
    if (name.empty() || name == "." || name == "..") return;
    for (const std::string& place : places) {
      const std::string path = Normalise(name, place);
      struct stat info = {};
      if (path != place && ::lstat(path.c_str(), &info) == 0)
        reads->insert(Read{path});
    }
  };
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const parser::Argument& word = invocation.argv[i];
    if (!word.known || word.glob) continue;
    add(word.text);
    std::string_view rest = word.text;
    for (size_t at; (at = rest.find_first_of("=@,:")) != rest.npos;) {
      add(rest.substr(0, at));
      rest.remove_prefix(at + 1);
      while (rest.starts_with('/') && rest.size() > 1 && rest[1] == '/')
        rest.remove_prefix(1);
      add(rest);
    }
  }
}

bool NamesItsDirectory(const parser::Invocation& invocation) {
  return std::ranges::any_of(invocation.argv, [](const parser::Argument& word) {
    return word.known && !word.glob &&
           (word.text == "." || word.text == "./" ||
            word.text.ends_with("=.") || word.text.ends_with("=./"));
  });
}

// The directories that a rule says are sent, and those that an asked command
// names by a dot (`surge .`, `--from-dir=.`) and of which its description does
// not say what it does there. False where one of them is not known.
bool AddDirectories(const parser::Analysis& analysis,
                    const engine::Decision& decision, std::set<Read>* reads) {
  const auto& sent = decision.reads_directory;
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i) {
    const parser::Invocation& invocation = analysis.invocations[i];
    const bool reads_it = std::ranges::find(sent, i) != sent.end();
    if (!reads_it && (i >= decision.per_invocation.size() ||
                      decision.per_invocation[i] != rules::Action::kAsk ||
                      !NamesItsDirectory(invocation)))
      continue;
    const std::vector<std::string> places = parser::DirectoriesOf(invocation);
    if (places.empty()) return false;
    for (const std::string& place : places)
      if (reads_it || std::ranges::none_of(analysis.effects,
                                           [&](const parser::Effect& effect) {
                                             return effect.invocation == i &&
                                                    effect.path.text == place;
                                           }))
        reads->insert(Read{place});
  }
  return true;
}

bool IsRead(parser::EffectKind kind) {
  using parser::EffectKind;
  return kind == EffectKind::kRead || kind == EffectKind::kMove ||
         kind == EffectKind::kExecuteFile;
}

class Marker {
 public:
  explicit Marker(const std::vector<std::string>& writable)
      : writable_(writable) {}

  void Add(const Read& read) {
    if (!IsWritable(read.path)) return;
    ++named_;
    if (named_ <= kMaxNamed) {
      text_ += text_.empty() ? "" : ", ";
      text_ += Visible(read.path);
    }
    AddText(read.path);
    AddEntry(read.path, read, 0);
  }

  YesBinding Take() {
    YesBinding out;
    if (entries_ > kMaxBoundEntries || too_deep_) {
      out.doubt = "reads more files than a yes can be bound to";
      return out;
    }
    if (named_ == 0) return out;
    if (named_ > kMaxNamed)
      text_ += " and " + std::to_string(named_ - kMaxNamed) + " more";
    out.text = "; only with what is in " + text_ + " now";
    out.mark = Hex(Sha256(all_));
    return out;
  }

 private:
  bool IsWritable(const std::string& path) const {
    const std::string real = RealPath(path);
    return std::ranges::any_of(writable_, [&](const std::string& place) {
      return IsWithin(path, place) || (!real.empty() && IsWithin(real, place));
    });
  }

  // Lengths before texts, so that no two lists are one.
  void AddText(std::string_view text) {
    all_ += std::to_string(text.size()) + ":";
    all_ += text;
  }

  void AddEntry(const std::string& path, const Read& read, size_t depth) {
    if (++entries_ > kMaxBoundEntries || depth > kMaxBoundDepth) {
      too_deep_ |= depth > kMaxBoundDepth;
      return;
    }
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) {
      AddText("absent");
    } else if (S_ISDIR(info.st_mode)) {
      AddText("directory");
      if (depth == 0 || read.far_below) AddDirectory(path, read, depth);
    } else {
      AddFile(path, info);
    }
  }

  void AddFile(const std::string& path, const struct stat& info) {
    const auto size = static_cast<size_t>(info.st_size);
    if (S_ISREG(info.st_mode) && size <= kMaxBoundFile &&
        bytes_ + size <= kMaxBoundBytes) {
      bytes_ += size;
      if (const auto text = ReadFile(path, kMaxBoundFile)) {
        AddText("file");
        AddText(std::string_view(
            reinterpret_cast<const char*>(Sha256(*text).data()), kHashBytes));
        return;
      }
    }
    AddText("other");
    for (const auto value :
         {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino),
          static_cast<int64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec),
          static_cast<int64_t>(info.st_mtim.tv_nsec),
          static_cast<int64_t>(info.st_ctim.tv_sec),
          static_cast<int64_t>(info.st_ctim.tv_nsec)})
      AddText(std::to_string(value));
  }

  void AddDirectory(const std::string& path, const Read& read, size_t depth) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()),
                                                      ::closedir);
    if (entries == nullptr) return AddText("unreadable");
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (entries_ + names.size() > kMaxBoundEntries) break;
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
      AddText(name);
      AddEntry(path + "/" + name, read, depth + 1);
    }
    AddText("end");
  }

  const std::vector<std::string>& writable_;
  std::string all_, text_;
  size_t named_ = 0, entries_ = 0, bytes_ = 0;
  bool too_deep_ = false;
};

}  // namespace

YesBinding BindPlaces(const std::vector<std::string>& places,
                      const std::string& home, bool auto_executed) {
  YesBinding binding;
  binding.text = " but " + ShowOpened(places, home);
  if (auto_executed)
    binding.text +=
        "; what it puts there runs, or is loaded, later and without a sandbox";
  std::string all;
  for (const std::string& place : places) all += place + '\0';
  binding.mark = Hex(Sha256(all));
  return binding;
}

YesBinding BindYes(const parser::Analysis& analysis,
                   const engine::Decision& decision,
                   const std::vector<std::string>& writable) {
  std::set<Read> reads;
  bool unknown = false;
  for (const parser::Effect& effect : analysis.effects) {
    if (!IsRead(effect.kind)) continue;
    unknown |= !effect.path.known;
    if (effect.path.text.empty()) continue;
    // What a program reads of a directory, and how deep, its description need
    // not say.
    reads.insert(effect.path.glob ? ReadOfPattern(effect.path.text)
                                  : Read{effect.path.text});
  }
  for (const parser::Invocation& invocation : analysis.invocations)
    AddWords(invocation, &reads);
  unknown |= !AddDirectories(analysis, decision, &reads);
  Marker marker(writable);
  if (unknown) {
    YesBinding none;
    none.doubt = "what it reads is only known when it runs";
    return none;
  }
  for (const Read& read : reads) marker.Add(read);
  YesBinding binding = marker.Take();
  const GitRemotes remotes = RemotesOfGit(analysis, decision);
  if (!remotes.text.empty())
    binding.text = "; git's remotes there: " + remotes.text + binding.text;
  if (!remotes.mark.empty())
    binding.mark = Hex(Sha256(binding.mark + "+" + remotes.mark));
  return binding;
}

}  // namespace gate::app
