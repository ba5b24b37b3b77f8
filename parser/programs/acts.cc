// Names of acts, and joining them.

#include "parser/acts.h"

#include <iterator>

namespace gate::parser {
namespace {

constexpr const char* kActNames[] = {"look", "local", "change", "secret",
                                     "code", "login", "unknown"};
static_assert(std::size(kActNames) == kActKinds);
constexpr const char* kRedirectNames[] = {
    "endpoint", "account",      "context", "configuration",
    "plugin",   "certificates", "file"};
static_assert(std::size(kRedirectNames) == kRedirectKinds);

}  // namespace

const char* Name(Act act) { return kActNames[static_cast<size_t>(act)]; }

const char* Name(RedirectTo redirect) {
  return kRedirectNames[static_cast<size_t>(redirect)];
}

std::optional<Act> ActOf(std::string_view name) {
  for (int k = 0; k < kActKinds; ++k)
    if (name == kActNames[k]) return static_cast<Act>(k);
  return std::nullopt;
}

std::optional<RedirectTo> RedirectOf(std::string_view name) {
  for (int k = 0; k < kRedirectKinds; ++k)
    if (name == kRedirectNames[k]) return static_cast<RedirectTo>(k);
  return std::nullopt;
}

void MayBe(const ActsRead& other, ActsRead* acts) {
  acts->certain &= other.certain;
  acts->possible |= other.possible;
  acts->redirects |= other.redirects;
  acts->described |= other.described;
  acts->hides_options |= other.hides_options;
}

}  // namespace gate::parser
