// What git inside a sandbox and the other machine say in a push: in whatever
// parts it comes the answer is the same, nothing is handed on before all was
// judged, and nothing but what the line named, and what was not there or is
// proven.
#include <cstdint>
#include <string>
#include <string_view>

#include "credentials/commit_chain.h"
#include "credentials/pkt_line.h"
#include "credentials/push_guard.h"
#include "fuzz/require.h"

namespace {

using namespace gate::credentials;

struct Ended {
  bool passed = false;
  std::string error, held;
};

Ended Push(const PushScope& scope, std::string_view server,
           std::string_view git, std::string_view proof, size_t part) {
  PushGuard guard(scope);
  Ended ended;
  const auto feed = [&](std::string_view bytes, auto&& take) {
    for (size_t at = 0; ended.error.empty() && at < bytes.size(); at += part)
      if (const gate::Status taken = take(bytes.substr(at, part)); !taken)
        ended.error = taken.error().message;
  };
  feed(server, [&](auto bytes) { return guard.FromServer(bytes); });
  feed(git, [&](auto bytes) { return guard.FromGit(bytes); });
  while (ended.error.empty()) {
    const auto claim = guard.NextClaim();
    if (!claim) break;
    Require(!guard.passed());
    Require(IsObjectId(claim->ancestor) && IsObjectId(claim->commit));
    feed(proof, [&](auto bytes) { return guard.AddProof(bytes); });
    if (!ended.error.empty()) break;
    if (const gate::Status end = guard.EndProof(); !end)
      ended.error = end.error().message;
  }
  ended.passed = ended.error.empty() && guard.passed();
  if (ended.passed) ended.held = guard.TakeHeld();
  return ended;
}

// Read anew, by hand: each command is one that the line named, and deletes
// nothing.
void CheckCommands(const PushScope& scope, std::string_view git) {
  size_t begin = 0;
  for (;;) {
    const auto line = TakePktLine(git, &begin);
    Require(line && *line);
    if ((*line)->kind == PktLine::Kind::kFlush) return;
    Require((*line)->kind == PktLine::Kind::kData);
    const std::string_view text = Chomped((*line)->text);
    if (text.starts_with("shallow ")) continue;
    const std::string_view command = text.substr(0, text.find('\0'));
    const size_t second = command.find(' ') + 1;
    const size_t third = command.find(' ', second) + 1;
    Require(!IsNoObject(command.substr(second, third - 1 - second)));
    Require(Covers(scope, command.substr(third)));
  }
}

}  // namespace

// The three streams with the bytes FF FF between them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBetween = "\xff\xff";
  const size_t first = bytes.find(kBetween);
  const size_t second =
      first == bytes.npos ? first : bytes.find(kBetween, first + 2);
  const std::string_view server = bytes.substr(0, first);
  const std::string_view git =
      first == bytes.npos ? "" : bytes.substr(first + 2, second - first - 2);
  const std::string_view proof =
      second == bytes.npos ? "" : bytes.substr(second + 2);
  PushScope scope;
  scope.refs = {"refs/heads/main", "refs/heads/new", "refs/tags/v1"};
  scope.prefixes = {"refs/heads/all/"};
  scope.options = {"ci.skip"};
  const Ended whole = Push(scope, server, git, proof, size + 1);
  const Ended parts = Push(scope, server, git, proof, 1);
  Require(whole.passed == parts.passed && whole.held == parts.held);
  if (whole.passed) {
    Require(whole.held == git);
    CheckCommands(scope, git);
  }
  return 0;
}
