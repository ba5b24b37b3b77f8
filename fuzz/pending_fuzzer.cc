// Whatever a record's bytes and a file of pending records hold: they are read
// without a crash, and what is read of a record writes the same bytes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "audit/chain.h"
#include "audit/pending.h"
#include "base/hash.h"

namespace {

// A directory of this process, which is left empty between two inputs.
const std::string& Directory() {
  static const std::string path = [] {
    std::string pattern = "/tmp/gate-fuzz-XXXXXX";
    return mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gate;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  audit::Record record;
  uint64_t sequence = 0;
  Hash previous{};
  if (audit::ParseCanonical(bytes, &record, &sequence, &previous) &&
      audit::CanonicalBytes(record, sequence, previous) != bytes) {
    abort();
  }
  if (Directory().empty()) return 0;
  const std::string path = audit::PendingPath(Directory());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) {
    abort();
  }
  close(file);
  if (auto pending = audit::PendingFile::Open(Directory(), false)) {
    (void)pending->ReadHeader();
    const auto entries = pending->ReadEntries();
    if (entries) {
      for (const audit::PendingEntry& entry : entries->whole) {
        if (!Equal(Sha256(entry.bytes), entry.hash)) abort();
      }
    }
  }
  unlink(path.c_str());
  return 0;
}
