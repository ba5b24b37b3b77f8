// What the inside of a sandbox sends to the broker of git's ssh: frames do not
// grow, and a request that is taken is plain and stays what it is when it is
// written anew.
#include <cstdint>
#include <string>
#include <string_view>

#include "credentials/pinned_remotes.h"
#include "credentials/ssh_target.h"
#include "credentials/transport_wire.h"
#include "fuzz/require.h"

namespace {

using namespace gate::credentials;

void CheckTarget(const SshTarget& target) {
  Require(!target.host.empty() && target.host[0] != '-');
  Require(target.user.empty() || target.user[0] != '-');
  Require(!target.path.empty() && target.path[0] != '-');
  for (const std::string& name : {target.user, target.host})
    Require(name.find_first_of(" '\"`$;|&<>()@:/\\\n\t") == name.npos);
  Require(target.port >= 0 && target.port <= 65535);
}

void CheckRequest(std::string_view bytes) {
  const auto words = DecodeWords(bytes);
  if (!words || words->empty()) return;
  Require(EncodeWords(*words) == bytes);
  const auto request =
      ParseSshArguments({words->begin() + 1, words->end()}, words->front());
  if (!request) return;
  CheckTarget(request->target);
  // Of what ssh is started with only the last three words and the port are not
  // constant.
  const auto passed = SshArguments(*request);
  std::vector<std::string> again = {passed[passed.size() - 2], passed.back()};
  if (request->target.port != 0)
    again.insert(again.begin(), {"-p", std::to_string(request->target.port)});
  Require(passed[passed.size() - 3] == "--");
  const auto second = ParseSshArguments(again, "");
  Require(second && second->target == request->target &&
          second->service == request->service);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  size_t begin = 0;
  for (;;) {
    const size_t before = begin;
    const auto frame = TakeFrame(bytes, &begin);
    if (!frame || !*frame) break;
    Require(begin > before && begin <= size);
    Require((*frame)->bytes.size() <= kMaxFrameBytes);
    CheckRequest((*frame)->bytes);
  }
  CheckRequest(bytes);
  if (const auto target = ParseSshUrl(bytes)) CheckTarget(*target);
  if (const auto remotes = ParsePinned(bytes)) {
    const auto again = ParsePinned(Serialise(*remotes));
    Require(again && *again == *remotes);
  }
  return 0;
}
