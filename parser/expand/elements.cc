// Several elements at once: $@, $*, ${a[@]} and their keys.
#include <algorithm>
#include <cstdint>

#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

// bash keeps an associative array in 1024 buckets by this hash (hashlib.c) and
// lists them in their order. Two keys in one bucket stand in the order of
// their assignment, which is not kept here.
constexpr size_t kBuckets = 1024;
constexpr size_t kRehashAt = 2 * kBuckets;

size_t Bucket(std::string_view key) {
  uint32_t hash = 2166136261u;
  for (const char c : key) {
    hash *= 16777619u;
    hash ^= static_cast<uint32_t>(static_cast<int32_t>(c));
  }
  return hash & (kBuckets - 1);
}

}  // namespace

std::vector<const std::string*> BashOrder(
    const std::map<std::string, Values>& table, bool* known) {
  std::vector<std::pair<size_t, const std::string*>> keys;
  for (const auto& [key, values] : table) keys.emplace_back(Bucket(key), &key);
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  *known = keys.size() < kRehashAt;
  std::vector<const std::string*> order;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0 && keys[i].first == keys[i - 1].first) *known = false;
    order.push_back(keys[i].second);
  }
  return order;
}

Elements ElementsOf(Expander& x, const std::string& name) {
  Elements elements;
  if (name == "@" || name == "*") {
    elements.values = x.state.positional;
    elements.unknown = x.state.positional_unknown;
    return elements;
  }
  const Special& special = FindSpecial(name);
  const Variable* variable = FindVariable(x.state, name);
  if (variable == nullptr || special.kind == SpecialKind::kText ||
      special.kind == SpecialKind::kNumbers) {
    elements.unknown = true;
    return elements;
  }
  elements.unknown = variable->unknown_elements || variable->maybe_unset;
  const auto add = [&elements](const Values& values, std::string key) {
    elements.values.push_back(values);
    elements.keys.push_back({Value::Of(std::move(key))});
  };
  switch (variable->shape) {
    case Variable::Shape::kScalar:
      if (!variable->scalar.empty()) add(GetVariable(x, name), "0");
      break;
    case Variable::Shape::kIndexed:
      for (const auto& [index, values] : variable->indexed)
        add(values, std::to_string(index));
      break;
    case Variable::Shape::kAssociative: {
      bool known = true;
      for (const std::string* key : BashOrder(variable->associative, &known))
        add(variable->associative.at(*key), *key);
      if (!known) elements.unknown = true;
      break;
    }
  }
  return elements;
}

Alternatives ElementPieces(Expander& x, const std::vector<Values>& values,
                           bool uncertain, bool star, bool quoted,
                           bool assigning, Span span) {
  const Value unknown = Value::Unknown(UnknownCode::kDynamicArgument, span);
  const bool spent = !x.host.Spend(values.size());
  if (uncertain || spent) {
    const bool one = assigning || (star && quoted);
    Alternatives all;
    // Where a branch alone set them, they are what it set, or anything.
    if (!spent && !values.empty() &&
        std::all_of(values.begin(), values.end(), [](const Values& value) {
          return value.size() == 1 && value[0].known();
        }))
      all = ElementPieces(x, values, false, star, quoted, assigning, span);
    all.push_back({{Piece::Kind::kText, unknown, quoted && one, !one, span}});
    return all;
  }
  std::string separator = " ";
  bool separator_known = true;
  const bool joined = assigning || (star && quoted);
  // Unquoted, they are joined by the first character of IFS and split again,
  // so that empty ones stay unless it is a blank. An empty IFS keeps them
  // apart.
  bool resplit = !joined && !quoted;
  if (star || resplit) {
    const auto ifs = CurrentIfs(x.state);
    separator_known = ifs.has_value();
    if (ifs) separator = ifs->substr(0, 1);
    resplit = resplit && ifs && !ifs->empty();
  }
  Alternatives all{{}};
  bool first = true;
  for (const Values& value : values) {
    if (!first) {
      Piece between;
      between.span = span;
      between.quoted = quoted || joined;
      if (joined || resplit) {
        between.value = separator_known ? Value::Of(separator) : unknown;
        between.split = resplit;
      } else {
        between.kind = Piece::Kind::kBreak;
      }
      AppendAlternatives(&all, {{between}});
    }
    first = false;
    Alternatives one;
    for (const Value& v : value)
      one.push_back(
          {{Piece::Kind::kText, v, quoted, !quoted && !assigning, span}});
    AppendAlternatives(&all, one);
  }
  if (values.empty() && quoted) {
    // "$*" without parameters is an empty field; "$@" is none.
    const auto kind = joined ? Piece::Kind::kText : Piece::Kind::kNothing;
    AppendAlternatives(&all, {{{kind, Value{}, true, false, span}}});
  }
  return all;
}

bool SliceElements(Expander& x, const std::optional<int64_t>& offset,
                   const std::optional<int64_t>& length, bool positional,
                   Elements* elements) {
  if (!offset || !length || elements->unknown) return false;
  if (*length < 0) {
    x.host.Fail(x.state);  // substring expression < 0
    return false;
  }
  std::vector<std::pair<int64_t, Values>> numbered;
  int64_t size = 0;
  if (positional) {
    numbered.emplace_back(0, x.state.zero);
    for (const Values& value : elements->values)
      numbered.emplace_back(++size, value);
    ++size;
  } else {
    for (size_t i = 0; i < elements->values.size(); ++i) {
      const int64_t key = std::stoll(std::string(elements->keys[i][0].text()));
      numbered.emplace_back(key, elements->values[i]);
      size = key + 1;
    }
  }
  const int64_t from = *offset < 0 ? size + *offset : *offset;
  std::vector<Values> kept;
  if (from >= 0)
    for (const auto& [index, value] : numbered)
      if (index >= from && static_cast<int64_t>(kept.size()) < *length)
        kept.push_back(value);
  elements->values = std::move(kept);
  elements->keys.clear();
  return true;
}

}  // namespace gate::parser
