// A directory for one test, removed with what is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace gate {

class TemporaryDirectory {
 public:
  // Below `parent`, a directory in which the caller may write; with mode 0700.
  explicit TemporaryDirectory(
      const std::string& parent = std::filesystem::temp_directory_path()) {
    std::string name = parent + "/gate-test-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;  // owns its files
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Empty when it could not be made.
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace gate
