#include "audit/chain.h"

#include <charconv>

namespace gate::audit {
namespace {

constexpr std::string_view kDomain = "gate.audit.record/1\n";
constexpr size_t kLogNameDigits = 16;

void PutNumber(uint64_t value, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>((value >> shift) & 0xff));
  }
}

void PutText(std::string_view text, std::string* out) {
  PutNumber(text.size(), out);
  out->append(text);
}

bool IsHex(std::string_view text) {
  for (const char c : text) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

}  // namespace

std::string CanonicalBytes(const Record& record, uint64_t sequence,
                           const Hash& previous) {
  std::string out;
  out.reserve(384 + record.command.size() + record.detail.size() +
              record.reason.size() + record.cwd.size());
  out.append(kDomain);
  out.append(reinterpret_cast<const char*>(previous.data()), previous.size());
  PutNumber(sequence, &out);
  PutText(Name(record.kind), &out);
  PutText(record.id, &out);
  PutText(record.parent, &out);
  PutNumber(record.time_ns, &out);
  PutText(record.agent, &out);
  PutText(record.session, &out);
  PutText(record.mode, &out);
  PutNumber(record.enforced ? 1 : 0, &out);
  PutText(record.command, &out);
  PutText(record.cwd, &out);
  PutText(record.action, &out);
  PutText(record.reason, &out);
  PutText(record.rule_id, &out);
  PutText(record.policy_revision, &out);
  PutText(record.backend, &out);
  PutText(record.status, &out);
  PutNumber(static_cast<uint64_t>(static_cast<int64_t>(record.exit_code)),
            &out);
  PutNumber(record.duration_ms, &out);
  PutText(record.detail, &out);
  return out;
}

Hash ChainHash(const Record& record, uint64_t sequence, const Hash& previous) {
  return Sha256(CanonicalBytes(record, sequence, previous));
}

std::string Format(const Anchor& anchor) {
  return anchor.log + ":" + std::to_string(anchor.sequence) + ":" + anchor.hash;
}

bool ParseAnchor(std::string_view text, Anchor* out) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  *out = Anchor{};
  const size_t first = text.find(':');
  if (first != std::string_view::npos) {
    const size_t second = text.find(':', first + 1);
    if (second == std::string_view::npos) return false;
    const std::string_view number = text.substr(first + 1, second - first - 1);
    const auto [end, error] = std::from_chars(
        number.data(), number.data() + number.size(), out->sequence);
    if (error != std::errc() || end != number.data() + number.size() ||
        out->sequence == 0 || first != kLogNameDigits ||
        !IsHex(text.substr(0, first))) {
      return false;
    }
    out->log = text.substr(0, first);
    text.remove_prefix(second + 1);
  }
  if (text.size() != 2 * kHashBytes || !IsHex(text)) return false;
  out->hash = text;
  return true;
}

const char* Name(Kind kind) {
  switch (kind) {
    case Kind::kDecision:
      return "decision";
    case Kind::kOutcome:
      return "outcome";
    case Kind::kConfig:
      return "config";
    case Kind::kCheckpoint:
      return "checkpoint";
    case Kind::kNote:
      return "note";
  }
  return "note";
}

}  // namespace gate::audit
