#include <catch2/catch.hpp>

#include "analyzer/objects/retained_objects.hpp"
#include "graphs.hpp"

using namespace snapdiff;
using objects_test::GraphMaker;

namespace {

bool is_library(std::string_view type) {
  for (const std::string_view known : {"Map", "(array)", "text", "(code)", "(GC roots) (synthetic)",
                                       "java.util.HashMap", "java.util.ArrayList", "Node"}) {
    if (type == known) return true;
  }
  return type.starts_with("system / ") || type.starts_with("java.");
}

OwnerReport owners_of(const SnapshotRef& before, const SnapshotRef& after) {
  auto report = objects::owners(before, after, is_library);
  REQUIRE(report);
  return *std::move(report);
}

/// App (class).CACHE -> OrderCache.byId -> HashMap.table -> [x] -> Order (10) -> text (100), and a Cache of 50 pages.
SnapshotRef shop(std::uint32_t orders, std::uint32_t listed = 0) {
  GraphMaker maker;
  const auto app = maker.node("app.App", 1, 0, kNoObjectId, "class");
  const auto cache = maker.node("app.OrderCache", 10);
  const auto map = maker.node("java.util.HashMap", 40);
  const auto table = maker.node("(array)", 80, 0, kNoObjectId, "");
  const auto list = maker.node("java.util.ArrayList", 24);
  const auto pages = maker.node("app.Pages", 20);
  maker.root(app, "sticky class");
  maker.edge(app, cache, "CACHE");
  maker.edge(app, pages, "PAGES");
  maker.edge(cache, map, "byId");
  maker.edge(cache, list, "all");
  maker.edge(map, table, "table");
  for (std::uint32_t i = 0; i < 50; ++i) maker.element(pages, maker.node("app.Page", 500), i);
  for (std::uint32_t i = 0; i < orders; ++i) {
    const auto order = maker.node("app.Order", 10);
    maker.element(table, order, i);
    if (i < listed) maker.element(list, order, i);
    maker.edge(order, maker.node("text", 100), "customer");
  }
  return maker.finish("shop");
}

}  // namespace

TEST_CASE("owners: the container is named by its field and the static above, with what it keeps") {
  const OwnerReport report = owners_of(shop(10), shop(400));
  REQUIRE(report.owners.size() == 1);
  const Owner& owner = report.owners[0];
  CHECK(owner.holder == "OrderCache.byId (HashMap)");
  CHECK(owner.above == "App.CACHE");
  CHECK(owner.type == "app.Order");
  CHECK(owner.own);
  CHECK(owner.held == Change{10, 400});
  CHECK(owner.retained == Change{10 * 110, 400 * 110});
  CHECK(owner.types == std::vector<std::string>{"app.Order", "text"});
}

TEST_CASE("owners: objects in two collections of one object are one culprit") {
  const OwnerReport report = owners_of(shop(10, 10), shop(400, 400));
  REQUIRE(report.owners.size() == 1);
  CHECK(report.owners[0].holder.starts_with("OrderCache."));
  CHECK(report.owners[0].retained.growth() == 390 * 110);
}

/// Two Tables under one class, each with an array: the first holds orders, the second pages.
SnapshotRef two_tables(std::uint32_t orders, std::uint32_t pages) {
  GraphMaker maker;
  const auto app = maker.node("app.App", 1, 0, kNoObjectId, "class");
  maker.root(app, "sticky class");
  const auto fill = [&](const char* field, const char* type, std::uint32_t count) {
    const auto table = maker.node("app.Table", 16);
    const auto array = maker.node("(array)", 80, 0, kNoObjectId, "");
    maker.edge(app, table, field);
    maker.edge(table, array, "items");
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto record = maker.node("java.util.Record", 8);
      maker.element(array, record, i);
      maker.edge(record, maker.node(type, 100), "value");
    }
  };
  fill("ORDERS", "app.Order", orders);
  fill("PAGES", "app.Page", pages);
  return maker.finish("tables");
}

TEST_CASE("owners: of two containers of one class each has the type that it keeps itself") {
  const OwnerReport report = owners_of(two_tables(10, 20), two_tables(110, 320));
  REQUIRE(report.owners.size() == 2);
  CHECK(report.owners[0].type == "app.Page");
  CHECK(report.owners[0].held == Change{20, 320});
  CHECK(report.owners[0].retained.growth() == 300 * 108);
  CHECK(report.owners[1].type == "app.Order");
  CHECK(report.owners[1].held == Change{10, 110});
  CHECK(report.owners[1].retained.growth() == 100 * 108);
}

