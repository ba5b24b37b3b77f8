// Tickets carry a decision from the hook to `gate run`.
//
// A ticket is 128 random bits; what it stands for is a file in
// <state_dir>/tickets with a MAC by the state key. It is used once and expires
// after ten minutes; that of a question, which waits for a person to come back,
// after an hour, as approvals do.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace gate::hooks {

inline constexpr uint64_t kTicketLifetimeMs = 10ull * 60 * 1000;
inline constexpr uint64_t kAskedTicketLifetimeMs = 60ull * 60 * 1000;

struct Ticket {
  std::string command;
  std::string cwd;
  std::string place;  // what that was
  std::string policy_revision;
  std::string plan;         // JSON of the plan to enforce, canonical bytes
  std::string decision_id;  // parent of the outcome record
  std::string agent, session;
  bool asked = false;  // what it lets run needs a person's yes, and gets it
  // What that yes holds for, where it lets out of the sandbox or lends
  // credentials: the mark of what the person was told of. Empty: nothing more.
  std::string bound;
  // The client, by name and version, that was told to run this in place of a
  // command. Empty: it was told nothing, or it cannot be known what it did.
  std::string client;
  // The first to be rewritten for that client since a person let gate try
  // again: used, it proves that the client applies what it is told.
  bool trial = false;
  uint64_t expires_ms = 0;
};

// Stores `ticket` and returns its name (32 hex digits).
//
// `call`: the client's name for the call that the ticket is for, if it has one.
// The name of the ticket then follows from it by the state's key, which nobody
// outside of gate has. A second ticket for the same call is the same one where
// it says the same; otherwise TakeUnredeemed knows neither, since which of the
// two the client was to use cannot be told.
Result<std::string> IssueTicket(const std::string& state_dir,
                                const Ticket& ticket,
                                const std::string& call = "");

// The ticket `name` as it is stored, expired or not; it stays valid. Errors as
// RedeemTicket.
Result<Ticket> PeekTicket(const std::string& state_dir,
                          const std::string& name);

// The ticket that was issued for `call` and that nobody has used, however old;
// it is used up by this. kNotFound when there is none: none was issued, it was
// used, or it was swept.
Result<Ticket> TakeUnredeemed(const std::string& state_dir,
                              const std::string& call);

// Takes the ticket out of the store: whatever the result, the name is not
// valid afterwards. kNotFound for an unknown or used one, kPermission when
// the MAC does not fit, kTimeout when expired. kIo when the store is there and
// cannot be written, so that the ticket stays: nothing may run by it. The
// caller compares command,
// cwd, place and policy revision.
Result<Ticket> RedeemTicket(const std::string& state_dir,
                            const std::string& name, uint64_t now_ms);

// Removes expired tickets; at most `budget` files are looked at.
void SweepTickets(const std::string& state_dir, uint64_t now_ms, int budget);

}  // namespace gate::hooks
