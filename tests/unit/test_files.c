// SPDX-License-Identifier: BSD-2-Clause
#include "fields.h"
#include "sample.h"

#include "core/counts.h"
#include "store/csv.h"
#include "host/host.h"
#include "store/json.h"
#include "store/atomic_file.h"
#include "store/recording.h"
#include "store/rundir.h"
#include "store/writer.h"

#define WHEN 1795216500 /* 2026-11-20T23:15:00Z */

static struct run *run;
static struct outfile file;
static struct json_object *object; /* what a test reads */

static void begin(void)
{
	run = sample_run();
	file = (struct outfile){ 0 };
	object = NULL;
}

static void end(void)
{
	json_object_put(object);
	sample_free(run);
}

static const char *content(const char *name)
{
	char *got = unit_read(dir, name);

	assert_non_null(got);
	return got;
}

static void assert_file(const char *name, const char *expected)
{
	assert_string_equal(content(name), expected);
}

static void assert_absent(const char *name)
{
	assert_int_equal(access(unit_path(dir, name), F_OK), -1);
}

static struct rundir rundir; /* the newest one */
static char path[4096]; /* of it */

static int create(const char *parent, const char *label, size_t size)
{
	return rundir__create(&rundir, parent, WHEN, label, path, size);
}

static void assert_created(const char *parent, const char *label, const char *name)
{
	assert_int_equal(create(unit_path(dir, parent), label, sizeof(path)), 0);
	assert_string_equal(path, unit_path(dir, name));
}

TEST(run_directories)
{
	char text[32];

	assert_created("a/b", NULL, "a/b/20261120T231500Z");
	assert_created("a/b", NULL, "a/b/20261120T231500Z-2");
	assert_created("a/b", NULL, "a/b/20261120T231500Z-3");
	assert_created("a/b//", NULL, "a/b/20261120T231500Z-4");
	assert_created("a/b", "../off \303\251", "a/b/20261120T231500Z-..-off---");
	rundir__discard(&rundir);
	assert_absent("a/b/20261120T231500Z-..-off---");
	assert_int_equal(create(unit_path(dir, "a/b"), NULL, 20), -ENAMETOOLONG);
	assert_string_equal(rundir__utc(WHEN, text, sizeof(text)), "2026-11-20T23:15:00Z");
}

TEST(run_directory_errors)
{
	unit_write(dir, "file", "");
	assert_int_equal(create(unit_path(dir, "file"), NULL, sizeof(path)), -ENOTDIR);
	assert_int_equal(create(unit_path(dir, "file/below"), NULL, sizeof(path)), -ENOTDIR);
	assert_int_equal(create("", NULL, sizeof(path)), -ENOENT);
	assert_int_equal(create("/proc/nonesuch", NULL, sizeof(path)), -ENOENT);
}

/* Another user could rename what root makes. */
TEST(test_root_makes_no_directory_where_others_can_rename_it)
{
	unsetenv("SUDO_UID");
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(create(dir, NULL, sizeof(path)), geteuid() ? 0 : -EREMCHG);
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(create(dir, NULL, sizeof(path)), 0);
}

/* SQLite takes 512 bytes: PARENT/20261120T231500Z-LABEL-1000/run.db.new-journal is the longest. */
TEST(test_nothing_is_made_where_a_path_would_be_too_long)
{
	static struct recording recording;
	struct recording_settings settings = { .nr_labels = 1, .labels = { { "name" } } };
	char parent[PATH_MAX] = "";

	memset(settings.labels[0].value, 'x', 70); /* 63 of them are used */
	strcpy(parent, unit_path(dir, "made/"));
	for (size_t at = strlen(parent); at < 4050; at++)
		parent[at] = at % 100 ? 'y' : '/';
	assert_int_equal(recording__create(&recording, parent, &settings), -ENAMETOOLONG);
	parent[408] = '\0';
	assert_int_equal(recording__create(&recording, parent, &settings), -ENAMETOOLONG);
	assert_absent("made");
	parent[407] = '\0';
	assert_int_equal(recording__create(&recording, parent, &settings), 0);
}

