#include "analyzer/mcp/mcp_server.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/mcp/json_value.hpp"
#include "analyzer/mcp/resources.hpp"
#include "analyzer/mcp/tool_answers.hpp"
#include "analyzer/mcp/tools.hpp"

namespace snapdiff::mcp {
namespace {

using report::JsonWriter;

// Revisions of the protocol. Since 2026-07-28 each request says its own; the ones before begin with a handshake.
constexpr std::string_view kRevision = "2026-07-28";
constexpr std::array<std::string_view, 2> kHandshakes = {"2025-11-25", "2025-06-18"};

// JSON-RPC 2.0, and two of the protocol.
constexpr int kNoJson = -32700;
constexpr int kNoRequest = -32600;
constexpr int kNoMethod = -32601;
constexpr int kBadParameters = -32602;
constexpr int kInternal = -32603;
constexpr int kNoResource = -32002;
constexpr int kNoRevision = -32022;

constexpr std::string_view kInstructions =
    "Finds memory leaks in saved heap snapshots and profiles. Begin with inspect on the folder, then trend (3 files "
    "and "
    "more) or diff (2), then culprit. Answers are short; each ends with the two next calls. A handle such as r1 stands "
    "for the files of an earlier answer.";

/// A request that cannot be answered; `fill` adds fields to its data.
struct RpcFailure {
  int code;
  std::string message;
  std::string requested = {};  ///< a revision that is not known
};

struct Request {
  std::string method;
  const JsonValue* parameters = nullptr;
  bool has_own_revision = false;

  const JsonValue* parameter(std::string_view name) const {
    return parameters == nullptr ? nullptr : parameters->find(name);
  }
};

void write_id(JsonWriter& json, const JsonValue* id) {
  json.key("id");
  if (id == nullptr) return json.null();
  id->is_text() ? json.string(id->text) : json.raw(id->text);
}

template <class Fill>
std::string message_of(const JsonValue* id, std::string_view name, const Fill& fill) {
  std::string out;
  JsonWriter json(out, report::JsonLayout::one_line);
  json.object([&] {
    json.field("jsonrpc", "2.0");
    write_id(json, id);
    json.object(name, [&] { fill(json); });
  });
  return out;
}

std::string error_message(const JsonValue* id, const RpcFailure& failure) {
  return message_of(id, "error", [&](JsonWriter& json) {
    json.field("code", static_cast<std::int64_t>(failure.code));
    json.field("message", failure.message);
    if (failure.code != kNoRevision) return;
    json.object("data", [&] {
      json.key("supported");
      json.begin_array();
      json.string(kRevision);
      json.end_array();
      json.field("requested", failure.requested);
    });
  });
}

void write_server_info(JsonWriter& json, std::string_view name) {
  json.object(name, [&] {
    json.field("name", "snapdiff");
    json.field("title", "snapdiff: what grew between heap snapshots");
    json.field("version", SNAPDIFF_VERSION);
  });
}

void write_capabilities(JsonWriter& json) {
  json.object("capabilities", [&] {
    json.object("tools", [] {});
    json.object("resources", [] {});
  });
}

/// The fields of a request's id; null where it has none that can be answered.
const JsonValue* id_of(const JsonValue& message) {
  const JsonValue* const id = message.find("id");
  return id != nullptr && (id->is_text() || id->is_integer()) ? id : nullptr;
}

/// Whether the request says its revision; throws RpcFailure where it does so wrongly.
bool check_revision(const Request& request) {
  const JsonValue* const meta = request.parameter("_meta");
  if (meta != nullptr && !meta->is_object()) throw RpcFailure{kBadParameters, "_meta: expected an object"};
  const JsonValue* const revision = meta == nullptr ? nullptr : meta->find("io.modelcontextprotocol/protocolVersion");
  if (revision == nullptr) {
    if (request.method == "server/discover")
      throw RpcFailure{kBadParameters, "_meta lacks io.modelcontextprotocol/protocolVersion"};
    return false;
  }
  if (!revision->is_text())
    throw RpcFailure{kBadParameters, "io.modelcontextprotocol/protocolVersion: expected a text"};
  if (revision->text != kRevision)
    throw RpcFailure{kNoRevision, "unsupported protocol version", revision->text.substr(0, 60)};
  const JsonValue* const capabilities = meta->find("io.modelcontextprotocol/clientCapabilities");
  if (capabilities == nullptr || !capabilities->is_object())
    throw RpcFailure{kBadParameters, "_meta lacks io.modelcontextprotocol/clientCapabilities"};
  return true;
}

void refuse_cursor(const Request& request) {
  const JsonValue* const cursor = request.parameter("cursor");
  if (cursor != nullptr && cursor->kind != JsonKind::null)
    throw RpcFailure{kBadParameters, "invalid cursor: all is on the first page"};
}

}  // namespace

struct Server::State {
  Session session;

