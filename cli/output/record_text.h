// Records of the audit log for people.
#pragma once

#include <cstdint>
#include <string>

#include "audit/record.h"

namespace gate::app {

// "2026-11-23T05:51:03.135Z".
std::string TimeText(uint64_t ns);

// One line: number, time, what was decided or came of it, the command's start.
// Ends with a newline.
std::string RowText(const audit::Record& record, bool colour);

// All that the record says and that is not empty, a line each.
std::string RecordText(const audit::Record& record, bool colour);

}  // namespace gate::app
