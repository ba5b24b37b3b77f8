// The variables of one state, shared between copies until one of them changes:
// most branches and subshells change none.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace gate::parser {

template <typename Value>
class SharedMap {
 public:
  using Map = std::map<std::string, Value>;
  using const_iterator = typename Map::const_iterator;

  const_iterator begin() const { return Read().begin(); }
  const_iterator end() const { return Read().end(); }
  const_iterator find(const std::string& name) const {
    return Read().find(name);
  }
  bool contains(const std::string& name) const { return Read().contains(name); }
  size_t size() const { return Read().size(); }
  const Value& at(const std::string& name) const { return Read().at(name); }

  // To change something: this copy has its own map from then on. References
  // into it hold until the next copy of it is changed.
  Map& Edit() {
    if (!map_) {
      map_ = std::make_shared<Map>();
    } else if (map_.use_count() > 1) {
      map_ = std::make_shared<Map>(*map_);
    }
    return *map_;
  }
  Value& operator[](const std::string& name) { return Edit()[name]; }
  // Null when there is none.
  Value* Find(const std::string& name) {
    if (!contains(name)) return nullptr;
    return &Edit().find(name)->second;
  }
  void emplace(const std::string& name, Value value) {
    Edit().emplace(name, std::move(value));
  }
  void erase(const std::string& name) {
    if (contains(name)) Edit().erase(name);
  }

  // Whether nothing changed in either since one was copied from the other.
  bool Shares(const SharedMap& other) const { return map_ == other.map_; }

  friend bool operator==(const SharedMap& a, const SharedMap& b) {
    return a.map_ == b.map_ || a.Read() == b.Read();
  }

 private:
  const Map& Read() const {
    static const Map kEmpty;
    return map_ ? *map_ : kEmpty;
  }

  std::shared_ptr<Map> map_;
};

}  // namespace gate::parser
