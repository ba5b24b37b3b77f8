#include "rules/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/flat_file.h"
#include "base/text.h"
#include "rules/policy_impl.h"

namespace gate::rules {
namespace {

constexpr char kIndexMagic[] = "gate.kept/1";
constexpr int64_t kSettledNs = 2'000'000'000;
constexpr size_t kMaxIndexBytes = 1u << 20;
constexpr size_t kMaxImageBytes = 256u << 20;
constexpr size_t kAlign = 8;

enum IndexSection : uint32_t { kKept, kSources, kLayers, kDiagnostics };

struct KeptRecord {
  FlatText image;  // file name in the same directory
  SourceIdentity identity;
  FlatText revision;
};

struct SourceRecord {
  FlatText path;
  SourceIdentity identity;
};

struct LayerRecord {
  uint64_t offset = 0, size = 0;  // in the image file
  uint64_t layer = 0;
};

struct DiagnosticRecord {
  uint32_t severity = 0, line = 0, column = 0, unused = 0;
  FlatText code, file, message, help;
};

// Sources and settings that make two policies different ones.
std::string NameOf(const PolicySources& sources, const PolicyCache& cache) {
  std::string text = std::string(kIndexMagic) + '\0' + kRuleMagic + '\0' +
                     cache.program + '\0' + sources.system_dir + '\0' +
                     sources.user_dir + '\0' + sources.project_dir + '\0' +
                     std::to_string(sources.owner) + '\0' +
                     (sources.builtin ? "1" : "0");
  std::vector<std::string> trusted = sources.trusted_hashes;
  std::sort(trusted.begin(), trusted.end());
  for (const std::string& hash : trusted) text += '\0' + hash;
  return Hex(Sha256(text)).substr(0, 32);
}

bool Unchanged(const std::vector<Source>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const Source& source) {
    return IdentityOf(source.path) == source.identity;
  });
}

bool Settled(const SourceIdentity& identity, uint64_t now_ns) {
  const auto now = static_cast<int64_t>(now_ns);
  return std::max(identity.modified_ns, identity.changed_ns) <=
         now - kSettledNs;
}

// The index of that name if its MAC is right. Aligned for Image.
Result<std::string> ReadIndex(const std::string& path, const Hash& key) {
  GATE_TRY(std::string text, ReadFile(path, kMaxIndexBytes, /*follow=*/false));
  if (text.size() < kHashBytes) return Fail(ErrorCode::kCorrupt, "too short");
  Hash mac;
  const size_t size = text.size() - kHashBytes;
  std::memcpy(mac.data(), text.data() + size, kHashBytes);
  text.resize(size);
  if (!Equal(mac, Mac(key, text))) return Fail(ErrorCode::kCorrupt, "forged");
  return text;
}

// The mapped file if it is still the one that `identity` names.
std::unique_ptr<MappedFile> MapFlatFile(const std::string& path,
                                        const SourceIdentity& identity) {
  if (identity.size == 0 || identity.size > kMaxImageBytes ||
      IdentityOf(path) != identity)
    return nullptr;
  const Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!fd || fstat(fd.get(), &info) != 0 || info.st_dev != identity.device ||
      info.st_ino != identity.inode)
    return nullptr;
  void* bytes =
      mmap(nullptr, identity.size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (bytes == MAP_FAILED) return nullptr;
  auto mapped = std::make_unique<MappedFile>();
  mapped->bytes = {static_cast<const char*>(bytes), identity.size};
  return mapped;
}

// False when the cache has nothing of these sources as they are now. Whatever
// of `impl` was touched by then must be thrown away.
bool LoadKept(const PolicySources& sources, const PolicyCache& cache,
              Policy::Impl* impl) {
  const std::string base = cache.directory + "/" + NameOf(sources, cache);
  const auto text = ReadIndex(base + ".index", cache.key);
  if (!text) return false;
  const auto index = FlatFile::Open(*text, kIndexMagic);
  if (!index) return false;
  const auto kept = index->Section<KeptRecord>(kKept);
  if (kept.size() != 1) return false;
  for (const SourceRecord& record : index->Section<SourceRecord>(kSources))
    if (IdentityOf(std::string(index->Text(record.path))) != record.identity)
      return false;
  auto mapped = MapFlatFile(
      cache.directory + "/" + std::string(index->Text(kept[0].image)),
      kept[0].identity);
  if (mapped == nullptr) return false;
  if (sources.builtin && !AddBuiltin(impl)) return false;
  for (const LayerRecord& record : index->Section<LayerRecord>(kLayers)) {
    if (record.offset % kAlign != 0 || record.offset > mapped->bytes.size() ||
        record.size > mapped->bytes.size() - record.offset ||
        record.layer > static_cast<uint64_t>(Layer::kSystem))
      return false;
    if (!AddLayer(static_cast<Layer>(record.layer), {},
                  mapped->bytes.substr(record.offset, record.size), impl))
      return false;
  }
  for (const DiagnosticRecord& record :
       index->Section<DiagnosticRecord>(kDiagnostics))
    impl->diagnostics.push_back({static_cast<Severity>(record.severity),
                                 std::string(index->Text(record.code)),
                                 std::string(index->Text(record.file)),
                                 record.line, record.column,
                                 std::string(index->Text(record.message)),
                                 std::string(index->Text(record.help))});
  FinishPolicy(impl);
  impl->floor = Action::kAllow;
  impl->revision = index->Text(kept[0].revision);
  impl->mapped = std::move(mapped);
  return true;
}

