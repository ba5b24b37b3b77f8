// Reading the log. A Filter becomes one SELECT with every value bound; the
// rows come in order of sequence, which is the order of writing.
#include <algorithm>
#include <charconv>

#include "audit/log_impl.h"

namespace gate::audit {
namespace {

// Conditions with their values, in step.
struct Where {
  std::string sql;
  struct Value {
    bool is_text;
    uint64_t number;
    std::string text;
  };
  std::vector<Value> values;

  void Add(std::string_view condition) {
    sql += sql.empty() ? " WHERE " : " AND ";
    sql += condition;
  }
  void AddText(std::string_view condition, std::string text) {
    Add(condition);
    values.push_back({true, 0, std::move(text)});
  }
  void AddNumber(std::string_view condition, uint64_t number) {
    Add(condition);
    values.push_back({false, std::min<uint64_t>(number, INT64_MAX), ""});
  }
  void AnyOf(const char* column, const std::vector<std::string>& choices) {
    if (choices.empty()) return;
    std::string condition = std::string(column) + " IN (";
    for (size_t i = 0; i < choices.size(); ++i) {
      condition += i == 0 ? "?" : ",?";
    }
    Add(condition + ")");
    for (const std::string& choice : choices) {
      values.push_back({true, 0, choice});
    }
  }
  void BindTo(Statement* statement) const {
    for (size_t i = 0; i < values.size(); ++i) {
      const int index = static_cast<int>(i) + 1;
      if (values[i].is_text) {
        statement->Bind(index, values[i].text);
      } else {
        statement->Bind(index, values[i].number);
      }
    }
  }
};

Where Translate(const Filter& filter) {
  Where where;
  if (filter.since_ns > 0) where.AddNumber("time_ns>=?", filter.since_ns);
  if (filter.until_ns < UINT64_MAX) {
    where.AddNumber("time_ns<?", filter.until_ns);
  }
  where.AnyOf("action", filter.actions);
  std::vector<std::string> kinds;
  for (const Kind kind : filter.kinds) kinds.emplace_back(Name(kind));
  where.AnyOf("kind", kinds);
  if (!filter.agent.empty()) where.AddText("agent=?", filter.agent);
  if (!filter.session.empty()) where.AddText("session=?", filter.session);
  if (!filter.rule_id.empty()) where.AddText("rule_id=?", filter.rule_id);
  if (!filter.backend.empty()) where.AddText("backend=?", filter.backend);
  if (!filter.mode.empty()) where.AddText("mode=?", filter.mode);
  if (!filter.cwd_prefix.empty() && filter.cwd_prefix != "/") {
    std::string prefix = filter.cwd_prefix;
    while (prefix.size() > 1 && prefix.back() == '/') prefix.pop_back();
    // The directory and what is below it, not its neighbours.
    where.AddText("substr(cwd||'/',1,length(?))", prefix + "/");
    where.sql += "=?";
    where.values.push_back({true, 0, prefix + "/"});
  }
  if (!filter.text.empty()) where.AddText("instr(command,?)>0", filter.text);
  return where;
}

Result<std::vector<Record>> ReadRows(Database* db, Statement row) {
  std::vector<Record> records;
  int code = 0;
  while ((code = row.Step()) == SQLITE_ROW) records.push_back(ReadRecord(row));
  if (code != SQLITE_DONE) return db->Failed(code, "read");
  return records;
}

std::string Select() { return std::string("SELECT ") + kColumns + " FROM log"; }

}  // namespace

Result<std::vector<Record>> Log::Query(const Filter& filter) const {
  Database& db = impl_->db;
  GATE_CHECK(impl_->Settle());
  const Where where = Translate(filter);
  GATE_TRY(
      Statement row,
      db.Prepare(Select() + where.sql + " ORDER BY seq" +
                 (filter.newest_first ? " DESC" : "") + " LIMIT " +
                 std::to_string(std::min<uint64_t>(filter.limit, INT64_MAX))));
  where.BindTo(&row);
  return ReadRows(&db, std::move(row));
}

Result<Record> Log::Find(const std::string& reference) const {
  Database& db = impl_->db;
  GATE_CHECK(impl_->Settle());
  uint64_t sequence = 0;
  const char* end = reference.data() + reference.size();
  const auto [stop, error] = std::from_chars(reference.data(), end, sequence);
  const bool is_number = error == std::errc() && stop == end;
  const char* condition = reference == "last" ? ""
                          : is_number         ? " WHERE seq=?"
                                              : " WHERE id=?";
  GATE_TRY(Statement row,
           db.Prepare(Select() + condition + " ORDER BY seq DESC LIMIT 1"));
  if (is_number) {
    row.Bind(1, std::min<uint64_t>(sequence, INT64_MAX));
  } else if (reference != "last") {
    row.Bind(1, reference);
  }
  const int code = row.Step();
  if (code == SQLITE_DONE) {
    return Fail(ErrorCode::kNotFound, "no record `" + reference + "`");
  }
  if (code != SQLITE_ROW) return db.Failed(code, "read");
  return ReadRecord(row);
}

Result<std::vector<Record>> Log::Children(const std::string& id) const {
  Database& db = impl_->db;
  if (id.empty()) return std::vector<Record>{};
  GATE_CHECK(impl_->Settle());
  // A child is younger than its parent, so that the scan starts there.
  GATE_TRY(Statement row,
           db.Prepare(Select() +
                      " WHERE parent=?1 AND seq>coalesce((SELECT seq FROM log "
                      "WHERE id=?1 ORDER BY seq DESC LIMIT 1),0) ORDER BY "
                      "seq"));
  row.Bind(1, id);
  return ReadRows(&db, std::move(row));
}

Result<Stats> Log::Count(const std::string& by, const Filter& filter) const {
  struct Column {
    const char* name;
    const char* sql;
  };
  static constexpr Column kBy[] = {
      {"action", "action"},   {"rule", "rule_id"},    {"agent", "agent"},
      {"backend", "backend"}, {"mode", "mode"},       {"status", "status"},
      {"kind", "kind"},       {"session", "session"},
  };
  const char* column = nullptr;
  for (const Column& known : kBy) {
    if (by == known.name) column = known.sql;
  }
  if (column == nullptr) {
    return Fail(ErrorCode::kInvalid,
                "cannot count by `" + by +
                    "`: action, rule, agent, backend, mode, status, kind or "
                    "session");
  }
  Database& db = impl_->db;
  GATE_CHECK(impl_->Settle());
  const Where where = Translate(filter);
  Stats stats;
  {
    GATE_TRY(Statement row, db.Prepare("SELECT count(*),min(time_ns),"
                                       "max(time_ns) FROM log" +
                                       where.sql));
    where.BindTo(&row);
    const int code = row.Step();
    if (code != SQLITE_ROW) return db.Failed(code, "read");
    stats.records = row.Number(0);
    stats.first_ns = row.Number(1);
    stats.last_ns = row.Number(2);
  }
  GATE_TRY(const uint64_t pages, db.Number("PRAGMA page_count"));
  GATE_TRY(const uint64_t page_bytes, db.Number("PRAGMA page_size"));
  stats.bytes = pages * page_bytes;
  GATE_TRY(Statement row,
           db.Prepare(std::string("SELECT ") + column + ",count(*) FROM log" +
                      where.sql + " GROUP BY 1 ORDER BY 2 DESC,1"));
  where.BindTo(&row);
  int code = 0;
  while ((code = row.Step()) == SQLITE_ROW) {
    stats.rows.emplace_back(row.Text(0), row.Number(1));
  }
  if (code != SQLITE_DONE) return db.Failed(code, "read");
  return stats;
}

}  // namespace gate::audit