TEST(files_appear_whole)
{
	unit_write(dir, "out", "old");
	assert_int_equal(outfile__open(&file, dir, "out"), 0);
	fputs("new", file.stream);
	fflush(file.stream);
	assert_file("out", "old");
	assert_int_equal(outfile__commit(&file), 0);
	assert_file("out", "new");
	assert_absent(".out.tmp");

	assert_int_equal(outfile__open(&file, dir, "out"), 0);
	fputs("newer", file.stream);
	outfile__abort(&file);
	assert_file("out", "new");
	assert_absent(".out.tmp");
}

TEST(failed_files_leave_nothing)
{
	assert_int_equal(outfile__open(&file, unit_path(dir, "nonesuch"), "out"), -ENOENT);
	/* the device that is always full, in place of the temporary file */
	assert_int_equal(outfile__open(&file, dir, "out"), 0);
	assert_non_null(freopen("/dev/full", "w", file.stream));
	fputs("lost", file.stream);
	assert_int_equal(outfile__commit(&file), -ENOSPC);
	assert_absent("out");
	assert_absent(".out.tmp");
	/* renaming to where a directory stands */
	assert_int_equal(mkdir(unit_path(dir, "out"), 0777), 0);
	assert_int_equal(outfile__open(&file, dir, "out"), 0);
	assert_int_equal(outfile__commit(&file), -EISDIR);
	assert_absent(".out.tmp");
}

static unsigned int synced_files, synced_dirs;

/* In place of that of libc. */
int fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	synced_files += S_ISREG(st.st_mode) && st.st_size == 4;
	synced_dirs += S_ISDIR(st.st_mode) && !access(unit_path(dir, "out"), F_OK);
	return 0;
}

TEST(test_file_is_on_the_disk_before_its_name_is)
{
	synced_files = synced_dirs = 0;
	assert_int_equal(outfile__open(&file, dir, "out"), 0);
	fputs("some", file.stream);
	assert_int_equal(synced_files + synced_dirs, 0);
	assert_int_equal(outfile__commit(&file), 0);
	assert_int_equal(synced_files, 1);
	assert_int_equal(synced_dirs, 1);
}

TEST(test_no_field_of_csv_is_a_formula)
{
	static const struct {
		const char *text, *field;
	} table[] = {
		{ "=1+1", "\"'=1+1\"" },
		{ "+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\"" },
		{ "@SUM(A1)", "\"'@SUM(A1)\"" },
		{ "-bash (1)", "\"'-bash (1)\"" },
		{ "\t=1", "\"'\t=1\"" },
		{ "\r=1", "\"'\r=1\"" },
		{ "=\"a\"", "\"'=\"\"a\"\"\"" },
		{ "a=1", "a=1" },
		{ "a,b", "\"a,b\"" },
		{ "", "" },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		csv__field(unit_print(), table[i].text);
		assert_string_equal(unit_printed(), table[i].field);
	}
}

TEST(test_json_has_null_for_what_is_no_number)
{
	struct json_object *given = json_tokener_parse(
		"{\"a\": NaN, \"b\": -Infinity, \"c\": 1.5, \"d\": \"x\\u202ey\", \"e\": 2}");

	assert_non_null(given);
	json_object_object_add(given, "f", json_object_new_double_s(NAN, "nan"));
	assert_int_equal(json__print(given, unit_print(), false), 0);
	assert_string_equal(unit_printed(),
			    "{\"a\":null,\"b\":null,\"c\":1.5,\"d\":\"x?y\",\"e\":2,\"f\":null}\n");
}

static const char *csv_of(const struct lat_hist *hist)
{
	csv__histogram(unit_print(), hist);
	return unit_printed();
}

TEST(csv_bytes)
{
	struct lat_hist hist = { 0 };

	assert_string_equal(csv_of(&hist), "bucket,lo_us,hi_us,count\n");

	sample_add(&hist, 0, 1);
	sample_add(&hist, 1999, 2);
	assert_string_equal(csv_of(&hist), "bucket,lo_us,hi_us,count\n0,0,2,3\n");

	sample_add(&hist, 2000, 4);
	sample_add(&hist, 16000, 5);
	assert_string_equal(csv_of(&hist), "bucket,lo_us,hi_us,count\n"
					   "0,0,2,3\n1,2,4,4\n2,4,8,0\n3,8,16,0\n4,16,32,5\n");

	sample_add(&hist, HIST_LIMIT_NS - 1, 1);
	sample_add(&hist, HIST_LIMIT_NS, 1ULL << 63);
	assert_has(csv_of(&hist), "\n35,34359738368,68719476736,1\n"
				  "36,68719476736,inf,9223372036854775808\n");
}