// Removes images that no index can name any more, and the oldest policies.
void Sweep(const std::string& directory, const std::string& name,
           const std::string& image) {
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return;
  std::vector<std::pair<int64_t, std::string>> indexes;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    const std::string file = entry->d_name;
    if (file.starts_with('.')) continue;
    names.push_back(file);
    if (file.ends_with(".index"))
      indexes.emplace_back(IdentityOf(directory + "/" + file).modified_ns,
                           file.substr(0, file.size() - 6));
  }
  closedir(stream);
  std::sort(indexes.rbegin(), indexes.rend());
  if (indexes.size() > kKeptPolicies) indexes.resize(kKeptPolicies);
  for (const std::string& file : names) {
    const std::string owner = file.substr(0, file.find('.'));
    const bool kept =
        std::any_of(indexes.begin(), indexes.end(),
                    [&](const auto& index) { return index.second == owner; });
    const bool stale =
        owner == name && file.ends_with(".image") && file != image;
    if (!kept || stale) unlink((directory + "/" + file).c_str());
  }
}

}  // namespace

MappedFile::~MappedFile() {
  if (!bytes.empty()) munmap(const_cast<char*>(bytes.data()), bytes.size());
}

SourceIdentity IdentityOf(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return {};
  const auto ns = [](const timespec& time) {
    return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  SourceIdentity out;
  out.device = info.st_dev;
  out.inode = info.st_ino;
  out.size = static_cast<uint64_t>(info.st_size);
  out.modified_ns = ns(info.st_mtim);
  out.changed_ns = ns(info.st_ctim);
  out.owner = info.st_uid;
  out.group = info.st_gid;
  out.mode = info.st_mode;
  out.links = static_cast<uint32_t>(info.st_nlink);
  return out;
}

bool HasFiles(const PolicySources& sources) {
  for (const std::string* directory :
       {&sources.system_dir, &sources.user_dir, &sources.project_dir})
    if (!directory->empty() && IdentityOf(*directory).exists()) return true;
  return false;
}

Policy LoadPolicy(const PolicySources& sources, const PolicyCache& cache) {
  Policy kept;
  // What stands above the files changes all the time, so that it is no part of
  // what a kept policy is known by; who may write there is looked at each time.
  if (PlacesAreTrusted(sources) && LoadKept(sources, cache, &kept.impl()))
    return kept;
  return LoadPolicy(sources);
}

bool WorthKeeping(const Policy& policy) {
  const Policy::Impl& impl = policy.impl();
  return impl.mapped == nullptr && impl.floor == Action::kAllow &&
         std::any_of(impl.sources.begin(), impl.sources.end(),
                     [](const Source& source) {
                       return S_ISREG(source.identity.mode);
                     });
}

Status KeepPolicy(const PolicySources& sources, const PolicyCache& cache,
                  const Policy& policy, uint64_t now_ns) {
  const Policy::Impl& impl = policy.impl();
  if (!WorthKeeping(policy)) return {};
  for (const Source& source : impl.sources) {
    // A link's identity says nothing of what it leads to.
    if (S_ISLNK(source.identity.mode) || !Settled(source.identity, now_ns))
      return {};
  }

  FlatWriter index;
  std::string image;
  std::vector<LayerRecord> layers;
  for (const auto& layer : impl.layers) {
    if (layer->layer == Layer::kBuiltin && layer->bytes.empty()) continue;
    image.resize((image.size() + kAlign - 1) / kAlign * kAlign);
    layers.push_back({image.size(), layer->bytes.size(),
                      static_cast<uint64_t>(layer->layer)});
    image += layer->bytes;
  }
  std::vector<SourceRecord> records;
  for (const Source& source : impl.sources)
    records.push_back({index.Text(source.path), source.identity});
  std::vector<DiagnosticRecord> diagnostics;
  for (size_t i = 0; i < impl.compile_diagnostics; ++i) {
    const Diagnostic& diagnostic = impl.diagnostics[i];
    diagnostics.push_back(
        {static_cast<uint32_t>(diagnostic.severity),
         static_cast<uint32_t>(diagnostic.line),
         static_cast<uint32_t>(diagnostic.column), 0,
         index.Text(diagnostic.code), index.Text(diagnostic.file),
         index.Text(diagnostic.message), index.Text(diagnostic.help)});
  }

  GATE_CHECK(MakeDirectories(cache.directory, 0700));
  const std::string name = NameOf(sources, cache);
  // A name of its own: nobody replaces it, so that its identity, taken after
  // the rename that changes it, is that of these bytes.
  const std::string image_name = name + "." + Hex(RandomBytes(8)) + ".image";
  const std::string image_path = cache.directory + "/" + image_name;
  GATE_CHECK(WriteFileAtomically(image_path, image, 0600));
  KeptRecord kept;
  kept.image = index.Text(image_name);
  kept.identity = IdentityOf(image_path);
  kept.revision = index.Text(impl.revision);
  if (kept.identity.size != image.size() || !Unchanged(impl.sources)) {
    unlink(image_path.c_str());
    return {};
  }
  index.Section(std::vector<KeptRecord>{kept});
  index.Section(records);
  index.Section(layers);
  index.Section(diagnostics);
  std::string text = index.Finish(kIndexMagic);
  const Hash mac = Mac(cache.key, text);
  text.append(reinterpret_cast<const char*>(mac.data()), mac.size());
  GATE_CHECK(
      WriteFileAtomically(cache.directory + "/" + name + ".index", text, 0600));
  Sweep(cache.directory, name, image_name);
  return {};
}

}  // namespace gate::rules
