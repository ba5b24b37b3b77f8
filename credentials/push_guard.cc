#include "credentials/push_guard.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "credentials/pkt_line.h"

namespace gate::credentials {
namespace {

constexpr size_t kMaxNoted = 20;
constexpr size_t kMaxShownRef = 200;
constexpr size_t kShortId = 7;

std::unexpected<Error> Refuse(std::string why) {
  return Fail(ErrorCode::kInvalid, std::move(why));
}

std::string ShownRef(std::string_view ref) {
  return Visible(std::string(ref.substr(0, kMaxShownRef))) +
         (ref.size() > kMaxShownRef ? "…" : "");
}

// What git 2.x asks of receive-pack (send-pack.c), without what changes the
// commands themselves: `push-cert` is read where the commands are.
bool IsKnownCapability(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"report-status", "report-status-v2", "side-band-64k", "quiet", "atomic",
       "push-options", "ofs-delta", "delete-refs", "no-thin"});
  constexpr auto kValued = std::to_array<std::string_view>(
      {"agent=", "object-format=", "session-id="});
  return std::ranges::find(kWords, word) != kWords.end() ||
         std::ranges::any_of(kValued, [&](std::string_view name) {
           return word.starts_with(name);
         });
}

constexpr std::string_view kNoProtocol =
    "the other side's answer is not what git's receive-pack says";

}  // namespace

bool IsPlainRef(std::string_view ref) {
  return ref.starts_with("refs/") && ref.size() <= kMaxPktBytes &&
         !ref.ends_with('/') && ref.find("..") == ref.npos &&
         ref.find("//") == ref.npos && ref.find("@{") == ref.npos &&
         std::ranges::none_of(ref, [](char c) {
           return static_cast<unsigned char>(c) <= ' ' || c == 0x7f ||
                  std::string_view("~^:?*[\\").find(c) !=
                      std::string_view::npos;
         });
}

bool Covers(const PushScope& scope, std::string_view ref) {
  return scope.refs.contains(std::string(ref)) ||
         std::ranges::any_of(scope.prefixes, [&](const std::string& prefix) {
           return ref.starts_with(prefix);
         });
}

Status PushGuard::FromServer(std::string_view bytes) {
  if (passed_ || failed_) return {};
  server_bytes_ += bytes.size();
  if (server_bytes_ > kMaxAdvertisedBytes)
    return Refuse("the other side's list of refs does not end");
  // Nothing comes of its own before it was told what to do.
  if (advertised_)
    return bytes.empty() ? Status() : Refuse(std::string(kNoProtocol));
  server_ += bytes;
  size_t taken = 0;
  while (!advertised_ && !failed_) {
    const auto line = TakePktLine(server_, &taken);
    if (!line) return Refuse(std::string(kNoProtocol));
    if (!*line) break;
    if ((*line)->kind == PktLine::Kind::kFlush)
      advertised_ = true;
    else if ((*line)->kind != PktLine::Kind::kData)
      return Refuse(std::string(kNoProtocol));
    else
      GATE_CHECK(ReadAdvertised((*line)->text));
  }
  server_.erase(0, taken);
  if (advertised_ && !server_.empty()) return Refuse(std::string(kNoProtocol));
  return advertised_ ? ReadCommands() : Status();
}

Status PushGuard::ReadAdvertised(std::string_view line) {
  line = Chomped(line);
  if (line.starts_with("ERR ")) {
    failed_ = true;
    return {};
  }
  if (line.starts_with("shallow ") && IsObjectId(line.substr(8))) return {};
  if (std::exchange(first_line_, false) && line == "version 1") {
    first_line_ = true;
    return {};
  }
  const std::string_view text = line.substr(0, line.find('\0'));
  const size_t space = text.find(' ');
  if (space == text.npos || !IsObjectId(text.substr(0, space)))
    return Refuse(std::string(kNoProtocol));
  const std::string_view id = text.substr(0, space);
  const std::string_view ref = text.substr(space + 1);
  // What is no ref of its own: `.have`, `capabilities^{}`.
  if (!Covers(scope_, ref)) return {};
  if (IsNoObject(id) || !refs_.emplace(ref, id).second)
    return Refuse(std::string(kNoProtocol));
  return {};
}

Status PushGuard::FromGit(std::string_view bytes) {
  if (held_.size() + bytes.size() > kMaxHeldBytes)
    return Refuse("git sends more than gate holds before it has judged a push");
  held_ += bytes;
  return advertised_ ? ReadCommands() : Status();
}

Status PushGuard::ReadCommands() {
  while (!commands_ended_ || (has_options_ && !options_ended_)) {
    const auto line = TakePktLine(held_, &read_);
    if (!line) return Refuse("what git sends is no list of refs");
    if (!*line) return {};
    if ((*line)->kind == PktLine::Kind::kFlush) {
      (commands_ended_ ? options_ended_ : commands_ended_) = true;
      continue;
    }
    if ((*line)->kind != PktLine::Kind::kData)
      return Refuse("what git sends is no list of refs");
    if (!commands_ended_) {
      GATE_CHECK(ReadCommand((*line)->text));
    } else if (const std::string option(Chomped((*line)->text));
               !scope_.options.contains(option)) {
      return Refuse("the line does not name the push option `" +
                    ShownRef(option) + "`; name it with -o");
    }
  }
  return judged_ ? Status() : Judge();
}

