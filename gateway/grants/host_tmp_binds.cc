#include "gateway/grants/host_tmp_binds.h"

#include <algorithm>
#include <string_view>

#include "base/paths.h"

namespace gate::app {
namespace {

using parser::Effect;
using parser::EffectKind;

bool OnlyLooks(EffectKind kind) {
  return kind == EffectKind::kRead || kind == EffectKind::kExecuteFile;
}

bool Meet(std::string_view a, std::string_view b) {
  return IsWithin(a, b) || IsWithin(b, a);
}

// Credentials that programs keep in /tmp unless they are told otherwise:
// Kerberos (krb5.conf(5), default_ccache_name), xauth(1) and display managers,
// grid-proxy-init(1), ssh-agent(1), gpg-agent(1).
bool IsCredential(std::string_view path) {
  static constexpr std::string_view kBeginnings[] = {
      "krb5cc", "tkt", "xauth", ".xauth", ".Xauth", "x509up_u", "ssh-", "gpg-"};
  for (; IsTemporaryPlace(path) && path.size() > 1; path = DirName(path))
    for (const std::string_view begin : kBeginnings)
      if (BaseName(path).starts_with(begin)) return true;
  return false;
}

}  // namespace

std::vector<std::string> HostTmpBinds(const parser::Analysis& analysis,
                                      const std::string& workspace) {
  std::vector<std::string> places;
  for (const Effect& effect : analysis.effects) {
    const std::string& path = effect.path.text;
    if (!OnlyLooks(effect.kind) || !effect.path.known || effect.path.glob ||
        !IsTemporaryPlace(DirName(path)) || IsCredential(path) ||
        (!workspace.empty() && Meet(path, workspace)) ||
        std::ranges::find(places, path) != places.end())
      continue;
    places.push_back(path);
    if (places.size() == kMaxHostTmpBinds) break;
  }
  std::erase_if(places, [&](const std::string& place) {
    return std::ranges::any_of(analysis.effects, [&](const Effect& effect) {
      if (OnlyLooks(effect.kind)) return false;
      for (const parser::Argument* at : {&effect.path, &effect.target})
        if (at->known && !at->text.empty() && Meet(at->text, place))
          return true;
      return false;
    });
  });
  return places;
}

}  // namespace gate::app
