// What the stub inside a sandbox and the broker outside say to each other over
// one stream socket: frames of a type, a length of four bytes and that many
// bytes. Neither side believes the other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::credentials {

enum class FrameType : unsigned char {
  kRequest = 'R',  // from inside, first: the words, see EncodeWords
  kInput = 'I',    // from inside: for the other machine
  kInputEnd = 'E',
  kProof = 'C',     // from inside: of what kProve asked for (commit_chain.h)
  kProofEnd = 'D',  // from inside: no more of it
  kProve = 'P',     // from outside: that the first of two commits, a blank
                    // between them, is an ancestor of the second
  kOutput = 'O',    // from outside: for git
  kError = 'S',     // from outside: for people
  kExit = 'X',      // from outside, last: one byte
};

inline constexpr size_t kFrameHead = 5;
// A longer one ends the connection.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 10;

struct Frame {
  FrameType type = FrameType::kExit;
  std::string_view bytes;  // of the buffer that it was read from
};

// Appends a frame of `bytes`, of which there are at most kMaxFrameBytes.
void PutFrame(FrameType type, std::string_view bytes, std::string* out);

// The first frame of `buffer` from `*begin` on, which is moved behind it; none
// while it is not whole. kInvalid when it never will be one.
Result<std::optional<Frame>> TakeFrame(std::string_view buffer, size_t* begin);

// Texts with their lengths before them. DecodeWords: kInvalid when it is not
// such a list.
std::string EncodeWords(const std::vector<std::string>& words);
Result<std::vector<std::string>> DecodeWords(std::string_view bytes);

}  // namespace gate::credentials
