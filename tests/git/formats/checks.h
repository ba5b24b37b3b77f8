// One mutated file at a time, read by gate and by git.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/git/formats/mutations.h"
#include "tests/git/formats/repositories.h"

namespace gate::formats {

enum Format { kIndex, kConfig, kDirectories, kRefs, kAlternates, kFormats };
inline constexpr const char* kFormatNames[] = {
    "index", "config", "git directory", "refs", "alternates"};

struct Tally {
  uint64_t mutations = 0;
  uint64_t unknown = 0;  // gate: something is there, or not known
  uint64_t same = 0;     // gate is sure, and git reads the same
  uint64_t refused = 0;  // gate is sure, and git refuses
  uint64_t missed = 0;   // gate is sure, and git reads something else
};

class Checker {
 public:
  // Makes its repositories below `root`, an empty directory; `others`: those of
  // MakeOthers, too. What was missed is written to stderr and the file kept in
  // `keep`.
  Checker(std::string git, std::string root, std::string keep, uint64_t seed,
          bool others);
  bool ready() const { return ready_; }

  void Check(uint64_t number);
  void Finish();  // what waits for a common run of git

  // Unmutated: how many repositories there are, and names of those that gate
  // does not know or reads otherwise than git.
  size_t CheckOrdinary(std::vector<std::string>* unknown,
                       std::vector<std::string>* wrong) const;

  const Tally& tally(Format format) const { return tallies_[format]; }

 private:
  struct Config {
    uint64_t number;
    std::string text;
  };

  void CheckIndex(uint64_t number, Random* random);
  void CheckConfig(uint64_t number, Random* random);
  void CheckConfigs(const std::vector<Config>& configs);
  void CheckDirectories(uint64_t number, Random* random);
  void CheckRefs(uint64_t number, Random* random);
  void CheckAlternates(uint64_t number, Random* random);
  void Missed(Format format, uint64_t number, const std::string& what,
              const std::string& bytes);

  const std::string git_, root_, keep_;
  const uint64_t seed_;
  bool ready_ = false;
  std::vector<Repository> indexes_, others_;
  std::vector<std::string> index_bytes_;
  std::vector<Config> configs_;
  Tally tallies_[kFormats];
};

}  // namespace gate::formats
