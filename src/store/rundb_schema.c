// SPDX-License-Identifier: BSD-2-Clause
#include "rundb_rows.h"

#define ROWS(list) .columns = list, .nr = sizeof(list) / sizeof((list)[0])

#define ID(kind, member) RUNDB_COLUMN(#member, kind, 0, struct id, member)
struct id {
	uint64_t id;
};

#define LABEL(name, member) RUNDB_COLUMN(name, TEXT, 1, struct run_label, member)
static const struct rundb_column label_columns[] = {
	{ ID(NUMBER, id) },
	{ LABEL("name", key) },
	{ LABEL("value", value) },
};
const struct rundb_rows rundb_labels = {
	.name = "label", .key = "PRIMARY KEY(id))", .which = "ORDER BY id", ROWS(label_columns)
};

#define BEGIN(name, kind, member) RUNDB_COLUMN(name, kind, PROBE_BEGIN, struct run_probe, member)
#define END(name, kind, member) RUNDB_COLUMN(name, kind, PROBE_END, struct run_probe, member)
#define OLDEST(name, kind, member) RUNDB_COLUMN(name, kind, PROBE_OLDEST, struct oldest, member)
#define WHY(kind, member) RUNDB_COLUMN("why_" #member, kind, PROBE_WHY, struct run_why, member)
struct oldest {
	int64_t ns;
};
static const struct rundb_column probe_columns[] = {
	{ ID(NUMBER, id) },
	{ BEGIN("name", TEXT, name) },
	{ BEGIN("method", TEXT, method) },
	{ BEGIN("mechanism", TEXT, mechanism) },
	{ BEGIN("refused", TEXT, refused) },
	{ BEGIN("split", SPLITS, by) },
	{ END("in_flight_count", NUMBER, in_flight.count), .first = "open_count" },
	{ OLDEST("in_flight_oldest_ns", SIGNED, ns), .first = "open_oldest_ns" },
	{ END("recursion_missed", NUMBER, recursion_missed) },
	{ END("cost_runs", NUMBER, cost.runs) },
	{ END("cost_run_ns", NUMBER, cost.run_ns) },
	{ END("cost_timed_ns", NUMBER, cost.timed_ns) },
	{ END("cost_timed_events", NUMBER, cost.timed_events) },
	{ END("in_flight_sum_ns", NUMBER, in_flight.sum_ns), .first = "open_sum_ns" },
	{ END("in_flight_before", NUMBER, in_flight.before), .first = "open_before" },
	{ WHY(NUMBER, slow), .first = "" },
	{ WHY(NUMBER, slow_ns), .first = "" },
	{ WHY(NUMBER, sent), .first = "" },
	{ WHY(NUMBER, dropped), .first = "" },
	{ WHY(NUMBER, over_low_ns), .first = "" },
	{ WHY(NUMBER, over_high_ns), .first = "" },
	/* The first recordings of each version have one in the table meta, for all probes. */
	{ BEGIN("tail_ns", NUMBER, tail_ns), .later = true },
	{ WHY(FLAG, few), .later = true },
	{ RUNDB_COLUMN("why_own", NUMBER, PROBE_WHY, struct run_why, of_latscope), .later = true },
	{ RUNDB_COLUMN("why_own_ns", NUMBER, PROBE_WHY, struct run_why, of_latscope_ns),
	  .later = true },
	{ WHY(OPTIONAL, disks), .later = true },
	{ END("no_event", NUMBER, no_event), .later = true },
	{ END("in_flight_of", TEXT, in_flight_of), .later = true },
	{ BEGIN("filter", POINTER, filter), .later = true, .most = RUN_FILTER },
};
const struct rundb_rows rundb_probes = { .name = "probe",
					 .first_name = "module",
					 .key = "PRIMARY KEY(id))",
					 .which = "ORDER BY id",
					 ROWS(probe_columns) };

#define OF_PROBE(table, member) RUNDB_COLUMN(#member, NUMBER, 0, struct table, member)
#define METRIC(member) RUNDB_COLUMN(#member, TEXT, 1, struct run_metric, member)
static const struct rundb_column metric_columns[] = {
	{ OF_PROBE(rundb_metric, id) },
	{ OF_PROBE(rundb_metric, probe), .first = "module" },
	{ METRIC(name) },
	{ METRIC(what) },
};
const struct rundb_rows rundb_metrics = {
	.name = "metric", .key = "PRIMARY KEY(id))", .which = "ORDER BY id", ROWS(metric_columns)
};

#define CHECK(member) RUNDB_COLUMN(#member, TEXT, 1, struct run_check, member)
#define SUM(kind, member) RUNDB_COLUMN(#member, kind, 2, struct run_checked, member)
static const struct rundb_column check_columns[] = {
	{ OF_PROBE(rundb_checked, probe), .first = "module" },
	{ RUNDB_COLUMN("sum", TEXT, 0, struct rundb_checked, sum) },
	{ CHECK(source) },
	{ CHECK(why) },
	{ SUM(NUMBER, ours_low) },
	{ SUM(LIMIT, ours_high) },
	{ SUM(NUMBER, kernel_low) },
	{ SUM(NUMBER, kernel_high) },
	{ SUM(NUMBER, tolerance) },
};
const struct rundb_rows rundb_checks = { .name = "kernel_check",
					 .key = "PRIMARY KEY(probe, sum)) WITHOUT ROWID",
					 .which = "",
					 ROWS(check_columns) };

#define FRAME(kind, member) RUNDB_COLUMN(#member, kind, 0, struct frame, member), .first = ""
static const struct rundb_column frame_columns[] = {
	{ FRAME(NUMBER, pid) },
	{ FRAME(ADDRESS, address) },
	{ FRAME(POINTER, name), .most = FRAME_TEXT },
	{ FRAME(POINTER, place), .most = FRAME_TEXT },
	{ FRAME(FLAG, truncated) },
};
const struct rundb_rows rundb_frames = { .name = "frame",
					 .first_name = "meta",
					 .key = "PRIMARY KEY(pid, address)) WITHOUT ROWID",
					 .which = "",
					 .first_which = "WHERE 0",
					 .needed = 1,
					 ROWS(frame_columns) };

#define DECLARED(name, kind, member) RUNDB_COLUMN(name, kind, 0, struct rundb_declared, member)
#define COLUMN(name, kind, member) RUNDB_COLUMN(name, kind, 1, struct table_column, member)
static const struct rundb_column column_columns[] = {
	{ DECLARED("of_table", POINTER, table), .first = "", .most = RUN_NAME },
	{ DECLARED("position", NUMBER, position) },
	{ COLUMN("name", POINTER, name), .most = RUN_NAME },
	{ COLUMN("unit", POINTER, unit), .most = RUN_NAME },
	{ COLUMN("what", POINTER, what), .most = RUN_TEXT },
	{ DECLARED("kind", POINTER, kind), .most = RUN_NAME },
	{ COLUMN("is_key", FLAG, key) },
	{ COLUMN("mean_of", POINTER, mean_of), .first = "", .most = RUN_NAME },
	{ COLUMN("mean_per", POINTER, mean_per), .first = "", .most = RUN_NAME },
	{ COLUMN("mean_scale", NUMBER, mean_scale), .first = "" },
};
const struct rundb_rows rundb_columns = {
	.name = "table_column",
	.key = "PRIMARY KEY(of_table, position)) WITHOUT ROWID",
	.which = "WHERE of_table = ? ORDER BY position",
	.first_which = "WHERE module = (SELECT id FROM module WHERE name = ?) ORDER BY position",
	.needed = 3,
	ROWS(column_columns)
};