  std::string answer(const JsonValue& message);
  void write(JsonWriter& json, const Request& request);
  void initialize(JsonWriter& json, const Request& request) const;
  void list_tools(JsonWriter& json) const;
  void call_tool(JsonWriter& json, const Request& request);
  static void list_resources(JsonWriter& json);
  static void read_resource(JsonWriter& json, const Request& request);
};

void Server::State::initialize(JsonWriter& json, const Request& request) const {
  const JsonValue* const wanted = request.parameter("protocolVersion");
  if (wanted == nullptr || !wanted->is_text()) throw RpcFailure{kBadParameters, "initialize lacks protocolVersion"};
  const bool known = std::find(kHandshakes.begin(), kHandshakes.end(), wanted->text) != kHandshakes.end();
  json.field("protocolVersion", known ? std::string_view(wanted->text) : kHandshakes.front());
  write_capabilities(json);
  write_server_info(json, "serverInfo");
  json.field("instructions", kInstructions);
}

void Server::State::list_tools(JsonWriter& json) const {
  json.objects("tools", tools(), [&](const Tool& tool) { write_tool(json, tool, !session.reports.empty()); });
}

void Server::State::call_tool(JsonWriter& json, const Request& request) {
  const JsonValue* const name = request.parameter("name");
  if (name == nullptr || !name->is_text()) throw RpcFailure{kBadParameters, "tools/call lacks the name of a tool"};
  const std::span<const Tool> all = tools();
  const auto tool = std::find_if(all.begin(), all.end(), [&](const Tool& one) { return one.name == name->text; });
  if (tool == all.end()) {
    std::vector<std::string> names;
    for (const Tool& one : all) names.emplace_back(one.name);
    throw RpcFailure{kBadParameters,
                     "unknown tool '" + name->text.substr(0, 60) + "'" + did_you_mean(name->text, names)};
  }
  Result<std::string> told = guarded(
      [&] { return tool->run(session, value_or_throw(tool_arguments(*tool, request.parameter("arguments")))); });
  std::string text;
  if (told) {
    text = *std::move(told);
  } else {
    const Error& error = told.error();
    const bool says_kind = error.code == ErrorCode::usage || error.code == ErrorCode::io;
    text = says_kind ? (error.subject.empty() ? "" : error.subject + ": ") + error.message : error.text();
    std::replace(text.begin(), text.end(), '\n', ' ');
  }
  json.key("content");
  json.begin_array();
  json.object([&] {
    json.field("type", "text");
    json.field("text", text);
  });
  json.end_array();
  json.field("isError", !told.has_value());
}

void Server::State::list_resources(JsonWriter& json) {
  json.objects("resources", resources(), [&](const Resource& resource) {
    json.field("uri", resource.uri);
    json.field("name", resource.name);
    json.field("title", resource.title);
    json.field("mimeType", resource.type);
    json.field("size", resource.text.size());
  });
}

void Server::State::read_resource(JsonWriter& json, const Request& request) {
  const JsonValue* const uri = request.parameter("uri");
  if (uri == nullptr || !uri->is_text()) throw RpcFailure{kBadParameters, "resources/read lacks a uri"};
  const std::span<const Resource> all = resources();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Resource& one) { return one.uri == uri->text; });
  if (found == all.end())
    throw RpcFailure{request.has_own_revision ? kBadParameters : kNoResource,
                     "no such resource: " + uri->text.substr(0, 100)};
  json.one_object("contents", [&] {
    json.field("uri", found->uri);
    json.field("mimeType", found->type);
    json.field("text", found->text);
  });
}

