// Made-up addresses of the names that a contained command asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/address.h"

namespace gate::net::proxy {

// Addresses of 127.64.0.0/10, one a name, given out in turn and never again:
// loopback's, so that what is sent to one outside this network goes nowhere.
class MadeUpNames {
 public:
  // Names that get one; what a wildcard allows has no end.
  static constexpr size_t kMost = 4096;

  // The address of `name`, as ReadHost returns it. Nothing when there are too
  // many.
  std::optional<Address> AddressOf(const std::string& name);
  // The name that `address` was given to.
  std::optional<std::string> NameOf(const Address& address) const;

 private:
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<const std::string*> names_;  // keys of numbers_
};

}  // namespace gate::net::proxy
