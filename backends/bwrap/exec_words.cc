#include "backends/exec_words.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace gate::backends {
namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;  // more than a kernel takes
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

Result<ExecWords> MakeExecWords(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text.append(word).push_back('\0');
  ExecWords made;
  made.words = Fd(memfd_create("gate-words", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made.words) return FailErrno("cannot make an anonymous file");
  GATE_CHECK(WriteAll(made.words.get(), text));
  if (fcntl(made.words.get(), F_ADD_SEALS, kSeals) != 0)
    return FailErrno("cannot seal the command's words");
  made.program = Fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!made.program) return FailErrno("cannot open gate's own file");
  made.argv = {"/proc/self/fd/" + std::to_string(made.program.get()),
               kExecWords, std::to_string(made.words.get()),
               std::to_string(made.program.get())};
  return made;
}

int RunExecWords(const char* words, const char* program) {
  const int from = static_cast<int>(strtol(words, nullptr, 10));
  const int own = static_cast<int>(strtol(program, nullptr, 10));
  const int seals = from < 3 || own < 3 ? -1 : fcntl(from, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || lseek(from, 0, SEEK_SET) != 0)
    return -1;
  const Result<std::string> text = ReadAll(from, kMaxBytes);
  if (!text || text->empty() || text->back() != '\0') return -1;
  close(from);
  close(own);
  std::string bytes = *text;
  std::vector<char*> argv;
  for (size_t at = 0; at < bytes.size(); at = bytes.find('\0', at) + 1)
    argv.push_back(bytes.data() + at);
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return errno == ENOENT || errno == ENOTDIR ? 127 : 126;
}

}  // namespace gate::backends
