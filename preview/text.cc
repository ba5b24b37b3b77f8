// The manifest as text. Paths may be any bytes, so they stand in base64.
#include <array>

#include "base/json.h"
#include "base/text.h"
#include "preview/preview.h"

namespace gate::backends {
namespace {

constexpr std::array kChanges = {PreviewChange::kAdded,
                                 PreviewChange::kModified, PreviewChange::kMode,
                                 PreviewChange::kDeleted};
constexpr std::array kTypes = {PreviewType::kFile, PreviewType::kDirectory,
                               PreviewType::kLink, PreviewType::kOther};

template <class Values, class Value>
bool Parse(const Values& values, const std::string& name, Value* out) {
  for (const Value value : values) {
    if (name != Name(value)) continue;
    *out = value;
    return true;
  }
  return false;
}

Json ToJson(const LowerState& state) {
  if (!state.exists) return nullptr;
  return {{"type", Name(state.type)},   {"device", state.device},
          {"inode", state.inode},       {"size", state.size},
          {"mode", state.mode},         {"mtime_ns", state.mtime_ns},
          {"ctime_ns", state.ctime_ns}, {"sha256", state.sha256}};
}

Json ToJson(const PreviewEntry& entry) {
  return {{"root", entry.root},
          {"path", Base64(entry.path)},
          {"change", Name(entry.change)},
          {"type", Name(entry.type)},
          {"size", entry.size},
          {"mode", entry.mode},
          {"uid", entry.uid},
          {"gid", entry.gid},
          {"mtime_ns", entry.mtime_ns},
          {"names", entry.names},
          {"sha256", entry.sha256},
          {"target", Base64(entry.target)},
          {"lower", ToJson(entry.lower)},
          {"refused", Base64(entry.refused)}};
}

std::string Bytes(const Json& json, const char* key) {
  std::string out;
  if (!DecodeBase64(json.at(key).get<std::string>(), &out))
    throw std::runtime_error("base64");
  return out;
}

// Paths of a manifest stay below their root, whoever wrote it.
bool IsPlain(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t slash = std::min(path.find('/', begin), path.size());
    const std::string_view part =
        std::string_view(path).substr(begin, slash - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = slash + 1;
  }
  return true;
}

LowerState StateFrom(const Json& json) {
  LowerState state;
  if (json.is_null()) return state;
  state.exists = true;
  if (!Parse(kTypes, json.at("type").get<std::string>(), &state.type))
    throw std::runtime_error("type");
  state.device = json.at("device").get<uint64_t>();
  state.inode = json.at("inode").get<uint64_t>();
  state.size = json.at("size").get<uint64_t>();
  state.mode = json.at("mode").get<uint32_t>();
  state.mtime_ns = json.at("mtime_ns").get<int64_t>();
  state.ctime_ns = json.at("ctime_ns").get<int64_t>();
  state.sha256 = json.at("sha256").get<std::string>();
  return state;
}

PreviewEntry EntryFrom(const Json& json, size_t roots) {
  PreviewEntry entry;
  entry.root = json.at("root").get<size_t>();
  entry.path = Bytes(json, "path");
  if (entry.root >= roots || !IsPlain(entry.path) ||
      !Parse(kChanges, json.at("change").get<std::string>(), &entry.change) ||
      !Parse(kTypes, json.at("type").get<std::string>(), &entry.type))
    throw std::runtime_error("entry");
  entry.size = json.at("size").get<uint64_t>();
  entry.mode = json.at("mode").get<uint32_t>();
  entry.uid = json.at("uid").get<uint32_t>();
  entry.gid = json.at("gid").get<uint32_t>();
  entry.mtime_ns = json.at("mtime_ns").get<int64_t>();
  entry.names = json.at("names").get<uint64_t>();
  entry.sha256 = json.at("sha256").get<std::string>();
  entry.target = Bytes(json, "target");
  entry.lower = StateFrom(json.at("lower"));
  entry.refused = Bytes(json, "refused");
  return entry;
}

}  // namespace

std::string ManifestToText(const PreviewManifest& manifest) {
  Json roots = Json::array(), entries = Json::array();
  for (const PreviewRoot& root : manifest.roots)
    roots.push_back({{"root", Base64(root.root)},
                     {"place", Base64(root.place)},
                     {"keep", root.keep},
                     {"device", root.device},
                     {"inode", root.inode}});
  for (const PreviewEntry& entry : manifest.entries)
    entries.push_back(ToJson(entry));
  return Dump({{"roots", std::move(roots)},
               {"start_ns", manifest.start_ns},
               {"entries", std::move(entries)},
               {"too_large", Base64(manifest.too_large)}});
}

Result<PreviewManifest> ManifestFromText(const std::string& text) {
  const auto json = ParseJson(text);
  if (!json) return Fail(ErrorCode::kCorrupt, "the manifest is not JSON");
  PreviewManifest manifest;
  try {
    for (const Json& row : json->at("roots")) {
      PreviewRoot root;
      root.root = Bytes(row, "root");
      root.place = Bytes(row, "place");
      root.keep = row.at("keep").get<bool>();
      root.device = row.at("device").get<uint64_t>();
      root.inode = row.at("inode").get<uint64_t>();
      manifest.roots.push_back(std::move(root));
    }
    manifest.start_ns = json->at("start_ns").get<int64_t>();
    for (const Json& row : json->at("entries"))
      manifest.entries.push_back(EntryFrom(row, manifest.roots.size()));
    manifest.too_large = Bytes(*json, "too_large");
  } catch (const std::exception&) {
    return Fail(ErrorCode::kCorrupt, "the manifest has not its shape");
  }
  return manifest;
}

}  // namespace gate::backends
