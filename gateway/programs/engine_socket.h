// Asking a container engine about one of its own things.
//
// A client of an engine finds the socket by variables and files; gate takes the
// socket only where those say plainly which one it is, and asks by the little
// of HTTP/1.1 that an engine's short answers need (RFC 9112). What is not
// exactly that is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "facts/process_facts.h"

namespace gate::app {

// The longest answer that is read, headers and all.
inline constexpr size_t kMaxEngineAnswer = 64 * 1024;

// The socket by which `program` (docker, podman), started with the variables of
// `facts`, reaches its engine. kUnavailable for another program and where the
// engine is named by a variable, a context or a configuration that gate does
// not follow; kPermission where another user, or what a sandbox may write
// (`writable`), could have put it there. Reads a few small files.
Result<std::string> FindEngineSocket(const ProcessFacts& facts,
                                     const std::string& program,
                                     const std::vector<std::string>& writable);

struct EngineAnswer {
  int status = 0;
  Json body;  // an object, or a list where one was asked for
};
enum class EngineBody : uint8_t { kObject, kList };
// A list is that much longer.
inline constexpr size_t kMaxEngineList = 1024 * 1024;

// A whole answer: `text` is all that came until the engine hung up. kInvalid
// unless it is HTTP/1.1 with a JSON object (or, if asked for, a list), its
// length told by Content-Length or chunks, and nothing behind it.
Result<EngineAnswer> ReadEngineAnswer(std::string_view text,
                                      EngineBody kind = EngineBody::kObject);

// Sends `GET path` to `socket` and waits until `deadline_us` (MonotonicUs) for
// the whole answer. `path` holds nothing that HTTP would read otherwise.
// kUnavailable when nobody listens or answers in time, kTooLarge beyond
// kMaxEngineAnswer, kInvalid for junk.
Result<EngineAnswer> AskEngine(const std::string& socket,
                               const std::string& path, uint64_t deadline_us,
                               EngineBody kind = EngineBody::kObject);

}  // namespace gate::app
