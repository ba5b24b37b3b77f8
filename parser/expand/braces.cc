#include "parser/expand/braces.h"

#include <charconv>
#include <cstdlib>

namespace gate::parser {
namespace {

using Atoms = std::vector<BraceAtom>;

bool Is(const BraceAtom& atom, char c) {
  return atom.part == kNone && atom.c == c;
}

// What stands between a brace and the one that closes it.
struct Group {
  size_t close = std::string::npos;  // npos: nothing closes it
  bool comma = false;                // at its own level
  bool nested = false;               // braces or commas inside other braces
  // Versions of bash close it elsewhere, or take its text for something else.
  bool doubtful = false;
};

// The group that begins at `open`. Braces are counted, but bash passes over a
// closing one while it has met neither a comma nor `..` at the group's level
// (brace_gobbler in braces.c): {a}b,c} is a}b and c. A sequence that holds a
// comma inside other braces is a list up to bash 5.2 and a sequence since 5.3.
Group GroupAt(const Atoms& atoms, size_t open, size_t* work) {
  Group group;
  int depth = 0;
  bool dots = false;
  size_t i = open + 1;
  for (; i < atoms.size(); ++i) {
    if (Is(atoms[i], '{')) {
      ++depth;
      group.nested = true;
    } else if (Is(atoms[i], '}')) {
      if (depth > 0) {
        --depth;
        continue;
      }
      if (group.close == std::string::npos) group.close = i;
      if (group.comma || dots) break;
    } else if (Is(atoms[i], ',')) {
      if (depth == 0) group.comma = true;
    } else if (depth == 0 && Is(atoms[i], '.') && i + 2 < atoms.size() &&
               Is(atoms[i + 1], '.') && !Is(atoms[i + 2], '}')) {
      dots = true;
    }
  }
  *work += i - open;
  if (group.close == std::string::npos) return group;
  const bool closed_there = i == group.close;
  const bool closed_later = i < atoms.size() && !closed_there;
  group.doubtful =
      closed_later || (closed_there && !group.comma && group.nested);
  if (!closed_there) group.comma = false;
  return group;
}

bool ParseNumber(std::string_view text, int64_t* value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() &&
         !text.empty();
}

// {x..y[..step]}; false when `body` is not one.
bool ExpandSequence(const std::string& body, std::vector<std::string>* out) {
  const size_t first = body.find("..");
  if (first == std::string::npos) return false;
  const size_t second = body.find("..", first + 2);
  const std::string from = body.substr(0, first);
  const std::string to = body.substr(
      first + 2, second == std::string::npos ? second : second - first - 2);
  int64_t step = 0;
  if (second != std::string::npos &&
      !ParseNumber(body.substr(second + 2), &step))
    return false;
  int64_t low = 0;
  int64_t high = 0;
  bool letters = false;
  size_t width = 0;
  if (ParseNumber(from, &low) && ParseNumber(to, &high)) {
    const auto padded = [](const std::string& text) {
      const size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
      return text.size() > sign + 1 && text[sign] == '0';
    };
    if (padded(from) || padded(to)) width = std::max(from.size(), to.size());
  } else if (from.size() == 1 && to.size() == 1 &&
             std::isalpha(static_cast<unsigned char>(from[0])) != 0 &&
             std::isalpha(static_cast<unsigned char>(to[0])) != 0) {
    letters = true;
    low = from[0];
    high = to[0];
  } else {
    return false;
  }
  if (step == 0) step = 1;
  if (step == INT64_MIN) return false;
  step = std::abs(step);
  for (int64_t at = low;;) {
    std::string text =
        letters ? std::string(1, static_cast<char>(at)) : std::to_string(at);
    if (text.size() < width) {
      const size_t sign = text[0] == '-' ? 1 : 0;
      text.insert(sign, width - text.size(), '0');
    }
    out->push_back(std::move(text));
    if (out->size() > kMaxBraceResults) return true;
    if (low <= high) {
      if (high - at < step) break;
      at += step;
    } else {
      if (at - high < step) break;
      at -= step;
    }
  }
  return true;
}

class Expansion {
 public:
  // The results of atoms[0…], at most the bound; `complete` tells.
  std::vector<Atoms> Run(const Atoms& atoms, int depth) {
    // Unclosed braces are each looked for to the end, and every group copies
    // what stands behind it.
    work_ += atoms.size();
    if (depth > kMaxBraceGroups) complete = false;
    for (size_t open = 0; open < atoms.size(); ++open) {
      if (!Is(atoms[open], '{')) continue;
      if (!complete || work_ > kMaxBraceWork) {
        complete = false;
        return {atoms};
      }
      const Group group = GroupAt(atoms, open, &work_);
      const size_t close = group.close;
      if (close == std::string::npos) continue;
      if (group.doubtful) {
        complete = false;
        return {atoms};
      }
      std::vector<Atoms> middle;
      if (group.comma) {
        middle = Items(atoms, open, close, depth);
      } else {
        std::string body;
        bool plain = true;
        for (size_t i = open + 1; i < close; ++i) {
          plain = plain && atoms[i].part == kNone;
          body += atoms[i].c;
        }
        std::vector<std::string> texts;
        if (!plain || !ExpandSequence(body, &texts)) continue;
        for (const std::string& text : texts) {
          Atoms item;
          for (const char c : text) item.push_back({c, kNone});
          middle.push_back(std::move(item));
        }
      }
      if (!Fits(middle.size())) return {atoms};
      const auto tails =
          Run(Atoms(atoms.begin() + static_cast<std::ptrdiff_t>(close) + 1,
                    atoms.end()),
              depth + 1);
      if (!Fits(middle.size() * tails.size())) return {atoms};
      std::vector<Atoms> all;
      for (const Atoms& item : middle) {
        for (const Atoms& tail : tails) {
          Atoms one(atoms.begin(),
                    atoms.begin() + static_cast<std::ptrdiff_t>(open));
          one.insert(one.end(), item.begin(), item.end());
          one.insert(one.end(), tail.begin(), tail.end());
          all.push_back(std::move(one));
        }
      }
      return all;
    }
    return {atoms};
  }

  bool complete = true;

 private:
  bool Fits(size_t count) {
    if (count > kMaxBraceResults) complete = false;
    return complete;
  }

  size_t work_ = 0;

  std::vector<Atoms> Items(const Atoms& atoms, size_t open, size_t close,
                           int depth) {
    std::vector<Atoms> all;
    int level = 0;
    Atoms item;
    const auto finish = [&] {
      for (Atoms& one : Run(item, depth + 1)) all.push_back(std::move(one));
      item.clear();
    };
    for (size_t i = open + 1; i < close; ++i) {
      if (Is(atoms[i], '{')) ++level;
      if (Is(atoms[i], '}')) --level;
      if (Is(atoms[i], ',') && level == 0) {
        finish();
        if (!Fits(all.size())) return all;
        continue;
      }
      item.push_back(atoms[i]);
    }
    finish();
    return all;
  }
};

}  // namespace

bool ExpandBraceAtoms(const std::vector<BraceAtom>& atoms,
                      std::vector<std::vector<BraceAtom>>* out) {
  Expansion expansion;
  *out = expansion.Run(atoms, 0);
  return expansion.complete;
}

}  // namespace gate::parser
