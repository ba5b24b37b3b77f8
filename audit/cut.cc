#include "audit/cut.h"

#include <algorithm>
#include <vector>

#include "base/json.h"

namespace gate::audit {
namespace {

constexpr size_t kKeptHead = 48 * 1024;
constexpr size_t kKeptTail = 8 * 1024;
// For `detail_cut`, `cut` and the kinds that were redacted.
constexpr size_t kReserve = 4 * 1024;
constexpr size_t kMaxCounts = 16;
constexpr int kMaxDepth = 4;

class Cutter {
 public:
  // Makes `value` at most `room` bytes long. `name`: its path, with dots.
  void Fit(Json* value, size_t room, const std::string& name, int depth) {
    if (Dump(*value).size() <= room) return;
    if (value->is_string()) {
      FitText(value->get_ref<std::string&>(), room);
    } else if (value->is_array() && depth < kMaxDepth) {
      FitList(value, room, name, depth);
    } else if (value->is_object() && depth < kMaxDepth) {
      FitObject(value, room, name, depth);
    } else {
      *value = nullptr;
    }
  }

  Json counts = Json::object();

 private:
  // A byte may need six in JSON.
  static void FitText(std::string& text, size_t room) {
    const size_t kept = std::min(text.size(), room / 8);
    text = text.substr(0, kept) + "[cut:" + std::to_string(text.size() - kept) +
           " bytes]";
  }

  void FitList(Json* list, size_t room, const std::string& name, int depth) {
    if (counts.size() < kMaxCounts) counts[name] = list->size();
    Json kept = Json::array();
    size_t used = 2;
    for (Json& element : *list) {
      size_t size = Dump(element).size() + 1;
      if (used + size > room && kept.empty()) {
        Fit(&element, room - std::min(room, used + 1), name, depth + 1);
        size = Dump(element).size() + 1;
      }
      if (used + size > room) break;
      used += size;
      kept.push_back(std::move(element));
    }
    *list = std::move(kept);
  }

  void FitObject(Json* object, size_t room, const std::string& name,
                 int depth) {
    // The small ones first, then each of the others has an equal share of what
    // is left, so that none can crowd another out.
    struct Member {
      std::string key;
      size_t size;
    };
    std::vector<Member> members;
    for (const auto& [key, value] : object->items())
      members.push_back({key, key.size() + 4 + Dump(value).size()});
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) {
                return a.size != b.size ? a.size < b.size : a.key < b.key;
              });
    size_t left = room - std::min<size_t>(room, 2);
    for (size_t i = 0; i < members.size(); ++i) {
      const Member& member = members[i];
      const size_t share = left / (members.size() - i);
      const size_t own = member.key.size() + 4;
      if (member.size > share) {
        if (share <= own) {
          object->erase(member.key);
          continue;
        }
        Fit(&(*object)[member.key], share - own,
            name.empty() ? member.key : name + "." + member.key, depth + 1);
      }
      left -= std::min(left, own + Dump((*object)[member.key]).size());
    }
  }
};

}  // namespace

void Cut(std::string* text) {
  if (text->size() <= kMaxText) return;
  const size_t cut = text->size() - kKeptHead - kKeptTail;
  std::string kept = text->substr(0, kKeptHead);
  kept += "[cut:" + std::to_string(cut) + " bytes]";
  kept.append(*text, text->size() - kKeptTail);
  *text = std::move(kept);
}

void CutDetail(std::string* detail) {
  if (detail->size() <= kMaxText) return;
  const size_t size = detail->size();
  auto parsed = ParseJson(*detail);
  Json kept = Json::object();
  Cutter cutter;
  if (parsed && parsed->is_object()) {
    kept = std::move(*parsed);
    cutter.Fit(&kept, kMaxText - kReserve, "", 0);
  }
  kept["detail_cut"] = size;
  if (!cutter.counts.empty()) kept["cut"] = std::move(cutter.counts);
  *detail = Dump(kept);
  // Whatever the names of members may be.
  if (detail->size() > kMaxText)
    *detail = "{\"detail_cut\":" + std::to_string(size) + "}";
}

}  // namespace gate::audit
