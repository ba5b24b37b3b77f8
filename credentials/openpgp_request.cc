#include "credentials/openpgp_request.h"

#include <vector>

#include "credentials/agent_wire.h"
#include "credentials/pkt_line.h"
#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

constexpr std::string_view kName = "openpgp-sign@gate";

std::string Message(AgentMessage type, const std::vector<std::string>& words) {
  return static_cast<char>(type) + EncodeWords(words);
}

// The fields of a message of `type`; none where it is another.
std::vector<std::string> FieldsOf(AgentMessage type, std::string_view message,
                                  size_t count) {
  if (message.empty() || static_cast<AgentMessage>(message[0]) != type)
    return {};
  auto words = DecodeWords(message.substr(1));
  return words && words->size() == count ? std::move(*words)
                                         : std::vector<std::string>{};
}

// Takes the next line of a header, without its end. False at the empty one.
bool TakeLine(std::string_view* rest, std::string_view* line) {
  const size_t end = rest->find('\n');
  *line = rest->substr(0, end);
  rest->remove_prefix(end == rest->npos ? rest->size() : end + 1);
  return end != rest->npos && !line->empty();
}

bool HasObject(std::string_view line, std::string_view name) {
  return line.starts_with(name) && IsObjectId(line.substr(name.size()));
}

// "author NAME <MAIL> SECONDS ZONE".
bool HasPerson(std::string_view line, std::string_view name) {
  const size_t mail = line.rfind("> ");
  return line.starts_with(name) && mail != line.npos &&
         line.find(" <") < mail &&
         line.substr(mail + 2).find_first_not_of("0123456789 +-") == line.npos;
}

bool IsCommit(std::string_view text) {
  std::string_view line;
  if (!TakeLine(&text, &line) || !HasObject(line, "tree ")) return false;
  bool more = TakeLine(&text, &line);
  while (more && HasObject(line, "parent ")) more = TakeLine(&text, &line);
  if (!more || !HasPerson(line, "author ") || !TakeLine(&text, &line) ||
      !HasPerson(line, "committer "))
    return false;
  // An encoding, the tags of a merge; each goes on behind a blank.
  while (TakeLine(&text, &line))
    if (line.find(' ') == line.npos) return false;
  return line.empty();
}

bool IsTag(std::string_view text) {
  std::string_view line;
  return TakeLine(&text, &line) && HasObject(line, "object ") &&
         TakeLine(&text, &line) && line.starts_with("type ") &&
         TakeLine(&text, &line) && line.starts_with("tag ") &&
         TakeLine(&text, &line) && HasPerson(line, "tagger ") &&
         !TakeLine(&text, &line) && line.empty();
}

}  // namespace

bool IsOpenPgpRequest(std::string_view message) {
  return !message.empty() &&
         static_cast<AgentMessage>(message[0]) == AgentMessage::kExtension;
}

std::string Encode(const OpenPgpRequest& request) {
  return Message(AgentMessage::kExtension,
                 {std::string(kName), request.key, request.payload});
}

Result<OpenPgpRequest> ParseOpenPgpRequest(std::string_view message) {
  auto words = FieldsOf(AgentMessage::kExtension, message, 3);
  if (words.empty() || words[0] != kName)
    return Fail(ErrorCode::kInvalid, "what was asked for is no signature");
  return OpenPgpRequest{std::move(words[1]), std::move(words[2])};
}

std::string Encode(const OpenPgpAnswer& answer) {
  return Message(AgentMessage::kExtensionResponse,
                 {std::string(kName), answer.status, answer.signature});
}

Result<OpenPgpAnswer> ParseOpenPgpAnswer(std::string_view message) {
  auto words = FieldsOf(AgentMessage::kExtensionResponse, message, 3);
  if (words.empty() || words[0] != kName)
    return Fail(ErrorCode::kInvalid, "there is no signature");
  return OpenPgpAnswer{std::move(words[1]), std::move(words[2])};
}

Status CheckGitObject(std::string_view payload) {
  // The header ends with an empty line, also before an empty text.
  if (payload.find('\0') != payload.npos ||
      payload.find("\n\n") == payload.npos ||
      (!IsCommit(payload) && !IsTag(payload)))
    return Fail(ErrorCode::kInvalid,
                "what was to be signed is neither a commit nor a tag");
  return {};
}

}  // namespace gate::credentials
