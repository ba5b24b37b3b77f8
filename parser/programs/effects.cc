// Parsing of the descriptions' strings. Everything is refused that is not
// understood: a description that says nothing must not look as if it did.

#include "parser/programs/effects.h"

#include <algorithm>
#include <charconv>

#include "parser/programs.h"

namespace gate::parser::programs {
namespace {

constexpr std::pair<std::string_view, uint32_t> kFlagNames[] = {
    {"posix", Node::kPosix},
    {"single", Node::kSingle},
    {"no-bundle", Node::kNoBundle},
    {"no-dashes", Node::kNoDashes},
    {"plus", Node::kPlus},
    {"old-style", Node::kOldStyle},
    {"assignments", Node::kAssignments},
    {"interleaved", Node::kAssignments | Node::kInterleaved},
    {"loose", Node::kLoose},
    {"inherits", Node::kInherits},
    {"open", Node::kOpen},
    {"versions", Node::kVersions},
    {"no-abbreviation", Node::kNoAbbreviation},
};

bool ParseNumber(std::string_view text, int32_t* value) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() &&
         !text.empty();
}

// "*", "3", "2..", "1..-2", "-1", "--"; false when `text` is no range.
bool ParseRange(std::string_view text, EffectRecord* effect) {
  if (text == "--") {
    effect->flags |= EffectRecord::kAfterDashes;
    return true;
  }
  if (text == "*") {
    effect->flags |= EffectRecord::kRange;
    return true;
  }
  const size_t dots = text.find("..");
  int32_t from = 0, to = 0;
  if (!ParseNumber(text.substr(0, dots), &from) || from == 0) return false;
  if (dots == std::string_view::npos) {
    to = from;
  } else if (dots + 2 == text.size()) {
    to = -1;
  } else if (!ParseNumber(text.substr(dots + 2), &to) || to == 0) {
    return false;
  }
  effect->from = from;
  effect->to = to;
  effect->flags |= EffectRecord::kRange;
  return true;
}

std::string Lines(std::string_view comma_separated) {
  std::string text(comma_separated);
  for (char& c : text) {
    if (c == ',') c = '\n';
  }
  return text;
}

Result<Term> ParseTerm(std::string_view text, const EffectContext& context) {
  Term term;
  if (text.starts_with('!')) {
    term.negated = 1;
    text.remove_prefix(1);
  }
  const std::string whole(text);
  if (text.starts_with('#')) {
    term.kind = Term::kOperands;
    if (text.size() < 3 ||
        (text[1] != '=' && text[1] != '<' && text[1] != '>') ||
        !ParseNumber(text.substr(2), &term.number)) {
      return Fail(ErrorCode::kInvalid, "bad condition `" + whole + "`");
    }
    term.op = text[1];
    return term;
  }
  const size_t equals = text.find('=', 1);
  if (text.starts_with('@')) {
    term.kind = Term::kOperandValue;
    const std::string_view number = text.substr(1, equals - 1);
    if (equals == std::string_view::npos ||
        (number != "*" && !ParseNumber(number, &term.number))) {
      return Fail(ErrorCode::kInvalid, "bad condition `" + whole + "`");
    }
    term.values = context.writer->Text(Lines(text.substr(equals + 1)));
    return term;
  }
  term.kind = Term::kOption;
  term.option = context.lookup(text);
  if (term.option == kNone && equals != std::string_view::npos) {
    term.kind = Term::kOptionValue;
    term.option = context.lookup(text.substr(0, equals));
    term.values = context.writer->Text(Lines(text.substr(equals + 1)));
  }
  if (term.option == kNone) {
    return Fail(
        ErrorCode::kInvalid,
        "condition names an option that is not described: `" + whole + "`");
  }
  return term;
}

}  // namespace

uint32_t FlagOf(std::string_view word) {
  for (const auto& [name, bits] : kFlagNames)
    if (name == word) return bits;
  return 0;
}

int ParseRole(std::string_view name) {
  for (int r = 0; r < kRoles; ++r) {
    if (name == Name(static_cast<Role>(r))) return r;
  }
  return kRoles;
}

