#include "audit/chain.h"

#include <algorithm>
#include <charconv>

#include "audit/bytes.h"

namespace gate::audit {
namespace {

constexpr std::string_view kDomain = "gate.audit.record/1\n";
constexpr size_t kLogNameDigits = 16;

void PutText(std::string_view text, std::string* out) {
  PutNumber(text.size(), out);
  out->append(text);
}

// Takes fields off the front; a missing one makes all that follow empty.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}
  bool whole() const { return whole_ && rest_.empty(); }

  std::string_view Bytes(uint64_t size) {
    if (size > rest_.size()) whole_ = false;
    if (!whole_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  uint64_t Number() {
    const std::string_view bytes = Bytes(kNumberBytes);
    return bytes.empty() ? 0 : NumberAt(bytes, 0);
  }
  std::string Text() { return std::string(Bytes(Number())); }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

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

bool ParseCanonical(std::string_view bytes, Record* record, uint64_t* sequence,
                    Hash* previous) {
  Fields fields(bytes);
  if (fields.Bytes(kDomain.size()) != kDomain) return false;
  const std::string_view hash = fields.Bytes(kHashBytes);
  if (hash.size() != kHashBytes) return false;
  std::copy(hash.begin(), hash.end(), previous->begin());
  *sequence = fields.Number();
  const std::string kind = fields.Text();
  record->id = fields.Text();
  record->parent = fields.Text();
  record->time_ns = fields.Number();
  record->agent = fields.Text();
  record->session = fields.Text();
  record->mode = fields.Text();
  const uint64_t enforced = fields.Number();
  record->enforced = enforced == 1;
  record->command = fields.Text();
  record->cwd = fields.Text();
  record->action = fields.Text();
  record->reason = fields.Text();
  record->rule_id = fields.Text();
  record->policy_revision = fields.Text();
  record->backend = fields.Text();
  record->status = fields.Text();
  const auto exit_code = static_cast<int64_t>(fields.Number());
  record->exit_code = static_cast<int>(exit_code);
  record->duration_ms = fields.Number();
  record->detail = fields.Text();
  return fields.whole() && ParseKind(kind, &record->kind) && enforced <= 1 &&
         record->exit_code == exit_code && *sequence > 0;
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

bool ParseKind(std::string_view name, Kind* out) {
  for (const Kind kind : {Kind::kDecision, Kind::kOutcome, Kind::kConfig,
                          Kind::kCheckpoint, Kind::kNote}) {
    if (name != Name(kind)) continue;
    *out = kind;
    return true;
  }
  return false;
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
