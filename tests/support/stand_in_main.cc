// A program that stands for any other: it lies as ROOT/bin/NAME, adds a line
// with its name and words to ROOT/outside, or, where a sandbox keeps it from
// that, to ROOT/home/agent/project/inside, and ends well.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

int main(int argc, char** argv) {
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path root = self.parent_path().parent_path();
  std::string line = self.filename();
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  line += '\n';
  constexpr int kHow = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  int log = ::open((root / "outside").c_str(), kHow, 0600);
  if (log < 0)
    log = ::open((root / "home/agent/project/inside").c_str(), kHow, 0600);
  if (log < 0) return 1;
  return ::write(log, line.data(), line.size()) ==
                 static_cast<ssize_t>(line.size())
             ? 0
             : 1;
}