TEST(csv_files)
{
	struct writer writer = { .ops = &writer_csv, .dir = dir };

	sample_key(&run->probes[0].total, 7, LAT_BY_PROCESS, 0, "say \"hi\", (7)", 2500, 1);
	assert_int_equal(writer.ops->open(&writer, run), 0);
	assert_int_equal(writer.ops->close(&writer, run), 0);
	assert_file("iolat.csv", "bucket,lo_us,hi_us,count\n"
				 "0,0,2,0\n1,2,4,0\n2,4,8,0\n3,8,16,0\n4,16,32,1234\n"
				 "5,32,64,145766\n6,64,128,0\n7,128,256,0\n8,256,512,0\n"
				 "9,512,1024,0\n10,1024,2048,0\n11,2048,4096,0\n12,4096,8192,1\n");
	assert_int_equal(access(unit_path(dir, "iolat-queue.csv"), F_OK), 0);
	assert_int_equal(access(unit_path(dir, "iolat-total.csv"), F_OK), 0);
	assert_file("runqlat.csv", "bucket,lo_us,hi_us,count\n");
	assert_absent("memlat.csv");
	assert_absent("iolat-device.csv");
	assert_file("iolat-by-disk.csv",
		    "key,events,mean_us,p50_us,p99_us,p999_us,max_us,tail_events,sum_us\n"
		    "sda,3,40.000,40.000,40.000,40.000,40.000,3,120.000\n"
		    "vdb,1,1.000,1.000,1.000,1.000,1.000,0,1.000\n");
	assert_file("iolat-queue-by-disk.csv",
		    "key,events,mean_us,p50_us,p99_us,p999_us,max_us,tail_events,sum_us\n"
		    "sda,3,50.000,50.000,50.000,50.000,50.000,3,150.000\n");
	assert_file("iolat-by-process.csv",
		    "key,events,mean_us,p50_us,p99_us,p999_us,max_us,tail_events,sum_us\n"
		    "a-name-15-bytes (4194303),200000,45.000,45.000,45.000,45.000,45.000,200000,"
		    "9000000.000\n"
		    "fio (12),1001,40.000,40.000,40.000,40.000,40.000,1001,40040.000\n"
		    "\"say \"\"hi\"\", (7)\",1,2.500,2.500,2.500,2.500,2.500,0,2.500\n"
		    "(other),90000000,50.000,50.000,50.000,50.000,50.000,90000000,"
		    "4500000000.000\n");
	run->probes[0].by = 0;
	writer.dir = "/nonesuch";
	assert_int_equal(writer.ops->close(&writer, run), -ENOENT);
}

TEST(writers_need_a_directory)
{
	static const struct writer_ops *const all[] = { &writer_csv, &writer_summary, &writer_db };

	for (size_t i = 0; i < COUNT_OF(all); i++) {
		struct writer writer = { .ops = all[i] };

		assert_int_equal(writer.ops->open(&writer, run), -EINVAL);
	}
}

/* Writes all summaries, and reads one of them. */
static void read_summary(const char *name)
{
	struct writer writer = { .ops = &writer_summary, .dir = dir };

	assert_int_equal(writer.ops->open(&writer, run), 0);
	assert_int_equal(writer.ops->close(&writer, run), 0);
	object = json_tokener_parse(content(name));
	assert_non_null(object);
}

TEST(summary_has_its_fields_in_order)
{
	const char *names = "";

	read_summary("iolat.summary.json");
	json_object_object_foreach(object, name, value)
	{
		names = unit_text("%s %s", names, name);
	}
	assert_string_equal(names, " schema module metric duration_sec total_events tail_events"
				   " tail_threshold_us max_bucket max_us mean_us percentiles"
				   " accounting mechanism metrics keys start_utc workload filter"
				   " host labels complete running");
	assert_absent("memlat.summary.json");
}

