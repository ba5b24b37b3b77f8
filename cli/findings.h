// What `gate rules lint` prints.
#pragma once

#include <span>
#include <string>

#include "gateway/gateway.h"
#include "rules/lint.h"

namespace gate::app {

// For people: FILE:LINE:COLUMN: severity: message [CODE], help and witness.
// Findings that a rule accepts are left out.
std::string FindingsAsText(std::span<const rules::Finding> findings);

// One object a line, schema "gate.finding/1".
std::string FindingsAsJson(std::span<const rules::Finding> findings);

// One SARIF 2.1.0 log. Accepted findings are in it as suppressed.
std::string FindingsAsSarif(std::span<const rules::Finding> findings,
                            const std::string& version);

// What depends on this machine: lint-file-writable and lint-no-backend.
std::vector<rules::Finding> HostFindings(Gateway& gateway,
                                         const std::string& workspace);

}  // namespace gate::app
