// Texts that are longer than a record may hold. Internal to audit/.
#pragma once

#include <string>

namespace gate::audit {

// Beyond this a text is cut: a record of a megabyte would cost more than the
// decision, and an agent could fill the log with it.
inline constexpr size_t kMaxText = 64 * 1024;

// Leaves head and tail, and says between them how much went.
void Cut(std::string* text);

// Cuts the text of a JSON object, which stays one: of what is too long the
// first elements of a list and the head of a text are kept, and members that
// are small stay whole. Adds `detail_cut`, the bytes there were, and `cut`, how
// many elements each list that was cut had. What is no JSON object leaves only
// the former.
void CutDetail(std::string* detail);

}  // namespace gate::audit
