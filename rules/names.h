// The names that rule files use for effects, flows, unknowns, severities,
// profiles and networks. They equal what parser::Name() prints; a test holds
// the two together.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace gate::rules {

// Parallel to parser::EffectKind, parser::FlowKind, parser::UnknownCode,
// parser::Act and parser::RedirectTo.
std::span<const std::string_view> EffectNames();
std::span<const std::string_view> FlowNames();
std::span<const std::string_view> UnknownNames();
std::span<const std::string_view> ActNames();
std::span<const std::string_view> RedirectNames();

// Each list starts with "" for "not said".
std::span<const std::string_view> SeverityNames();  // "", low … critical
// What the yes to a question needs: "", sandbox, places, as-is, by-hand.
std::span<const std::string_view> YesNames();
// What lifts a shipped sandbox rule: "" and allow, a person's allow rule for
// the command; except, only one that names the rule.
std::span<const std::string_view> LiftNames();
// What the yes to a question holds for besides: "", directory.
std::span<const std::string_view> BindsNames();
// Parallel to ProfileKind and NetworkAccess (rules/profile.h).
std::span<const std::string_view> ProfileNames();  // "", read-only …
std::span<const std::string_view> NetworkNames();  // "", none … open

// The position of `name` in `names`.
std::optional<size_t> FindName(std::span<const std::string_view> names,
                               std::string_view name);

// Whether the program runs what it is given (shells, interpreters, wrappers):
// a rule that lets it through lets everything through.
bool RunsWhatItIsGiven(std::string_view program);

}  // namespace gate::rules
