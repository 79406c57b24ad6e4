#include <algorithm>
#include <chrono>
#include <cmath>

#include "analyzer/base/printable.hpp"
#include "analyzer/gate/check_gate.hpp"
#include "analyzer/toml/toml_text.hpp"

namespace snapdiff::gate {
namespace {

using toml_text::mistake;
using toml_text::Value;

constexpr double kHeadroom = 1.1;  // an entry written today must hold tomorrow

/// The entries of the array of tables `name`; nothing else may be in the file.
Result<std::vector<Value>> entries_of(const std::string& text, const std::string& file, const std::string& name,
                                      const std::vector<std::string>& keys) {
  const Result<Value> root = toml_text::read(text, file);
  if (!root) return root.error();
  std::vector<Value> entries;
  for (const Value& value : root->fields) {
    if (value.key != name || value.kind != Value::Kind::list)
      return mistake(file, value.line, "'" + value.key + "' is unknown: expected [[" + name + "]] entries");
    for (const Value& entry : value.items) {
      if (entry.kind != Value::Kind::table) return mistake(file, entry.line, "expected a table in [[" + name + "]]");
      for (const Value& field : entry.fields) {
        if (std::find(keys.begin(), keys.end(), field.key) == keys.end())
          return mistake(file, field.line, "'" + field.key + "' is unknown in [[" + name + "]]");
        if (field.kind != Value::Kind::text && field.kind != Value::Kind::day)
          return mistake(file, field.line, "'" + field.key + "' must be a text in quotes");
      }
      entries.push_back(entry);
    }
  }
  return entries;
}

/// A text, or a date as text; "" where there is none.
std::string field(const Value& entry, std::string_view key) {
  const Value* const value = entry.field(key);
  return value == nullptr ? std::string() : value->text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      append_hex(out += "\\u00", c);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

bool is_day(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  const auto number = [text](std::size_t from, std::size_t count) {
    unsigned value = 0;
    for (const char digit : text.substr(from, count)) value = value * 10 + static_cast<unsigned>(digit - '0');
    return value;
  };
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(number(0, 4))),
                                     std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2)))
      .ok();
}

Result<std::vector<Budget>> parse_budgets(const std::string& toml, const std::string& file_name) {
  const auto entries =
      entries_of(toml, file_name, "budget", {"name", "owner", "for", "allow", "function", "file", "module"});
  if (!entries) return entries.error();
  std::vector<Budget> budgets;
  for (const Value& entry : *entries) {
    const auto line = entry.line;
    const std::string amount = field(entry, "allow");
    if (amount.empty()) return mistake(file_name, line, "a budget needs allow = \"AMOUNT\"");
    Result<Budget> budget = parse_budget(amount);
    if (!budget) return mistake(file_name, line, budget.error().message);
    const std::string scope = field(entry, "for");
    if (!scope.empty() && scope != "stack" && scope != "total" && scope != "culprit")
      return mistake(file_name, line, "for = '" + scope + "': expected stack, culprit or total");
    if (scope == "total") budget->scope = BudgetScope::total;
    if (scope == "culprit") budget->scope = BudgetScope::culprit;
    budget->name = field(entry, "name");
    budget->owner = field(entry, "owner");
    budget->function = field(entry, "function");
    budget->file = field(entry, "file");
    budget->module = field(entry, "module");
    if (!budget->function.empty() || !budget->file.empty() || !budget->module.empty()) {
      if (budget->scope == BudgetScope::total || budget->scope == BudgetScope::culprit)
        return mistake(file_name, line, "a budget for the total or for culprits takes no function, file or module");
      if (scope.empty()) budget->scope = BudgetScope::match;
    }
    budgets.push_back(*std::move(budget));
  }
  return budgets;
}

Result<std::vector<Allowance>> parse_allowances(const std::string& toml, const std::string& file_name) {
  const auto entries = entries_of(toml, file_name, "accept", {"id", "name", "amount", "until", "reason"});
  if (!entries) return entries.error();
  std::vector<Allowance> allowances;
  for (const Value& entry : *entries) {
    const auto line = entry.line;
    Allowance one{field(entry, "id"), field(entry, "name"), field(entry, "amount"), field(entry, "until"),
                  field(entry, "reason")};
    if (one.id.empty()) return mistake(file_name, line, "an entry needs id = \"LEAK-ID\"");
    if (!one.until.empty() && !is_day(one.until))
      return mistake(file_name, line, "until = '" + one.until + "': expected a day like 2026-12-31");
    if (!one.text.empty()) {
      const Result<Budget> amount = parse_budget(one.text);
      if (!amount) return mistake(file_name, line, amount.error().message);
    }
    allowances.push_back(std::move(one));
  }
  return allowances;
}

std::string allowance_text(const std::vector<Allowance>& entries) {
  std::string out;
  for (const Allowance& one : entries) {
    out += "\n[[accept]]\nid = " + quoted(one.id) + "\nname = " + quoted(one.name) + "\n";
    if (!one.text.empty()) out += "amount = " + quoted(one.text) + "\n";
    if (!one.until.empty()) out += "until = " + quoted(one.until) + "\n";
    if (!one.reason.empty()) out += "reason = " + quoted(one.reason) + "\n";
  }
  return out;
}

Allowance allowance_for(const GateFinding& finding, const GateReport& report, const std::string& until,
                        const std::string& reason) {
  const double amount = std::ceil(finding.measured.value_or(0) * kHeadroom);
  static constexpr const char* kPer[] = {"", "/step", "/s", "/jump"};
  const char* const per = kPer[static_cast<std::size_t>(report.budgets[finding.budget].measure)];
  const auto whole = static_cast<std::int64_t>(std::min(amount, 9e18));
  return {finding.id, finding.name, std::to_string(whole) + per, until, reason};
}

}  // namespace snapdiff::gate
