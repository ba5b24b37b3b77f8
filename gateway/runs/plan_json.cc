#include "gateway/plan_json.h"

#include "base/json.h"
#include "base/json_writer.h"

namespace gate::app {
namespace {

using backends::Feature;
using backends::Limits;
using backends::Profile;
using router::Mode;
using router::Plan;

struct LimitRow {
  const char* name;
  uint64_t Limits::* field;
};
constexpr LimitRow kLimits[] = {{"wall_ms", &Limits::wall_ms},
                                {"cpu_s", &Limits::cpu_s},
                                {"memory_bytes", &Limits::memory_bytes},
                                {"processes", &Limits::processes},
                                {"open_files", &Limits::open_files},
                                {"file_bytes", &Limits::file_bytes},
                                {"written_bytes", &Limits::written_bytes},
                                {"output_bytes", &Limits::output_bytes},
                                {"files", &Limits::files}};

struct FlagRow {
  const char* name;
  bool Profile::* field;
};
constexpr FlagRow kFlags[] = {{"watch_execs", &Profile::watch_execs},
                              {"report_blocked", &Profile::report_blocked},
                              {"git_line", &Profile::git_only},
                              {"report_reads", &Profile::report_reads}};

struct ListRow {
  const char* name;
  std::vector<std::string> Profile::* field;
};
constexpr ListRow kLists[] = {{"write", &Profile::write},
                              {"deny_read", &Profile::deny_read},
                              {"made", &Profile::made},
                              {"protect", &Profile::protect},
                              {"protect_names", &Profile::protect_names},
                              {"sole_names", &Profile::alias_checked_paths},
                              {"show", &Profile::host_tmp_binds},
                              {"environment_keep", &Profile::environment_keep}};

struct TextRow {
  const char* name;
  std::string Profile::* field;
};
constexpr TextRow kTexts[] = {{"name", &Profile::name},
                              {"private_tmp", &Profile::private_tmp},
                              {"workspace", &Profile::workspace},
                              {"quarantine", &Profile::quarantine_dir},
                              {"state", &Profile::state_dir},
                              {"runs", &Profile::runs_dir}};

}  // namespace

std::string PlanToJson(const Plan& plan) {
  const Profile& profile = plan.profile;
  JsonWriter out;
  const auto list = [&](const char* name, const std::vector<std::string>& of) {
    out.Key(name).BeginArray();
    for (const std::string& item : of) out.String(item);
    out.EndArray();
  };
  out.BeginObject().Field("mode", router::Name(plan.mode));
  out.Field("backend", plan.backend).Field("why", plan.why);
  list("lost", plan.lost);
  list("opened", plan.opened);
  out.Key("profile").BeginObject();
  out.Field("network", backends::Name(profile.network));
  out.Key("environment_set").BeginObject();
  for (const auto& [name, value] : profile.environment_set)
    out.Field(name, value);
  out.EndObject();
  for (const TextRow& row : kTexts) out.Field(row.name, profile.*row.field);
  if (!profile.image.empty()) out.Field("image", profile.image);
  if (!profile.session.key.empty()) {
    out.Field("session", profile.session.key);
    out.Field("session_label", profile.session.label);
  }
  for (const ListRow& row : kLists) list(row.name, profile.*row.field);
  for (const FlagRow& row : kFlags) out.Flag(row.name, profile.*row.field);
  if (profile.domains != backends::DomainFilter{}) {
    list("hosts", profile.domains.allow);
    list("hosts_deny", profile.domains.deny);
  }
  if (!profile.services.empty()) {
    out.Key("services").BeginArray();
    for (const backends::LocalService& service : profile.services) {
      out.BeginObject().Field("port", int64_t{service.port});
      out.Field("identity", service.identity).Field("shown", service.shown);
      out.Flag("asked", service.asked);
      out.Flag("four", service.four).Flag("six", service.six).EndObject();
    }
    out.EndArray();
  }
  out.Key("limits").BeginObject();
  for (const LimitRow& row : kLimits)
    out.Key(row.name).Raw(std::to_string(profile.limits.*row.field));
  out.EndObject();
  out.Key("required").BeginArray();
  for (int i = 0; i < backends::kFeatures; ++i)
    if (profile.required.Has(static_cast<Feature>(i)))
      out.String(backends::Name(static_cast<Feature>(i)));
  out.EndArray().EndObject().EndObject();
  return out.Take();
}

Result<Plan> PlanFromJson(std::string_view text) {
  auto parsed = ParseJson(text);
  if (!parsed) return Fail(ErrorCode::kInvalid, "the plan is not JSON");
  const auto bad = [](const char* what) {
    return Fail(ErrorCode::kInvalid, std::string("the plan has no ") + what);
  };
  Plan plan;
  try {
    const Json& json = *parsed;
    const auto mode = json.at("mode").get<std::string>();
    if (mode == router::Name(Mode::kSandbox))
      plan.mode = Mode::kSandbox;
    else if (mode == router::Name(Mode::kDirect))
      plan.mode = Mode::kDirect;
    else if (mode != router::Name(Mode::kRefused))
      return bad("known mode");
    plan.backend = json.at("backend").get<std::string>();
    plan.lost = json.at("lost").get<std::vector<std::string>>();
    plan.why = json.at("why").get<std::string>();
    plan.opened = json.at("opened").get<std::vector<std::string>>();
    const Json& in = json.at("profile");
    Profile& profile = plan.profile;
    const auto network =
        backends::ParseNetwork(in.at("network").get<std::string>());
    if (!network) return bad("known network");
    profile.network = *network;
    profile.environment_set =
        in.at("environment_set").get<std::map<std::string, std::string>>();
    for (const TextRow& row : kTexts)
      profile.*row.field = in.at(row.name).get<std::string>();
    if (in.contains("image")) profile.image = in.at("image").get<std::string>();
    if (in.contains("session")) {
      profile.session.key = in.at("session").get<std::string>();
      profile.session.label = in.at("session_label").get<std::string>();
    }
    for (const ListRow& row : kLists)
      profile.*row.field = in.at(row.name).get<std::vector<std::string>>();
    for (const FlagRow& row : kFlags)
      profile.*row.field = in.at(row.name).get<bool>();
    if (in.contains("hosts")) {
      profile.domains.allow = in.at("hosts").get<std::vector<std::string>>();
      profile.domains.deny =
          in.at("hosts_deny").get<std::vector<std::string>>();
    }
    if (in.contains("services"))
      for (const Json& service : in.at("services"))
        profile.services.push_back({service.at("port").get<uint16_t>(),
                                    service.at("identity").get<std::string>(),
                                    service.at("shown").get<std::string>(),
                                    service.at("asked").get<bool>(),
                                    service.at("four").get<bool>(),
                                    service.at("six").get<bool>()});
    for (const LimitRow& row : kLimits)
      profile.limits.*row.field = in.at("limits").at(row.name).get<uint64_t>();
    for (const Json& name : in.at("required")) {
      bool found = false;
      for (int i = 0; i < backends::kFeatures; ++i) {
        if (name != backends::Name(static_cast<Feature>(i))) continue;
        profile.required.Add(static_cast<Feature>(i));
        found = true;
      }
      if (!found) return bad("known feature");
    }
  } catch (const Json::exception&) {
    return bad("valid shape");
  }
  return plan;
}

}  // namespace gate::app
