#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

#include "analyzer/store/store.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"

namespace snapdiff::test {

inline void make_store(const std::string& path) {
  auto store = store::Store::open(path, store::Access::create);
  REQUIRE(store);
  REQUIRE(store->add(small("1", {{"main;a", 1, 10}}), "s"));
}

inline void change(const std::string& path, const std::string& sql) {
  auto store = store::Store::open(path, store::Access::write);
  REQUIRE(store);
  const Status done = store->sql(sql, {}, true);
  if (!done) FAIL(done.error().text());
}

inline std::size_t snapshots_in(const std::string& path) {
  auto store = store::Store::open(path, store::Access::read);
  if (!store) FAIL(store.error().text());
  auto all = store->list();
  if (!all) FAIL(all.error().text());
  const Status sound = store->check();
  if (!sound) FAIL(sound.error().text());
  return all->empty() ? 0 : all->front().snapshots.size();
}

}  // namespace snapdiff::test
