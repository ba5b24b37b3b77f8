// JSON with comments as a flat tree in which every value knows its place.
//
// Rule files need the position of every value for their diagnostics and are
// read at every start, so they have their own reader: it keeps strings as
// views of the file where it can and makes no node of its own on the heap
// (base/json.h builds a map per object and loses positions).
//
// Refused, as by base/json.h: duplicate keys, numbers that are not finite,
// nesting deeper than kMaxTreeDepth, ill-formed UTF-8, anything after the end.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace gate::rules {

inline constexpr int kMaxTreeDepth = 64;

struct TreeNode {
  enum class Type : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  Type type = Type::kNull;
  bool truth = false;           // kBool
  uint32_t begin = 0;           // byte in the text where the value starts
  uint32_t key_begin = 0;       // of a member: where its key starts
  uint32_t first = UINT32_MAX;  // first child
  uint32_t next = UINT32_MAX;   // next sibling
  uint32_t count = 0;           // children
  double number = 0;            // kNumber
  std::string_view key;         // of a member of an object
  std::string_view text;        // kString
};

struct TreeError {
  size_t offset = 0;
  std::string message;
};

class Tree {
 public:
  // `text` must outlive the tree.
  static std::expected<Tree, TreeError> Parse(std::string_view text);

  const TreeNode& root() const { return nodes_[0]; }
  const TreeNode& at(uint32_t index) const { return nodes_[index]; }

  // Iterates over the children of `node`.
  class Children {
   public:
    class Iterator {
     public:
      Iterator(const Tree* tree, uint32_t index) : tree_(tree), index_(index) {}
      const TreeNode& operator*() const { return tree_->at(index_); }
      Iterator& operator++() {
        index_ = tree_->at(index_).next;
        return *this;
      }
      bool operator==(const Iterator& other) const {
        return index_ == other.index_;
      }

     private:
      const Tree* tree_;
      uint32_t index_;
    };
    Children(const Tree* tree, uint32_t first) : tree_(tree), first_(first) {}
    Iterator begin() const { return {tree_, first_}; }
    Iterator end() const { return {tree_, UINT32_MAX}; }

   private:
    const Tree* tree_;
    uint32_t first_;
  };
  Children children(const TreeNode& node) const { return {this, node.first}; }

  // The member called `key`, or null.
  const TreeNode* Find(const TreeNode& object, std::string_view key) const;

 private:
  friend class TreeReader;
  std::vector<TreeNode> nodes_;
  std::deque<std::string> unescaped_;  // strings that had escapes
};

}  // namespace gate::rules