void Server::State::write(JsonWriter& json, const Request& request) {
  const bool is_new = request.has_own_revision;
  const std::string& method = request.method;
  bool is_cacheable = true;
  if (method == "initialize" && !is_new) {
    initialize(json, request);
  } else if (method == "ping" && !is_new) {
    // An empty result says enough.
  } else if (method == "server/discover") {
    json.key("supportedVersions");
    json.begin_array();
    json.string(kRevision);
    json.end_array();
    write_capabilities(json);
    json.field("instructions", kInstructions);
  } else if (method == "tools/list") {
    refuse_cursor(request);
    list_tools(json);
  } else if (method == "tools/call") {
    is_cacheable = false;
    call_tool(json, request);
  } else if (method == "resources/list") {
    refuse_cursor(request);
    list_resources(json);
  } else if (method == "resources/templates/list") {
    refuse_cursor(request);
    json.key("resourceTemplates");
    json.begin_array();
    json.end_array();
  } else if (method == "resources/read") {
    read_resource(json, request);
  } else {
    throw RpcFailure{kNoMethod, "unknown method '" + method.substr(0, 60) + "'"};
  }
  if (!is_new) return;
  json.field("resultType", "complete");
  if (is_cacheable) {  // as long as the program runs, for whoever runs it
    json.field("ttlMs", std::int64_t{3'600'000});
    json.field("cacheScope", "private");
  }
  json.object("_meta", [&] { write_server_info(json, "io.modelcontextprotocol/serverInfo"); });
}

std::string Server::State::answer(const JsonValue& message) {
  const JsonValue* const id = id_of(message);
  try {
    if (message.kind == JsonKind::array) throw RpcFailure{kNoRequest, "a batch: expected one request"};
    const JsonValue* const version = message.find_text("jsonrpc");
    if (version == nullptr || version->text != "2.0")
      throw RpcFailure{kNoRequest, "expected an object with \"jsonrpc\":\"2.0\""};
    const bool is_notification = message.find("id") == nullptr;
    if (!is_notification && id == nullptr) throw RpcFailure{kNoRequest, "id: expected a text or a whole number"};
    const JsonValue* const method = message.find_text("method");
    if (method == nullptr) throw RpcFailure{kNoRequest, "expected a method, as text"};
    if (is_notification) return {};
    Request request{method->text, message.find("params")};
    if (request.parameters != nullptr && !request.parameters->is_object())
      throw RpcFailure{kBadParameters, "params: expected an object"};
    request.has_own_revision = check_revision(request);
    return message_of(id, "result", [&](JsonWriter& json) { write(json, request); });
  } catch (const RpcFailure& failure) {
    return error_message(id, failure);
  } catch (const std::bad_alloc&) {
    return error_message(id, {kInternal, "out of memory; try fewer snapshots at once"});
  } catch (const std::exception& failure) {
    return error_message(id, {kInternal, failure.what()});
  }
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

Result<Server> Server::open(const ServerOptions& options) {
  Result<AllowedPaths> paths = AllowedPaths::below(options.folders);
  if (!paths) return std::move(paths).error();
  std::string reports;
  if (!options.reports.empty()) {
    Result<AllowedPaths> place = AllowedPaths::below({options.reports});
    if (!place) return std::move(place).error();
    reports = place->folders().front();
  }
  return Server(std::make_unique<State>(State{Session{*std::move(paths), std::move(reports)}}));
}

std::string Server::answer(std::string_view message) {
  const Result<JsonValue> parsed = parse_json(message);
  if (!parsed) return error_message(nullptr, {kNoJson, parsed.error().text()});
  return state_->answer(*parsed);
}

std::string Server::answer_too_long() const {
  return error_message(nullptr, {kNoRequest, "a message longer than " + std::to_string(kLongestLine) + " bytes"});
}

}  // namespace snapdiff::mcp
