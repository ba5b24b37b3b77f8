// Hosts and URLs: a normal form is its own normal form, what is only possible
// is an IPv4 address that is not this machine, and readings stay few, also
// those of curl's globs.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/host.h"
#include "base/url_globs.h"
#include "fuzz/require.h"

namespace {

void Check(std::string_view text) {
  const gate::HostForms forms = gate::NormaliseHost(text);
  Require(forms.also.size() <= 4);
  for (const std::string& also : forms.also) {
    const gate::HostForms again = gate::NormaliseHost(also);
    Require(again.is_address && again.normal == also);
    Require(!gate::IsLoopback(also));
  }
  if (!forms.is_address) return;
  const gate::HostForms again = gate::NormaliseHost(forms.normal);
  Require(again.is_address && again.normal == forms.normal);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(text);
  for (const bool whole : {true, false}) {
    const auto hosts = gate::HostsOfUrl(text, whole);
    Require(!hosts.empty() && hosts.size() <= 2);
    for (const gate::UrlHost& each : hosts) {
      Require(each.port >= 0 && each.port <= 65535);
      Check(each.host);
    }
  }
  const auto globbed = gate::HostGlobs(text);
  Require(globbed.size() <= gate::kMaxGlobbedHosts);
  if (text.find_first_of("{[\\") == std::string_view::npos)
    Require(globbed.size() == 1 && globbed[0] == text);
  return 0;
}
