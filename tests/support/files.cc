#include "tests/support/files.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gate::test {

void WriteText(const std::string& path, const std::string& text,
               unsigned mode) {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), mode);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Exists(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

void MakeRepository(const std::string& git_directory,
                    const std::string& config) {
  std::filesystem::create_directories(git_directory + "/objects");
  std::filesystem::create_directories(git_directory + "/refs");
  WriteText(git_directory + "/HEAD", "ref: refs/heads/main\n");
  WriteText(git_directory + "/config",
            "[core]\n\trepositoryformatversion = 0\n" + config);
}

}  // namespace gate::test
