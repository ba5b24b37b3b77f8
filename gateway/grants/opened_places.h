// What a person's yes opens beside the workspace, on this machine.
//
// Rules and lines name places (engine::Decision::opens); which directories and
// files these are, and whether they may be opened, is looked up before the
// person is asked, so that the question names them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/decision.h"
#include "facts/process_facts.h"

namespace gate::app {

struct OpenedPlaces {
  // Absolute, by no link; a directory's ends with a slash. Not all are there.
  std::vector<std::string> places;
  std::vector<std::string> made;  // of them, those that the line names
  // Some of them rules name as auto-executed: what is put there runs, or is
  // loaded, later and outside.
  bool auto_executed = false;
  // Set for the line, so that its program finds the place.
  std::map<std::string, std::string> variables;
  std::string why;  // why a yes cannot open them; empty: it can
};

// The places that a yes to `decision` opens for a line in `workspace`. What a
// rule names lies below the home directory of this user and is theirs. What the
// line itself names is new, or an empty directory of theirs, in a directory of
// theirs, and could be a workspace: no program looks there by itself. Some ten
// calls of the kernel a place.
OpenedPlaces FindOpened(const ProcessFacts& facts,
                        const engine::Decision& decision,
                        const std::string& workspace);

// For people: "~/go/bin and ~/x".
std::string ShowOpened(const std::vector<std::string>& places,
                       const std::string& home);

// Places that were made, and go when nothing was put into them.
class MadePlaces {
 public:
  MadePlaces() = default;
  MadePlaces(const MadePlaces&) = delete;
  MadePlaces& operator=(const MadePlaces&) = delete;
  ~MadePlaces();

  // Makes those of `opened` that are not there: empty, in directories of this
  // user, by no link. kIo or kPermission where that fails.
  Status Make(const std::vector<std::string>& opened);

 private:
  std::vector<std::string> made_;
};

}  // namespace gate::app