std::vector<std::string> SplitTokens(std::string_view text) {
  std::vector<std::string> tokens;
  std::string token;
  char until = '\0';
  for (const char c : text) {
    if (until != '\0') {
      token += c;
      if (c == until) until = '\0';
      continue;
    }
    if (c == ' ') {
      if (!token.empty()) tokens.push_back(std::move(token));
      token.clear();
      continue;
    }
    if (c == '\'') until = '\'';
    if (c == '<' && (token.empty() || token == "!")) {
      until = '>';
    }
    token += c;
  }
  if (!token.empty()) tokens.push_back(std::move(token));
  return tokens;
}

Result<Condition> ParseCondition(std::span<const std::string> tokens,
                                 const EffectContext& context) {
  std::vector<Term> terms;
  bool begins = true;
  for (const std::string& token : tokens) {
    if (token == "|") {
      begins = true;
      continue;
    }
    GATE_TRY(Term term, ParseTerm(token, context));
    term.begins = begins ? 1 : 0;
    begins = false;
    terms.push_back(term);
  }
  Condition condition;
  condition.begin = static_cast<uint32_t>(context.terms->size());
  condition.count = static_cast<uint32_t>(terms.size());
  context.terms->insert(context.terms->end(), terms.begin(), terms.end());
  return condition;
}

Result<EffectRecord> ParseEffect(const std::vector<std::string>& tokens,
                                 const EffectContext& context) {
  EffectRecord effect;
  effect.role = kRoles;
  for (size_t k = 0; k < tokens.size(); ++k) {
    const std::string& token = tokens[k];
    if (effect.role == kRoles && effect.flags == 0 &&
        ParseRange(token, &effect)) {
      continue;
    }
    if (effect.role == kRoles) {
      const size_t colon = token.find(':');
      const int role = ParseRole(std::string_view(token).substr(0, colon));
      if (role == kRoles) {
        return Fail(ErrorCode::kInvalid, "no such role `" + token + "`");
      }
      effect.role = static_cast<uint32_t>(role);
      if (colon != std::string::npos) {
        effect.detail = context.writer->Text(token.substr(colon + 1));
      }
      // What nobody has a name for must not look as if it were described.
      const std::string_view detail =
          colon == std::string::npos
              ? ""
              : std::string_view(token).substr(colon + 1);
      const auto act = ActOf(detail);
      if ((static_cast<Role>(role) == Role::kAct &&
           (!act || *act == Act::kUnknown)) ||
          (static_cast<Role>(role) == Role::kRedirects && !RedirectOf(detail)))
        return Fail(ErrorCode::kInvalid, "no such detail in `" + token + "`");
      continue;
    }
    if (token == "recursive") {
      effect.flags |= EffectRecord::kRecursive;
    } else if (token == "possible") {
      effect.flags |= EffectRecord::kPossible;
    } else if (token == "last") {
      effect.flags |= EffectRecord::kLast;
    } else if (token == "append") {
      effect.flags |= EffectRecord::kAppend;
    } else if (token == "stdin") {
      effect.flags |= EffectRecord::kStdin;
    } else if (token == "join") {
      effect.flags |= EffectRecord::kJoin;
    } else if (token == "plain") {
      effect.flags |= EffectRecord::kVerbatim;
    } else if (token == "coded") {
      effect.flags |= EffectRecord::kCoded;
    } else if (token.starts_with("placeholder=")) {
      const std::string_view value = std::string_view(token).substr(12);
      const uint32_t option = context.lookup(value);
      if (option != kNone) {
        effect.placeholder_option = option;
      } else {
        effect.placeholder = context.writer->Text(value);
      }
    } else if (token.starts_with("first=")) {
      effect.first_option = context.lookup(std::string_view(token).substr(6));
      if (effect.first_option == kNone) {
        return Fail(ErrorCode::kInvalid, "no such option in `" + token + "`");
      }
    } else if (token.starts_with("named=")) {
      effect.naming =
          static_cast<uint32_t>(ParseNaming(std::string_view(token).substr(6)));
      if (effect.naming == 0) {
        return Fail(ErrorCode::kInvalid, "no such naming in `" + token + "`");
      }
    } else if (token.starts_with("in=")) {
      effect.in_option =
          token == "in=-1" ? kLastOperand : context.lookup(token.substr(3));
      if (effect.in_option == kNone) {
        return Fail(ErrorCode::kInvalid, "no such option in `" + token + "`");
      }
    } else if (token.size() >= 2 && token.front() == '\'' &&
               token.back() == '\'') {
      effect.flags |= EffectRecord::kLiteral;
      effect.literal = context.writer->Text(token.substr(1, token.size() - 2));
    } else if (token.ends_with('>') && token.find('<') <= 1) {
      std::string_view pattern = token;
      if (pattern.starts_with('!')) {
        effect.flags |= EffectRecord::kNegative;
        pattern.remove_prefix(1);
      }
      if (!pattern.starts_with('<')) {
        return Fail(ErrorCode::kInvalid, "bad pattern `" + token + "`");
      }
      pattern = pattern.substr(1, pattern.size() - 2);
      if (pattern.starts_with("i:")) {
        effect.flags |= EffectRecord::kIgnoreCase;
        pattern.remove_prefix(2);
      }
      effect.pattern = context.writer->Text(pattern);
    } else if (token == "if") {
      GATE_TRY(
          effect.when,
          ParseCondition(std::span<const std::string>(tokens).subspan(k + 1),
                         context));
      if (effect.when.count == 0) {
        return Fail(ErrorCode::kInvalid, "`if` without a condition");
      }
      return effect;
    } else {
      return Fail(ErrorCode::kInvalid, "unknown word `" + token + "`");
    }
  }
  if (effect.role == kRoles) {
    return Fail(ErrorCode::kInvalid, "no role");
  }
  return effect;
}

