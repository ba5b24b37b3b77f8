// Later rules win over earlier ones, so the general comes first: everything
// readable, then hidden places and what shows in them from the outside in,
// then the roots, then what is protected in them.
#include <algorithm>
#include <string_view>

#include "backends/seatbelt/seatbelt.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

// What every program needs and what gives it nothing.
constexpr std::string_view kBase = R"((version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "vm.loadavg"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read*)
(allow file-write-data
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/tty"))
(allow file-ioctl
  (literal "/dev/tty"))
)";

// The network is the host's, but its local sockets are not: whoever listens
// there takes orders from the user.
constexpr std::string_view kOpenNetwork = R"((allow network-outbound
  (remote ip))
(allow network-inbound
  (local ip))
(allow network-bind
  (local ip))
(allow network-outbound
  (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))
(allow system-socket)
)";

Status Check(const std::string& path) {
  if (!path.starts_with('/'))
    return Fail(ErrorCode::kInvalid, "`" + path + "` is not absolute");
  if (!IsUtf8(path))
    return Fail(ErrorCode::kInvalid, "a path that is not UTF-8");
  for (const char c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return Fail(ErrorCode::kInvalid, "a path with a control character in it");
  return {};
}

std::string Rule(const char* verb, const char* what, const std::string& where) {
  return std::string("(") + verb + " " + what + " " + where + ")\n";
}

std::string Subpath(const std::string& path) {
  return "(subpath " + SeatbeltString(path) + ")";
}

// `path` and all below it, in any case.
std::string AnyCase(const std::string& path) {
  return "(regex " + SeatbeltString("^" + SeatbeltPattern(path) + "(/.*)?$") +
         ")";
}

// `name` at any depth below `root`, and all below it.
std::string AnyDepth(const std::string& root, const std::string& name) {
  const std::string start = root == "/" ? "" : SeatbeltPattern(root);
  return "(regex " +
         SeatbeltString("^" + start + "/(.*/)?" + SeatbeltPattern(name) +
                        "(/.*)?$") +
         ")";
}

// The directories on the way from `root` to `path`, which stay where they are.
void Pin(const std::string& root, const std::string& path, std::string* out) {
  for (std::string at(DirName(path)); IsWithin(at, root) && at.size() > 1;
       at = std::string(DirName(at)))
    *out +=
        Rule("deny", "file-write-unlink",
             "(regex " + SeatbeltString("^" + SeatbeltPattern(at) + "$") + ")");
}

long Depth(const std::string& path) {
  return path == "/" ? 0 : std::count(path.begin(), path.end(), '/');
}

}  // namespace

std::string SeatbeltString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string SeatbeltPattern(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
    if (lower || upper) {
      const char big = lower ? static_cast<char>(c - 'a' + 'A') : c;
      const char small = lower ? c : static_cast<char>(c - 'A' + 'a');
      out += {'[', big, small, ']'};
      continue;
    }
    if (std::string_view("\\^$.|?*+()[{").find(c) != std::string_view::npos)
      out += '\\';
    out += c;
  }
  return out;
}

Result<std::string> SeatbeltProfile(const SeatbeltInputs& inputs) {
  for (const auto* list :
       {&inputs.write, &inputs.hidden, &inputs.shown, &inputs.protect})
    for (const std::string& path : *list) GATE_CHECK(Check(path));
  for (const std::string& name : inputs.names) GATE_CHECK(Check("/" + name));

  std::string out(kBase);
  struct Place {
    std::string path;
    bool hidden;
  };
  std::vector<Place> places;
  for (const std::string& path : inputs.hidden) places.push_back({path, true});
  for (const auto* list : {&inputs.shown, &inputs.write})
    for (const std::string& path : *list) places.push_back({path, false});
  // Of the same path the hidden one comes last.
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    const long left = Depth(a.path), right = Depth(b.path);
    if (left != right) return left < right;
    return a.hidden != b.hidden ? b.hidden : a.path < b.path;
  });
  for (const Place& place : places) {
    out += place.hidden ? Rule("deny", "file-read*", AnyCase(place.path))
                        : Rule("allow", "file-read*", Subpath(place.path));
    // Else nothing behind it could be reached.
    if (place.hidden)
      out += Rule("allow", "file-read-metadata",
                  "(literal " + SeatbeltString(place.path) + ")");
  }
  for (const std::string& root : inputs.write)
    out += Rule("allow", "file-write*", Subpath(root));
  // A set-user-id file would hand the caller's identity to whoever starts it.
  out += "(deny file-write-setugid)\n";
  for (const std::string& path : inputs.hidden) {
    const bool above = std::ranges::any_of(inputs.write, [&](const auto& root) {
      return root != path && IsWithin(root, path);
    });
    if (!above) out += Rule("deny", "file-write*", AnyCase(path));
    for (const std::string& root : inputs.write) Pin(root, path, &out);
  }
  for (const std::string& root : inputs.write) {
    for (const std::string& name : inputs.names) {
      out += Rule("deny", "file-write*", AnyDepth(root, name));
      // `.git` of `.git/hooks`, wherever it is.
      for (std::string at(DirName(name)); at != "." && at != "/";
           at = std::string(DirName(at))) {
        const std::string start = root == "/" ? "" : SeatbeltPattern(root);
        out += Rule("deny", "file-write-unlink",
                    "(regex " +
                        SeatbeltString("^" + start + "/(.*/)?" +
                                       SeatbeltPattern(at) + "$") +
                        ")");
      }
    }
  }
  for (const std::string& path : inputs.protect) {
    out += Rule("deny", "file-write*", AnyCase(path));
    for (const std::string& root : inputs.write) Pin(root, path, &out);
  }
  if (inputs.network == Network::kOpen) out += kOpenNetwork;
  return out;
}

}  // namespace gate::backends