Status PushGuard::ReadCommand(std::string_view line) {
  line = Chomped(line);
  // receive-pack.c takes no others, either.
  if (commands_.empty() && line.starts_with("shallow ") &&
      IsObjectId(line.substr(8)))
    return {};
  const size_t nul = line.find('\0');
  std::string_view text = line.substr(0, nul);
  if (text == "push-cert")
    return Refuse("a signed push is not passed on; push without --signed");
  if (nul != line.npos) {
    if (!commands_.empty()) return Refuse("what git sends is no list of refs");
    GATE_CHECK(ReadCapabilities(line.substr(nul + 1)));
  }
  Update update;
  for (std::string* id : {&update.before, &update.after}) {
    const size_t space = text.find(' ');
    if (space == text.npos || !IsObjectId(text.substr(0, space)))
      return Refuse("what git sends is no list of refs");
    *id = text.substr(0, space);
    text.remove_prefix(space + 1);
  }
  update.ref = text;
  if (update.before.size() != update.after.size() || !IsPlainRef(text))
    return Refuse("what git sends is no list of refs");
  commands_.push_back(std::move(update));
  if (commands_.size() > kMaxPushCommands)
    return Refuse("a push of more than " + std::to_string(kMaxPushCommands) +
                  " refs is not passed on");
  return {};
}

Status PushGuard::ReadCapabilities(std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (word.empty()) continue;
    if (!IsKnownCapability(word))
      return Refuse("gate does not know `" + ShownRef(word) +
                    "`, which git asks of the other side");
    has_options_ |= word == "push-options";
  }
  return {};
}

// All before any is passed on: a push is refused as a whole, as an agent reads
// it as one.
Status PushGuard::Judge() {
  judged_ = true;
  std::set<std::string_view> seen;
  for (const Update& update : commands_) {
    const std::string ref = ShownRef(update.ref);
    if (!seen.insert(update.ref).second)
      return Refuse("what git sends names " + ref + " twice");
    if (!Covers(scope_, update.ref))
      return Refuse("the line does not name " + ref +
                    "; name it: git push REMOTE SOURCE:" + ref);
    if (IsNoObject(update.after)) return Refuse("it deletes " + ref);
    const auto known = refs_.find(update.ref);
    const bool there = known != refs_.end();
    if (there ? known->second != update.before : !IsNoObject(update.before))
      return Refuse("what git says of " + ref +
                    " is not what the other side has");
    if (!there) {
      Note("new " + ref);
      continue;
    }
    Note(ref + " " + update.before.substr(0, kShortId) + ".." +
         update.after.substr(0, kShortId));
    if (update.before == update.after) continue;
    if (update.ref.starts_with("refs/tags/"))
      return Refuse("it replaces " + ref);
    unproven_.push_back(update);
    if (unproven_.size() > kMaxPushUpdates)
      return Refuse("a push that changes more than " +
                    std::to_string(kMaxPushUpdates) + " refs is not passed on");
  }
  PassIfProven();
  return {};
}

void PushGuard::Note(const std::string& text) {
  if (++noted_ <= kMaxNoted)
    pushed_ += (pushed_.empty() ? "" : "; ") + text;
  else if (noted_ == kMaxNoted + 1)
    pushed_ += "; and more";
}

void PushGuard::PassIfProven() { passed_ = unproven_.empty() && !proving_; }

std::optional<PushGuard::Claim> PushGuard::NextClaim() {
  if (proving_ || unproven_.empty()) return std::nullopt;
  proving_ = std::move(unproven_.front());
  unproven_.pop_front();
  chain_.emplace(proving_->before, proving_->after);
  return Claim{proving_->before, proving_->after};
}

Status PushGuard::AddProof(std::string_view bytes) {
  if (!proving_) return Refuse("a proof that nobody asked for");
  // What is no chain proves nothing; that is said at its end.
  if (!chain_) return {};
  if (const Status added = chain_->Add(bytes); !added) {
    if (added.error().code == ErrorCode::kTooLarge)
      return Refuse(
          "that " + ShownRef(proving_->ref) +
          " keeps its commits is not proven: " + added.error().message);
    chain_.reset();
  }
  return {};
}

Status PushGuard::EndProof() {
  if (!proving_) return Refuse("a proof that nobody asked for");
  if (!chain_ || !chain_->proven())
    return Refuse("it replaces commits of " + ShownRef(proving_->ref) +
                  ", or cannot be shown to keep them");
  proving_.reset();
  chain_.reset();
  PassIfProven();
  return {};
}

std::string PushGuard::TakeHeld() { return std::exchange(held_, {}); }

}  // namespace gate::credentials
