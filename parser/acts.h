// What a program's description says that its arguments do beyond this machine,
// and to what other place or identity they lead (docs/programs.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gate::parser {

enum class Act : uint8_t {
  kLook,     // asks, changes nothing
  kLocal,    // works only with files here, needs no credential
  kChange,   // changes what others see, or a service
  kSecret,   // prints or hands out a credential or secret value
  kCode,     // runs code of the workspace, or code that it downloads
  kLogin,    // changes who one is
  kUnknown,  // the description does not say what this does
};
inline constexpr int kActKinds = 7;

// What an option, operand or value points the program to.
enum class RedirectTo : uint8_t {
  kEndpoint,       // another place that it talks to
  kAccount,        // somebody else
  kContext,        // another of its contexts
  kConfiguration,  // other settings
  kPlugin,         // code that it loads
  kCertificates,   // other certificates, or no check of them
  kFile,           // a file that is read or written with its rights
};
inline constexpr int kRedirectKinds = 7;

// As descriptions and rules spell them ("look", "endpoint").
const char* Name(Act act);
const char* Name(RedirectTo redirect);
// nullopt: there is none of this name.
std::optional<Act> ActOf(std::string_view name);
std::optional<RedirectTo> RedirectOf(std::string_view name);

constexpr uint16_t Bit(Act act) {
  return static_cast<uint16_t>(1u << static_cast<unsigned>(act));
}
constexpr uint16_t Bit(RedirectTo redirect) {
  return static_cast<uint16_t>(1u << static_cast<unsigned>(redirect));
}

// The acts of one invocation, as sets of bits. When `described`, `possible` is
// never empty: where nothing is said it has kUnknown.
struct ActsRead {
  bool described = false;  // the description speaks of the program's acts
  // An unknown word or a pattern stands where it may become any option.
  bool hides_options = false;
  uint16_t certain = 0;   // of Act; in every reading of the words
  uint16_t possible = 0;  // of Act; `certain` is among them
  // Which RedirectTo words that are there may do; what options may do that
  // are not seen but may be hidden (`hides_options`) is not among them.
  uint16_t redirects = 0;

  friend bool operator==(const ActsRead&, const ActsRead&) = default;
};

// `acts` or `other`, one of which holds: another reading of the same words, or
// another run of the same command.
void MayBe(const ActsRead& other, ActsRead* acts);

}  // namespace gate::parser
