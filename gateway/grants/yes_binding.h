// What a yes to a question holds for beyond the line's own text: where git
// sends to, and the content of the files that the line reads.
//
// Between the question and the run an agent can write another file of the same
// name. A yes that lets the line out of the sandbox, or lends it credentials,
// holds only for what was there when the person was asked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/decision.h"
#include "parser/analysis.h"

namespace gate::app {

// More entries than this, of all directories that a line reads, are not looked
// at, nor deeper ones than kMaxBoundDepth.
inline constexpr size_t kMaxBoundEntries = 20'000;
inline constexpr size_t kMaxBoundDepth = 64;
// The content of files counts up to these sizes, of one and of all; of others
// what stat(2) tells: device, inode, size, and the times of the last changes.
inline constexpr size_t kMaxBoundFile = size_t{1} << 20;
inline constexpr size_t kMaxBoundBytes = size_t{16} << 20;

struct YesBinding {
  // For the question: "; git's remotes there: …; only with x.yml as it is now".
  // Empty when there is nothing to tell.
  std::string text;
  // Another one for every other content, empty when there is nothing.
  std::string mark;
  // Why no yes can be bound: it would have to hold for more than can be looked
  // at. Empty if it can.
  std::string doubt;
};

// Binds a yes that opens `places` (gateway/grants/opened_places.h): these
// places and no others. `auto_executed`: what is put there runs later and
// outside.
YesBinding BindPlaces(const std::vector<std::string>& places,
                      const std::string& home, bool auto_executed);

// Binds a yes to the commands in `analysis`; files in none of the `writable`
// places, which runs cannot have written, are not looked at. Reads the disk
// within the bounds above: some 3 ns a byte, 5 us a file.
YesBinding BindYes(const parser::Analysis& analysis,
                   const engine::Decision& decision,
                   const std::vector<std::string>& writable);

}  // namespace gate::app
