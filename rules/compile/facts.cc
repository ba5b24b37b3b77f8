// Matchers over what a line does and where it runs: effects, flows, settings,
// conditions, unknowns.
#include "base/host.h"
#include "parser/acts.h"
#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/names.h"

namespace gate::rules {

Range Compiler::AddHosts(const std::vector<std::string_view>& hosts) {
  std::vector<std::string> forms;
  for (const std::string_view host : hosts) {
    std::string form;
    if (!HasWildcard(host)) form = NormaliseHost(host).normal;
    if (form.empty())
      for (const char c : host)
        form += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    forms.push_back(std::move(form));
  }
  return AddStrings({forms.begin(), forms.end()});
}

Compiler::Match Compiler::OnlyDoes(File& file, const TreeNode& node) {
  Node made;
  made.kind = NodeKind::kOnlyDoes;
  for (const std::string_view what : StringList(file, node, "only_does")) {
    if (what == "read")
      made.mask |= kDoesRead;
    else if (what == "run")
      made.mask |= kDoesRun;
    else if (what == "code")
      made.mask |= kDoesCode;
    else
      Problem(file, node.begin, "rule-bad-value",
              "`only_does` knows read, run and code");
  }
  Match match;
  match.scope = kPerInvocation;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Act(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "act")) return Never();
  Node made;
  made.kind = NodeKind::kAct;
  if (node.count != 1) {
    Problem(file, node.begin, "rule-bad-value",
            "`act` has one of `only`, `any`, `described`");
    return Never();
  }
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "described") {
      if (Is(file, member, Type::kBool, "described"))
        made.flags = member.truth ? kActDescribed : kActNotDescribed;
      continue;
    }
    if (member.key != "only" && member.key != "any") {
      UnknownKey(file, member, "act", "only any described");
      continue;
    }
    made.flags = member.key == "only" ? kActOnly : kActAny;
    for (const std::string_view name : StringList(file, member, "act")) {
      const auto act = FindName(ActNames(), name);
      if (!act || (made.flags == kActOnly && ActNames()[*act] == "unknown")) {
        Problem(
            file, member.begin, "rule-bad-value",
            "`" + std::string(name) + "` is no act here",
            "look, local, change, secret, code, login; under `any` unknown, "
            "too");
        continue;
      }
      made.mask = static_cast<uint16_t>(made.mask | (1u << *act));
    }
  }
  Match match;
  match.scope = kPerInvocation;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Redirects(File& file, const TreeNode& node) {
  Node made;
  made.kind = NodeKind::kRedirects;
  if (node.type == Type::kBool) {
    if (!node.truth)
      Problem(file, node.begin, "rule-bad-value",
              "`redirects` is true or a list",
              "say `unless` for what has none of them");
    made.mask = (1u << parser::kRedirectKinds) - 1;
  } else {
    for (const std::string_view name : StringList(file, node, "redirects")) {
      const auto redirect = FindName(RedirectNames(), name);
      if (!redirect && name != "hidden") {
        Problem(file, node.begin, "rule-bad-value",
                "`" + std::string(name) +
                    "` is nothing that a program may be "
                    "redirected to",
                "endpoint, account, context, configuration, plugin, "
                "certificates, file, hidden");
        continue;
      }
      made.mask = static_cast<uint16_t>(made.mask |
                                        (redirect ? 1u << *redirect : kHidden));
    }
  }
  Match match;
  match.scope = kPerInvocation;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Effect(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "effect")) return Never();
  Node made;
  made.kind = NodeKind::kEffect;
  const auto flag = [&](const TreeNode& member, int shift) {
    if (Is(file, member, Type::kBool, "an effect's property"))
      made.flags =
          static_cast<uint8_t>(made.flags | ((member.truth ? 2 : 1) << shift));
  };
  Match match;
  match.keys.always = false;
  for (const TreeNode& member : file.tree.children(node)) {
    const std::string_view key = member.key;
    if (key == "kind") {
      for (const std::string_view kind : StringList(file, member, "kind")) {
        const auto found = FindName(EffectNames(), kind);
        if (!found) {
          Problem(file, member.begin, "rule-bad-value",
                  "`" + std::string(kind) + "` is no kind of effect",
                  "read, write, delete, move, permission, network, "
                  "privilege, signal, execute_file, persistence, system, "
                  "remote_state");
          continue;
        }
        made.mask = static_cast<uint16_t>(made.mask | (1u << *found));
        match.keys.buckets.push_back(kEffectBuckets +
                                     static_cast<uint32_t>(*found));
      }
    } else if (key == "path") {
      made.a = AddPaths(file, member, "path");
    } else if (key == "not_path") {
      made.b = AddPaths(file, member, "not_path");
    } else if (key == "target") {
      made.c = AddPaths(file, member, "target");
    } else if (key == "name") {
      made.f = AddStrings(StringList(file, member, "name"));
    } else if (key == "host") {
      made.d = AddHosts(StringList(file, member, "host"));
    } else if (key == "not_host") {
      made.e = AddHosts(StringList(file, member, "not_host"));
    } else if (key == "recursive") {
      flag(member, kRecursiveShift);
    } else if (key == "certain") {
      flag(member, kCertainShift);
    } else if (key == "listens") {
      flag(member, kListensShift);
    } else if (key == "source_only") {
      if (Flag(file, member)) made.x = kSourceOnly;
    } else if (key == "from_redirect") {
      flag(member, kRedirectShift);
    } else {
      UnknownKey(
          file, member, "effect",
          "kind name path not_path target host not_host recursive certain "
          "listens from_redirect source_only");
    }
  }
  if (made.mask == 0)
    Problem(file, node.begin, "rule-missing-key", "the effect has no `kind`");
  match.effects = made.mask;
  if (node.key == "any_effect") {
    // Of any command of the line: known only when all are looked at.
    made.y = kAnyEffect;
    match.effects = 0;
    match.keys = {};
  }
  match.scope = kPerInvocation | kPerLine;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Flow(File& file, const TreeNode& node) {
  if (!Is(file, node, Type::kObject, "flow")) return Never();
  Node made;
  made.kind = NodeKind::kFlow;
  Match match;
  match.scope = kPerLine;
  match.keys.always = false;
  for (const TreeNode& member : file.tree.children(node)) {
    if (member.key == "kind") {
      for (const std::string_view kind : StringList(file, member, "kind")) {
        const auto found = FindName(FlowNames(), kind);
        if (!found) {
          Problem(file, member.begin, "rule-bad-value",
                  "`" + std::string(kind) + "` is no kind of flow",
                  "network_to_code, decoded_to_code, file_to_network, "
                  "file_to_code, unseen_to_code");
          continue;
        }
        made.mask = static_cast<uint16_t>(made.mask | (1u << *found));
        match.keys.buckets.push_back(kFlowBuckets +
                                     static_cast<uint32_t>(*found));
      }
    } else if (member.key == "source") {
      made.a = AddPaths(file, member, "source");
    } else if (member.key == "not_source") {
      made.b = AddPaths(file, member, "not_source");
    } else if (member.key == "not_to") {
      made.c = AddStrings(StringList(file, member, "not_to"));
    } else {
      UnknownKey(file, member, "flow", "kind source not_source not_to");
    }
  }
  if (made.mask == 0)
    Problem(file, node.begin, "rule-missing-key", "the flow has no `kind`");
  if (node.key == "any_flow") made.flags = kAnyFlow;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Sends(File& file, const TreeNode& node) {
  Node made;
  made.kind = NodeKind::kSends;
  if (!Flag(file, node))
    Problem(file, node.begin, "rule-bad-value", "`sends` can only be true");
  Match match;
  match.scope = kPerInvocation;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Env(File& file, const TreeNode& node) {
  if (loosens_ && !inverted_)
    Problem(file, node.key_begin, "rule-loosen-condition",
            "a rule that loosens may not stand on what the agent controls",
            "take `env` out, or make the rule an ask, sandbox or deny rule "
            "without exceptions");
  Node made;
  made.kind = NodeKind::kEnv;
  if (node.type == Type::kObject) {
    for (const TreeNode& member : file.tree.children(node)) {
      if (member.key == "name")
        made.a = AddStrings(StringList(file, member, "name"));
      else if (member.key == "value")
        made.b = AddStrings(StringList(file, member, "value"));
      else if (member.key == "not_value")
        made.c = AddStrings(StringList(file, member, "not_value"));
      else
        UnknownKey(file, member, "env", "name value not_value");
    }
    if (made.a.count == 0)
      Problem(file, node.begin, "rule-missing-key", "`env` has no `name`");
  } else {
    made.a = AddStrings(StringList(file, node, "env"));
  }
  Match match;
  match.scope = kPerInvocation;
  match.keys.always = false;
  match.keys.buckets.push_back(kEnvBucket);
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Condition(File& file, const TreeNode& node,
                                    NodeKind kind) {
  // The project is pinned by the client for the session; the other facts are
  // the agent's to choose, and so is what is not the case (below `unless`).
  if (loosens_ && kind != NodeKind::kProject && kind != NodeKind::kInspected)
    Problem(file, node.key_begin, "rule-loosen-condition",
            "a rule that loosens may not stand on what the agent controls",
            inverted_ ? "take `" + std::string(node.key) +
                            "` out of it; where it should not hold, a rule "
                            "that denies or asks can say so"
                      : "take `" + std::string(node.key) + "` out of it");
  Node made;
  made.kind = kind;
  if (kind == NodeKind::kInteractive || kind == NodeKind::kInspected) {
    made.flags = Flag(file, node) ? 1 : 0;
  } else if (kind == NodeKind::kCwd || kind == NodeKind::kProject) {
    made.a = AddPaths(file, node, "a place");
  } else {
    made.a = AddStrings(StringList(file, node, "a name"));
  }
  Match match;
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Strings(File& file, const TreeNode& node,
                                  NodeKind kind) {
  Node made;
  made.kind = kind;
  made.a = AddStrings(StringList(file, node, "a name"));
  Match match;
  match.scope = kPerInvocation;
  if (kind == NodeKind::kVia) {
    match.keys.always = false;
    match.keys.buckets.push_back(kViaBucket);
  }
  match.node = AddNode(made);
  return match;
}

Compiler::Match Compiler::Codes(File& file, const TreeNode& node) {
  Node made;
  made.kind = NodeKind::kUnknown;
  Match match;
  match.scope = kPerLine;
  match.keys.always = false;
  for (const std::string_view code : StringList(file, node, "unknown")) {
    const auto found = FindName(UnknownNames(), code);
    if (!found) {
      std::string help = "one of";
      for (const std::string_view name : UnknownNames())
        help += " " + std::string(name);
      Problem(file, node.begin, "rule-bad-value",
              "`" + std::string(code) + "` is no reason code", help);
      continue;
    }
    made.mask = static_cast<uint16_t>(made.mask | (1u << *found));
    match.keys.buckets.push_back(kUnknownBuckets +
                                 static_cast<uint32_t>(*found));
  }
  match.node = AddNode(made);
  return match;
}

}  // namespace gate::rules
