// Assignments: name=word, name[subscript]=word, name=(…).
#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

// The variable that is assigned to; empty (and noted) when it is not known.
std::string TargetName(Expander& x, const Assignment& assignment) {
  std::string name = ResolveReference(x.state, assignment.name);
  // To all elements, a list, an element of an element: bash ends the line.
  const bool through_element = name.find('[') != std::string::npos;
  if (name.empty() || (through_element &&
                       (assignment.is_array || assignment.subscript != kNone ||
                        name.ends_with("[@]") || name.ends_with("[*]"))))
    x.host.Note(UnknownCode::kUnmodelled, assignment.span, "a name reference");
  return name;
}

void CheckReadonly(Expander& x, const std::string& name) {
  const Variable* variable = FindVariable(x.state, name);
  if ((variable != nullptr &&
       (variable->readonly || variable->maybe_readonly)) ||
      FindSpecial(name).readonly)
    x.host.Fail(x.state);
}

// One element of name=(…), expanded before anything is stored.
struct Item {
  bool keyed;
  Values subscript;
  Values value;
  bool append;
};

// What `[key]+=value` of a list for an associative array stores: before bash
// 5.3 it is added to what the array held before the list.
Values KeyedValue(Expander& x, const ArrayElement& element, bool associative,
                  Span span) {
  const Values value = element.value == kNone
                           ? Values{Value{}}
                           : ExpandToValue(x, element.value, true);
  return associative && element.append ? UnknownText(span) : value;
}

// The elements of an associative array: all with keys, or key value key value
// without any, where each word is one and `[a]=b` is a word like others.
std::vector<Item> AssociativeItems(Expander& x, const std::string& name,
                                   const Assignment& assignment) {
  std::vector<Item> items;
  if (assignment.elements.empty()) return items;
  if (assignment.elements[0].subscript != kNone) {
    for (const ArrayElement& element : assignment.elements) {
      if (element.subscript == kNone) {
        // An error; the others are assigned.
        (void)ExpandToValue(x, element.value);
        x.state.status.reset();
        continue;
      }
      items.push_back({true, SubscriptText(x, name, element.subscript),
                       KeyedValue(x, element, true, assignment.span), false});
    }
    return items;
  }
  std::vector<Values> words;
  for (const ArrayElement& element : assignment.elements) {
    Values word{Value{}};
    if (element.subscript != kNone) {
      word = Concatenate({Value::Of("[")},
                         SubscriptText(x, name, element.subscript));
      for (Value& value : word) value.Append(element.append ? "]+=" : "]=");
    }
    if (element.value != kNone)
      word = Concatenate(word, ExpandToValue(x, element.value));
    words.push_back(std::move(word));
  }
  for (size_t i = 0; i < words.size(); i += 2)
    items.push_back({true, words[i],
                     i + 1 < words.size() ? words[i + 1] : Values{Value{}},
                     false});
  return items;
}

}  // namespace

Values AssignedValue(Expander& x, const Assignment& assignment) {
  return assignment.value == kNone ? Values{Value{}}
                                   : ExpandToValue(x, assignment.value, true);
}

void AssignValue(Expander& x, const Assignment& assignment,
                 const Values& value) {
  const std::string name = TargetName(x, assignment);
  if (name.empty()) return;
  CheckReadonly(x, name);
  if (assignment.subscript == kNone) {
    SetVariable(x, name, value, assignment.append);
    return;
  }
  AssignElement(x, name, SubscriptText(x, name, assignment.subscript), value,
                assignment.append, assignment.span);
}

void Assign(Expander& x, const Assignment& assignment) {
  if (!assignment.is_array) {
    AssignValue(x, assignment, AssignedValue(x, assignment));
    return;
  }
  const std::string name = TargetName(x, assignment);
  if (name.empty()) return;
  if (assignment.subscript != kNone) {
    x.host.Fail(x.state);  // a list cannot be an element
    return;
  }
  CheckReadonly(x, name);
  if (!Assignable(x, name, {Value{}}, assignment.span)) return;
  Variable variable;
  if (const Variable* old = FindVariable(x.state, name)) {
    variable = *old;
    if (old->readonly) return;
  } else if (assignment.append) {
    variable.unknown_elements = true;  // after what the environment says
    variable.shape = Variable::Shape::kIndexed;
  }
  const bool was_readonly = variable.maybe_readonly;
  if (!assignment.append) {
    variable.indexed.clear();
    variable.associative.clear();
    variable.unknown_elements = false;
    variable.scalar.clear();
  }
  if (variable.shape == Variable::Shape::kScalar) {
    variable.shape = Variable::Shape::kIndexed;
    if (!variable.scalar.empty()) variable.indexed[0] = variable.scalar;
    variable.scalar.clear();
  }
  variable.maybe_unset = false;
  const bool associative = variable.shape == Variable::Shape::kAssociative;
  // Elements see the old value while they are expanded.
  std::vector<Item> items;
  if (associative) items = AssociativeItems(x, name, assignment);
  bool unknown_count = false;
  for (const ArrayElement& element : assignment.elements) {
    if (associative) break;
    if (element.subscript != kNone) {
      items.push_back({true, SubscriptText(x, name, element.subscript),
                       KeyedValue(x, element, false, assignment.span),
                       element.append});
      continue;
    }
    const std::vector<Fields> alternatives =
        ExpandWordList(x, {element.value}, /*assignment_like=*/false);
    bool alike = true;
    for (const Fields& fields : alternatives)
      alike = alike && fields.size() == alternatives[0].size();
    if (!alike) unknown_count = true;
    for (size_t i = 0; i < alternatives[0].size(); ++i) {
      Values all;
      for (const Fields& fields : alternatives) {
        if (i >= fields.size()) continue;
        const Field& field = fields[i];
        if (field.splits || field.glob) unknown_count = true;
        // What a pattern stands for depends on the files.
        const Value one =
            field.glob
                ? Value::Unknown(UnknownCode::kDynamicArgument, field.span)
                : field.value;
        all = all.empty() ? Values{one} : Union(all, {one});
      }
      items.push_back({false, {}, std::move(all), false});
    }
  }
  for (const Item& item : items) x.host.Holds(name, item.value);
  x.state.variables[name] = variable;
  int64_t next = 0;
  if (assignment.append && !variable.indexed.empty())
    next = variable.indexed.rbegin()->first + 1;
  for (size_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    if (item.keyed) {
      // A key must not be empty.
      if (associative && item.subscript.size() == 1 &&
          item.subscript[0].chunks.empty()) {
        x.state.status.reset();
        continue;
      }
      int64_t index = 0;
      // Computed once: it may count something up.
      if (!associative &&
          SubscriptKey(x, name, item.subscript, assignment.span, &index)) {
        next = index + 1;
        item.subscript = {Value::Of(std::to_string(index))};
      }
      AssignElement(x, name, item.subscript, item.value, item.append,
                    assignment.span);
    } else {
      AssignElement(x, name, {Value::Of(std::to_string(next++))}, item.value,
                    false, assignment.span);
    }
  }
  if (unknown_count || was_readonly) {
    // Which element has which number is not known.
    Variable& target = x.state.variables[name];
    target.unknown_elements = true;
    for (auto& [index, values] : target.indexed)
      values = Union(values, UnknownText(assignment.span));
  }
}

}  // namespace gate::parser
