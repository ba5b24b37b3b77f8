// Paths as text, and the places gate keeps things.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gate {

// `path` made absolute against `cwd` and lexically normalised: no "//", ".",
// "..", no final slash (but "/"). Does not look at the file system.
std::string Normalise(std::string_view path, std::string_view cwd);

// True when `path` is `directory` or below it; both normalised.
bool IsWithin(std::string_view path, std::string_view directory);

// Whether `path`, normalised, is one of the directories in which any process of
// the machine may make files, or below one: /tmp, /var/tmp, /dev/shm.
bool IsTemporaryPlace(std::string_view path);

// Text after the last slash, and before it ("." when there is none).
std::string_view BaseName(std::string_view path);
std::string_view DirName(std::string_view path);
// `name` in `directory`, which may be "/" and otherwise has no final slash.
std::string JoinPath(std::string_view directory, std::string_view name);

// The home directory of `user` by /etc/passwd; read directly, since a static
// binary has no NSS. Empty optional when there is none.
std::optional<std::string> HomeOf(std::string_view user);
// The home directory of a uid, by the same file.
std::optional<std::string> HomeOfUid(unsigned uid);
// The name of a uid, likewise.
std::optional<std::string> UserName(unsigned uid);

// Where gate's files are: see "Places" in docs/architecture.md. `home` comes
// from $HOME when that is absolute, else from /etc/passwd for the real uid,
// else it is "/". All are normalised.
struct Places {
  std::string home;
  std::string config;  // $XDG_CONFIG_HOME/gate or ~/.config/gate
  std::string state;   // $XDG_STATE_HOME/gate or ~/.local/state/gate
  std::string cache;   // $XDG_CACHE_HOME/gate or ~/.cache/gate
  std::string system = "/etc/gate";
};

// Reads the environment. Relative XDG values are ignored, as the XDG base
// directory specification says.
Places FindPlaces();

}  // namespace gate
