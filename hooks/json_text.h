// Where things stand in a JSON text, so that a part can be put in or taken out
// and every other byte stays. Internal to hooks/; pure.
#pragma once

#include <string>
#include <string_view>

namespace gate::hooks {

// `text` with numbers that only a strict reader minds (of more than 64 bits)
// replaced by zeroes and blanks: everything stays where it is.
std::string WithPlainNumbers(std::string_view text);

// For all below `text` is valid JSON without comments.

// The text with `item` as the last of the object or array at `begin`. `indent`
// stands before it in a line of its own, `outer` before what closes it.
std::string AppendItem(std::string_view text, size_t begin,
                       std::string_view item, std::string_view newline,
                       std::string_view indent, std::string_view outer);

// The text without items[index] of the object or array at `begin`: undoes
// AppendItem.
std::string RemoveItem(std::string_view text, size_t begin, size_t index);

}  // namespace gate::hooks
