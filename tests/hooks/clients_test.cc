// Every client by its table in tests/hooks/clients: what it sends is understood
// as the table says, and what it is told is what the table says.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "hooks/adapter.h"
#include "hooks/capabilities.h"

namespace gate::hooks {
namespace {

Json TableOf(const std::string& client) {
  const std::string path =
      std::string(GATE_SOURCE_DIR) + "/tests/hooks/clients/" + client + ".json";
  const auto text = ReadFile(path, 1 << 20);
  EXPECT_TRUE(text) << path << " is missing: every client has a table";
  const auto json = ParseJson(text ? *text : "{}", /*comments=*/true);
  EXPECT_TRUE(json) << path;
  return json ? *json : Json::object();
}

const char* NameOf(EventKind kind) {
  switch (kind) {
    case EventKind::kNothing:
      return "nothing";
    case EventKind::kCommand:
      return "command";
    case EventKind::kFileWrite:
      return "write";
    case EventKind::kFileRead:
      return "read";
    case EventKind::kCommandDone:
      return "done";
  }
  return "?";
}

std::vector<std::string> NamesOf(const Event& event) {
  std::vector<std::string> names = event.paths;
  if (!event.command.empty()) names.push_back(event.command);
  for (const ToolRead& read : event.reads) names.push_back(read.path);
  return names;
}

TEST(Clients, WhatAClientSendsIsUnderstoodAsItsTableSays) {
  for (const std::string& client : AdapterNames()) {
    const Adapter& adapter = *FindAdapter(client);
    const Json table = TableOf(client);
    bool has_command = false, has_invalid = false;
    for (const Json& row : table.value("events", Json::array())) {
      const std::string kind = row.at("kind");
      const auto event = adapter.Parse(Dump(row.at("event")));
      has_command = has_command || kind == "command";
      has_invalid = has_invalid || kind == "invalid";
      ASSERT_EQ(event.has_value(), kind != "invalid") << client << Dump(row);
      if (!event) continue;
      EXPECT_EQ(NameOf(event->kind), kind) << client << Dump(row);
      EXPECT_EQ(Json(NamesOf(*event)), row.at("names")) << client << Dump(row);
    }
    EXPECT_TRUE(has_command && has_invalid) << client;
    EXPECT_FALSE(adapter.Parse("{")) << client;
    EXPECT_FALSE(adapter.Parse(std::string(kMaxInputBytes + 1, ' ')));
  }
}

TEST(Clients, WhatAClientIsToldIsWhatItsTableSays) {
  for (const std::string& client : AdapterNames()) {
    const Adapter& adapter = *FindAdapter(client);
    const Json table = TableOf(client);
    Event event;
    event.kind = EventKind::kCommand;
    for (const auto& [name, kind] : {std::pair{"allow", AnswerKind::kAllow},
                                     {"deny", AnswerKind::kDeny}}) {
      Answer answer;
      answer.kind = kind;
      if (kind == AnswerKind::kDeny) answer.reason = "no";
      const Output output = adapter.Format(event, answer);
      const Json& told = table.at("answers").at(name);
      EXPECT_EQ(Json(output.out), told.at("out")) << client << name;
      EXPECT_EQ(Json(output.exit_code), told.at("exit")) << client << name;
      EXPECT_TRUE(output.exit_code != 2 || !output.err.empty()) << client;
    }
  }
}

TEST(Clients, EachWhoseSettingsAreWrittenHasAnAdapter) {
  for (const Capabilities& can : AllCapabilities()) {
    EXPECT_NE(FindAdapter(can.client), nullptr) << can.client;
    EXPECT_FALSE(can.directory.empty() || can.settings.empty()) << can.client;
    EXPECT_FALSE(can.title.empty()) << can.client;
  }
}

}  // namespace
}  // namespace gate::hooks
