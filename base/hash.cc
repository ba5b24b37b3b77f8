// The primitives of libsodium used here need no sodium_init(): they are pure
// functions, and random bytes come from the kernel directly.
#include "base/hash.h"

#include <fcntl.h>
#include <sodium/crypto_generichash.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate {
namespace {

static_assert(crypto_hash_sha256_BYTES == kHashBytes);
static_assert(crypto_generichash_BYTES == kHashBytes);
static_assert(crypto_generichash_KEYBYTES == kHashBytes);

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Result<Hash> ReadKey(const std::string& path) {
  const std::string name = "the key `" + Visible(path) + "`";
  const Fd fd(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return FailErrno("cannot open " + name);
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return FailErrno("cannot read " + name);
  if (!S_ISREG(info.st_mode))
    return Fail(ErrorCode::kInvalid, name + " is not a regular file");
  if (info.st_uid != geteuid()) {
    return Fail(ErrorCode::kPermission,
                name + " belongs to user " + std::to_string(info.st_uid));
  }
  if ((info.st_mode & 077) != 0) {
    return Fail(ErrorCode::kPermission,
                name + " is open to others (make it mode 0600)");
  }
  GATE_TRY(const std::string bytes, ReadAll(fd.get(), kHashBytes));
  if (bytes.size() != kHashBytes)
    return Fail(ErrorCode::kCorrupt, name + " is not 32 bytes long");
  Hash key;
  std::memcpy(key.data(), bytes.data(), key.size());
  return key;
}

// Makes `path` with a new secret unless it exists. The file gets its name only
// when it is whole, so that a second process finds all of it or nothing.
Status CreateKey(const std::string& path) {
  const std::string name = "`" + Visible(path) + "`";
  const std::string temporary = std::string(DirName(path)) + "/." +
                                std::string(BaseName(path)) + "." +
                                Hex(RandomBytes(8)) + ".tmp";
  Fd fd(open(temporary.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return FailErrno("cannot create the key " + name);
  Status made = WriteAll(fd.get(), RandomBytes(kHashBytes));
  if (made && fsync(fd.get()) != 0) made = FailErrno("cannot sync " + name);
  if (made && link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    // Not every file system has hard links.
    if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(),
                  RENAME_NOREPLACE) != 0 &&
        errno != EEXIST) {
      made = FailErrno("cannot create the key " + name);
    }
  }
  unlink(temporary.c_str());
  return made;
}

}  // namespace

Hash Sha256(std::string_view bytes) {
  Hash hash;
  crypto_hash_sha256(hash.data(), Bytes(bytes), bytes.size());
  return hash;
}

Hash Mac(const Hash& key, std::string_view bytes) {
  Hash mac;
  crypto_generichash(mac.data(), mac.size(), Bytes(bytes), bytes.size(),
                     key.data(), key.size());
  return mac;
}

bool Equal(const Hash& a, const Hash& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string Hex(const Hash& hash) {
  return Hex(std::string_view(reinterpret_cast<const char*>(hash.data()),
                              hash.size()));
}

bool ParseHex(std::string_view text, Hash* out) {
  if (text.size() != 2 * kHashBytes) return false;
  Hash hash;
  for (size_t i = 0; i < hash.size(); ++i) {
    const int high = HexValue(text[2 * i]);
    const int low = HexValue(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    hash[i] = static_cast<unsigned char>(high << 4 | low);
  }
  *out = hash;
  return true;
}

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom(bytes.data() + done, size - done, 0);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      // No secret may ever be made of anything else, so there is no answer
      // but to stop; the terminate handler of the program refuses.
      std::terminate();
    }
  }
  return bytes;
}

std::string NewUuid(uint64_t unix_ms) {
  std::string bytes = RandomBytes(16);
  for (int i = 0; i < 6; ++i)
    bytes[i] = static_cast<char>(unix_ms >> (40 - 8 * i) & 0xff);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x70);  // version 7
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);  // variant
  std::string uuid = Hex(bytes);
  for (const size_t dash : {8, 13, 18, 23}) uuid.insert(dash, 1, '-');
  return uuid;
}

Result<Hash> LoadOrCreateKey(const std::string& path) {
  Result<Hash> key = ReadKey(path);
  if (key || key.error().code != ErrorCode::kNotFound) return key;
  GATE_CHECK(CreateKey(path));
  return ReadKey(path);
}

}  // namespace gate