Result<SpecialSpec> ParseSpecial(std::string_view text, uint8_t kind) {
  SpecialSpec spec;
  const size_t equals = std::min(text.find('='), text.size());
  spec.name = text.substr(0, equals);
  if (equals < text.size()) spec.values = Lines(text.substr(equals + 1));
  spec.kind = kind;
  if (spec.name.size() < 2 || (spec.name[0] != '-' && spec.name[0] != '+') ||
      (equals < text.size() && spec.values.empty()))
    return Fail(ErrorCode::kInvalid,
                "expected an option: `" + std::string(text) + "`");
  if (kind == Option::kHelp &&
      (spec.name == "--version" || spec.name == "-version" ||
       spec.name == "-v" || spec.name == "-V"))
    spec.kind = Option::kVersion;
  return spec;
}

bool ChildBefore(std::string_view a, std::string_view b) {
  const size_t star_a = a.find('*'), star_b = b.find('*');
  const bool exact_a = star_a == std::string_view::npos;
  const bool exact_b = star_b == std::string_view::npos;
  if (exact_a != exact_b) return exact_a;
  if (!exact_a && star_a != star_b) return star_a > star_b;
  if (!exact_a && a.size() != b.size()) return a.size() > b.size();
  return a < b;
}

// Arity stands behind the names: nothing, `=`, `[=]`, `[=9]` digits only,
// `=>` never attached, `=2` several, `=;` a list, `=$` spliced. A `.` at the
// end: all that follows is operands.
Result<OptionSpec> ParseOptionSpec(std::string_view text) {
  OptionSpec spec;
  std::string_view names = text;
  const auto invalid = [&] {
    return Fail(ErrorCode::kInvalid, "bad option `" + std::string(text) + "`");
  };
  if (names.size() > 1 && names.ends_with('.')) {
    spec.option.stops = 1;
    names.remove_suffix(1);
  }
  const auto ends = [&](std::string_view tail, uint8_t arity) {
    if (!names.ends_with(tail) || names.size() <= tail.size()) return false;
    names.remove_suffix(tail.size());
    spec.option.arity = arity;
    return true;
  };
  const bool known = ends("[=]", Option::kOptional) ||
                     ends("[=9]", Option::kOptionalDigits) ||
                     ends("=>", Option::kSeparate) ||
                     ends("=;", Option::kList) || ends("=", Option::kRequired);
  if (!known && ends("=$", Option::kRequired)) {
    spec.option.splices = 1;
  } else if (!known && names.size() > 2 && names[names.size() - 2] == '=' &&
             names.back() >= '2' && names.back() <= '9') {
    spec.option.arity = Option::kSeveral;
    spec.option.count = static_cast<uint8_t>(names.back() - '0');
    names.remove_suffix(2);
  }
  while (true) {
    // `,` alone is a token of find's expressions.
    const size_t comma =
        names.size() == 1 ? std::string_view::npos : names.find(',');
    const std::string_view name = names.substr(0, comma);
    if (name.empty()) return invalid();
    spec.names.emplace_back(name);
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  return spec;
}

}  // namespace gate::parser::programs
