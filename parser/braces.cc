#include "parser/braces.h"

#include <charconv>
#include <cstdlib>

namespace gate::parser {
namespace {

using Atoms = std::vector<BraceAtom>;

bool Is(const BraceAtom& atom, char c) {
  return atom.part == kNone && atom.c == c;
}

// The brace that closes the one at `open`; npos when there is none. `comma`
// tells whether a comma stands between them at their own level.
size_t CloseOf(const Atoms& atoms, size_t open, bool* comma, size_t* work) {
  int depth = 0;
  *comma = false;
  for (size_t i = open; i < atoms.size(); ++i) {
    if (Is(atoms[i], '{')) ++depth;
    if (Is(atoms[i], ',') && depth == 1) *comma = true;
    if (Is(atoms[i], '}') && --depth == 0) {
      *work += i - open;
      return i;
    }
  }
  *work += atoms.size() - open;
  return std::string::npos;
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
      bool comma = false;
      const size_t close = CloseOf(atoms, open, &comma, &work_);
      if (close == std::string::npos) continue;
      std::vector<Atoms> middle;
      if (comma) {
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

std::vector<std::string> ExpandBraces(std::string_view text) {
  std::vector<BraceAtom> atoms;
  for (const char c : text) atoms.push_back({c, kNone});
  std::vector<std::vector<BraceAtom>> results;
  ExpandBraceAtoms(atoms, &results);
  std::vector<std::string> texts;
  for (const auto& result : results) {
    std::string one;
    for (const BraceAtom& atom : result) one += atom.c;
    texts.push_back(std::move(one));
  }
  return texts;
}

}  // namespace gate::parser
