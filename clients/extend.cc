#include "clients/extend.h"

#include <sstream>

namespace gate::clients {
namespace {

// Puts `items` first in the list called `name`.
bool Insert(const std::string& name, const Json& items,
            std::vector<SourceText>* rules) {
  const std::string head = Dump(name) + ": [";
  for (SourceText& file : *rules) {
    const size_t at = file.text.find(head);
    if (at == std::string::npos) continue;
    std::string added;
    for (const Json& item : items) added += Dump(item) + ", ";
    // A list that has nothing of its own ends here.
    if (file.text.compare(at + head.size(), 1, "]") == 0 && !added.empty())
      added.resize(added.size() - 2);
    file.text.insert(at + head.size(), added);
    return true;
  }
  return false;
}

// Puts `names` last in the description that has `word` among its names.
bool Append(const std::string& word, const Json& names,
            std::vector<SourceText>* families) {
  constexpr std::string_view kHead = "{\"name\": \"";
  for (SourceText& file : *families)
    for (size_t at = file.text.find(kHead); at != std::string::npos;
         at = file.text.find(kHead, at + 1)) {
      const size_t begin = at + kHead.size();
      const size_t end = file.text.find('"', begin);
      if (end == std::string::npos) break;
      std::istringstream words(file.text.substr(begin, end - begin));
      std::string each;
      bool has = false;
      while (words >> each) has = has || each == word;
      if (!has) continue;
      std::string added;
      for (const Json& name : names) added += " " + name.get<std::string>();
      file.text.insert(end, added);
      return true;
    }
  return false;
}

}  // namespace

Status ExtendRules(const std::vector<ClientFile>& clients,
                   std::vector<SourceText>* rules) {
  for (const ClientFile& client : clients)
    for (const char* member : {"classes", "lists"}) {
      const auto lists = client.json.find(member);
      if (lists == client.json.end()) continue;
      for (const auto& [name, items] : lists->items())
        if (!Insert(name, items, rules))
          return Fail(ErrorCode::kInvalid,
                      client.client + ": no rule file has `" + name + "`");
    }
  return {};
}

Status ExtendPrograms(const std::vector<ClientFile>& clients,
                      std::vector<SourceText>* families) {
  for (const ClientFile& client : clients) {
    const auto described = client.json.find("described_as");
    if (described == client.json.end()) continue;
    for (const auto& [word, names] : described->items())
      if (!Append(word, names, families))
        return Fail(ErrorCode::kInvalid,
                    client.client + ": no description has `" + word + "`");
  }
  return {};
}

}  // namespace gate::clients
