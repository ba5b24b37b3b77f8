// Rules as text, for tests of the commands that read them.
#pragma once

#include <string>

namespace gate::test {

// One rule; `more`: further members, with a comma before each.
inline std::string Rule(const std::string& id, const std::string& action,
                        const std::string& match,
                        const std::string& more = "") {
  return R"({"id": ")" + id + R"(", "action": ")" + action +
         R"(", "reason": "r", "match": )" + match + more + "}";
}

inline std::string RuleFile(const std::string& rules) {
  return R"({"schema": 1, "pack": "p", "rules": [)" + rules + "]}";
}

}  // namespace gate::test