TEST(summary_holds_the_run)
{
	static const struct {
		const char *path, *value;
	} expected[] = {
		{ "schema", "3" },
		{ "module", "\"iolat\"" },
		{ "metric", "\"device\"" },
		{ "duration_sec", "10" },
		{ "total_events", "147001" },
		{ "tail_events", "147001" },
		{ "tail_threshold_us", "8" },
		{ "max_bucket", "12" },
		{ "max_us", "4560.001" },
		{ "accounting/seen", "147011" },
		{ "accounting/recorded", "147001" },
		{ "accounting/missed_start", "10" },
		{ "accounting/missed_start_ns", "null" },
		{ "accounting/filtered_ns", "0" },
		{ "accounting/unmatched_ns", "0" },
		{ "accounting/continued", "0" },
		{ "accounting/requeued", "2" },
		{ "accounting/balanced", "false" },
		{ "accounting/recursion_missed", "7" },
		{ "accounting/lost", "17" },
		{ "accounting/in_flight",
		  "{\"count\":3,\"before_attach\":0,\"oldest_us\":1234000,\"sum_us\":0}" },
		{ "mechanism/method", "\"stamps\"" },
		{ "mechanism/cost",
		  "{\"events\":1000,\"ns_per_event\":123,\"cpu_share\":0.001808}" },
		{ "metrics/0/metric", "\"device\"" },
		{ "metrics/2/metric", "\"total\"" },
		{ "metrics/2/total_events", "147001" },
		{ "metrics/2/accounting/seen", "147011" },
		{ "metrics/2/log2_counts/4", "1234" },
		{ "keys/0/by", "\"process\"" },
		{ "keys/0/name", "\"a-name-15-bytes (4194303)\"" },
		{ "keys/0/sum_us", "9000000" },
		{ "keys/2/id", "null" },
		{ "keys/4/metric", "\"device\"" },
		{ "keys/5/metric", "\"queue\"" },
		{ "workload/command", "\"fio --name=\\\"a b\\\"\"" },
		{ "workload/exit_status", "3" },
		{ "workload/signal", "null" },
		{ "filter", "\"pid 12, disk sda\"" },
		{ "host/kernel", "\"6.1.0\"" },
		{ "host/mitigations/meltdown", "\"PTI\"" },
		{ "labels", "{\"case\":\"off\",\"who\":\"J. \\\"Doe\\\", x=y\"}" },
		{ "complete", "true" },
		{ "running", "false" },
	};

	read_summary("iolat.summary.json");
	for (size_t i = 0; i < COUNT_OF(expected); i++)
		assert_field(object, expected[i].path, expected[i].value);
	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		if (counts__name(i))
			field(object, unit_text("accounting/%s", counts__name(i)));
}

TEST(summary_without_events)
{
	free(run->workload);
	free(run->filter);
	free(run->host);
	run->workload = run->filter = run->host = NULL;
	read_summary("runqlat.summary.json");
	assert_field(object, "max_bucket", "null");
	assert_field(object, "max_us", "null");
	assert_field(object, "mean_us", "null");
	assert_field(object, "percentiles/p50_us", "null");
	assert_field(object, "percentiles/p99_99_us", "null");
	assert_field(object, "accounting/in_flight/oldest_us", "null");
	assert_field(object, "mechanism/cost", "null");
	assert_field(object, "workload", "null");
	assert_field(object, "filter", "null");
	assert_field(object, "host", "null");
	assert_field(object, "total_events", "0");
	assert_field(object, "metrics/0/log2_counts", "[]");
	assert_false(json_object_object_get_ex(object, "keys", NULL));
}

TEST(run_as_json)
{
	object = json__run(run);
	assert_field(object, "schema", "3");
	assert_field(object, "probes/0/module", "\"iolat\"");
	assert_field(object, "probes/0/total_events", "147001");
	assert_field(object, "probes/1/module", "\"memlat\"");
	assert_field(object, "probes/1/refused",
		     "\"the kernel does not allow kprobes here (lockdown)\"");
	assert_field(object, "probes/2/total_events", "0");
	assert_field(object, "labels/case", "\"off\"");
}

/* Bytes that are no UTF-8 would make the whole file unreadable. */
TEST(json_is_always_valid)
{
	free(run->workload);
	run->workload = strdup("a\377b\033c\"\\");
	free(run->host);
	run->host = strdup("not JSON");
	strcpy(run->labels[0].key, "k\200");
	read_summary("iolat.summary.json");
	assert_field(object, "workload/command", "\"a?b?c\\\"\\\\\"");
	assert_field(object, "labels/k?", "\"off\"");
	assert_field(object, "host", "null");
}

