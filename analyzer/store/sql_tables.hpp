#pragma once

#include <memory>

#include "analyzer/store/session.hpp"

/// The compressed columns as SQL tables (README.md, "Virtual tables"). Nothing of them is in the
/// file: they exist in a connection once they are registered with it.
namespace snapdiff::store {

/// Registers stack, stack_frame, sample, segment, block, trace_event, growth, trend, retained, stack_text() and the
/// statistics; the connection shares the session until it is closed. Throws.
void register_tables(const std::shared_ptr<Session>& session);

/// One register function per module.
void register_stack_tables(const std::shared_ptr<Session>& session);
void register_sample_table(const std::shared_ptr<Session>& session);
void register_growth_table(const std::shared_ptr<Session>& session);
void register_trend_table(const std::shared_ptr<Session>& session);
void register_retained_table(const std::shared_ptr<Session>& session);
void register_allocator_tables(const std::shared_ptr<Session>& session);
void register_trace_table(const std::shared_ptr<Session>& session);

/// The aggregates theil_sen(x, y), the median slope, and mann_kendall(x, y), the one-sided p of a rise.
void register_statistics(sqlite3* db);

/// The function of a frame, else module+0xoffset; `row` of the frame table.
std::string frame_text(const Dictionary& dictionary, std::uint32_t row);

/// "leaf ‹ caller ‹ … ‹ main"; unsymbolized frames as module+0xoffset.
std::string stack_text(const Catalog& catalog, std::span<const std::uint32_t> root_first);

}  // namespace snapdiff::store