TEST_CASE("owners: one heap alone says what holds most") {
  const OwnerReport report = owners_of({}, shop(400));
  REQUIRE(report.owners.size() == 2);
  CHECK(report.owners[0].holder == "OrderCache.byId (HashMap)");
  CHECK(report.owners[1].holder == "Pages");
  CHECK(report.owners[1].retained.current == 50 * 500);
}

TEST_CASE("owners: a linked list is held by the object with its first element") {
  const auto queue = [](int jobs) {
    GraphMaker maker;
    const auto worker = maker.node("app.Worker", 10);
    maker.root(worker, "thread object");
    std::uint32_t last = worker;
    for (int i = 0; i < jobs; ++i) {
      const auto job = maker.node("app.Job", 150);
      maker.edge(last, job, last == worker ? "head" : "next");
      last = job;
    }
    return maker.finish("queue");
  };
  const OwnerReport report = owners_of(queue(20), queue(300));
  REQUIRE(report.owners.size() == 1);
  CHECK(report.owners[0].holder == "Worker.head");
  CHECK(report.owners[0].held == Change{20, 300});
  CHECK(report.owners[0].retained.growth() == 280 * 150);
}

TEST_CASE("owners: a variable is named though references of the engine are shorter") {
  const auto module = [](std::uint32_t sessions) {
    GraphMaker maker;
    const auto roots = maker.node("(GC roots)", 0, 0, kNoObjectId, "synthetic");
    const auto global = maker.node("global", 10);
    const auto closure = maker.node("handle", 64, 0, kNoObjectId, "closure");
    const auto context = maker.node("system / Context", 40);
    const auto map = maker.node("Map", 32);
    const auto table = maker.node("(array)", 100, 0, kNoObjectId, "");
    const auto code = maker.node("", 50, 0, kNoObjectId, "code");
    maker.root(roots, "synthetic root");
    maker.root(global, "global");
    maker.edge(roots, code, "(Stack roots)");
    maker.edge(global, closure, "handle");
    maker.edge(closure, context, "context");
    maker.edge(context, map, "sessions");
    maker.edge(code, map, "deoptimization_literals");
    maker.edge(map, table, "table");
    for (std::uint32_t i = 0; i < sessions; ++i) maker.element(table, maker.node("Session", 200), i);
    return maker.finish("module");
  };
  const OwnerReport report = owners_of(module(10), module(90));
  REQUIRE(report.owners.size() == 1);
  CHECK(report.owners[0].holder == "sessions (Map)");
  CHECK(report.owners[0].above == "handle");
  CHECK(report.owners[0].type == "Session");
}

TEST_CASE("owners: what only gains a second holder did not grow") {
  const auto heap = [](bool shared) {
    GraphMaker maker;
    const auto a = maker.node("app.A", 10);
    const auto b = maker.node("app.B", 10);
    maker.root(a, "sticky class");
    maker.root(b, "sticky class");
    for (std::uint32_t i = 0; i < 50; ++i) {
      const auto page = maker.node("app.Page", 100);
      maker.element(a, page, i);
      if (shared) maker.element(b, page, i);
    }
    return maker.finish("moved");
  };
  CHECK(owners_of(heap(false), heap(true)).owners.empty());
}

TEST_CASE("owners: detached elements of a page are counted") {
  const auto page = [](int dialogs) {
    GraphMaker maker;
    const auto window = maker.node("Window / http://a", 100, 0, kNoObjectId, "native");
    maker.root(window, "global");
    for (int i = 0; i < dialogs; ++i) {
      const auto listener = maker.node("onResize", 30, 0, kNoObjectId, "closure");
      const auto dialog = maker.node("<div class=\"dialog\">", 100, kObjectDetached, kNoObjectId, "native");
      maker.edge(window, listener, "listener");
      maker.edge(listener, dialog, "node");
    }
    return maker.finish("page");
  };
  const OwnerReport report = owners_of(page(3), page(60));
  REQUIRE(report.owners.size() == 1);
  CHECK(report.owners[0].detached == Change{3, 60});
  CHECK(report.owners[0].detached_type == "<div class=\"dialog\"> (native)");
  CHECK(report.owners[0].type == "onResize (closure)");
}