TEST(live_json_is_a_line_an_interval)
{
	struct run_data *deltas = calloc(3, sizeof(*deltas));
	struct run_interval interval = { .start_ns = 1000000000,
					 .end_ns = 2500000001,
					 .delta = deltas };
	struct writer writer = { .ops = &writer_live_json };
	const char *second;

	sample_fill(&deltas[0], 0);
	writer.state = unit_print();
	assert_int_equal(writer.ops->interval(&writer, run, &interval), 0);
	assert_int_equal(writer.ops->interval(&writer, run, &interval), 0);
	second = strchr(unit_printed(), '\n') + 1;
	assert_string_equal(strchr(second, '\n'), "\n");
	object = json_tokener_parse(second);
	assert_field(object, "start_sec", "1");
	assert_field(object, "end_sec", "2.500000001");
	assert_field(object, "probes/0/module", "\"iolat\"");
	assert_field(object, "probes/0/metrics/0/total_events", "147001");
	assert_field(object, "probes/1/module", "\"runqlat\"");
	run__clear_data(&deltas[0]);
	free(deltas);
}

TEST(a_reader_that_left_is_an_error)
{
	struct writer writer = { .ops = &writer_live };

	writer.state = fopen("/dev/full", "w");
	assert_int_equal(writer.ops->open(&writer, run), -ENOSPC);
	fclose(writer.state);
}

static void describe(const char *root)
{
	json_object_put(object);
	object = json_tokener_parse(unit_keep(host__describe(root)));
	assert_non_null(object);
}

TEST(host_of_a_fake_machine)
{
	unit_write(dir, "proc/sys/kernel/osrelease", "6.1.0-test\n");
	unit_write(dir, "proc/sys/kernel/hostname", "web7\n");
	unit_write(dir, "proc/cpuinfo",
		   "processor\t: 0\nmodel name\t: Fast CPU\nflags\t\t: fpu hypervisor sse\n\n"
		   "processor\t: 1\nmodel name\t: Other CPU\n");
	unit_write(dir, "proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
	unit_write(dir, "sys/devices/system/cpu/online", "0-3,8,10-11\n");
	unit_write(dir, "sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
	unit_write(dir, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	unit_write(dir, "sys/kernel/debug/sched/preempt", "none (voluntary) full\n");
	unit_write(dir, "sys/kernel/sched_ext/root/ops", "holding\n");
	unit_write(dir, "sys/block/sda/size", "100\n");
	unit_write(dir, "sys/block/sda/queue/scheduler", "none [mq-deadline] kyber\n");
	unit_write(dir, "sys/block/loop0/size", "0\n");
	unit_write(dir, "sys/block/loop0/queue/scheduler", "[none]\n");
	describe(dir);
	assert_field(object, "kernel", "\"6.1.0-test\"");
	assert_field(object, "hostname", "\"web7\"");
	assert_field(object, "cpu_model", "\"Fast CPU\"");
	assert_field(object, "hypervisor", "true");
	assert_field(object, "cpus_online", "7");
	assert_field(object, "memory_kb", "16384");
	assert_field(object, "thp", "\"madvise\"");
	assert_field(object, "preempt", "\"voluntary\"");
	assert_field(object, "sched_ext", "\"holding\"");
	assert_field(object, "io_schedulers", "{\"sda\":\"mq-deadline\"}");
	assert_field(object, "mitigations/meltdown", "\"Mitigation: PTI\"");
	assert_false(json_object_object_get_ex(object, "governor", NULL));
	assert_false(json_object_object_get_ex(object, "clocksource", NULL));
}

TEST(host_of_nothing_and_of_this)
{
	describe(unit_path(dir, "empty"));
	assert_false(json_object_object_get_ex(object, "kernel", NULL));
	assert_false(json_object_object_get_ex(object, "mitigations", NULL));
	field(object, "latscope");
	describe("");
	field(object, "kernel");
	assert_lacks(unit_keep(host__describe("")), "\n");
}

UNIT_FIXTURES(.each = { begin, end })
