// The URLs that curl makes of one URL with `{a,b}` and `[1-9:2]`, as far as
// they name hosts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gate {

// More machines than this are not asked by one URL of ordinary work.
inline constexpr size_t kMaxGlobbedHosts = 512;

// `url` with its sets and ranges (curl(1), "URL") replaced by what they stand
// for, up to the end of the host: globs behind it stay as they are. A URL
// without globs, or with one that curl would refuse, is itself; brackets around
// an IPv6 address are none. Empty: it names more than kMaxGlobbedHosts hosts,
// or is too long to say, and which ones is not known. Pure; reads at most two
// megabytes beside `url` itself.
std::vector<std::string> HostGlobs(std::string_view url);

}  // namespace gate
