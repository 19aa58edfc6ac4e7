#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Wrong usage of the commands that tests/host tests: refused before anything is measured.
. "$(dirname "$0")/cli.sh"

# ---- ab ----

wrong 'nothing to run' "missing --off 'CMD'" ab
wrong 'one side only' "missing --on 'CMD'" ab --off true
wrong 'no runs' '--runs 0: use a number from 1 to 1000' ab -n 0 --off true --on true
wrong 'an unknown statistic' "--metric 'p98': unknown statistic; choose from tail, p50, " ab --metric p98 --off true --on true
wrong 'an effect of nothing' '--effect 0: use 0.1 to ' ab --effect 0 --off true --on true
wrong 'another plan for an old experiment' '--resume goes on as planned; leave out the other' ab --resume "$dir" -n 3
refuses 'no experiment' 1 "cannot resume $dir: it has no plan.json, so it is no experiment" ab --resume "$dir"
refuses 'a directory that cannot be made' 1 'cannot create an experiment in /proc: .*; choose another directory with -o' \
	ab --off true --on true -o /proc
refuses 'no directory' 1 "cannot resume $dir/none: No such file or directory" ab --resume "$dir/none"

# ---- ab --matrix ----

# matrix LINE...: writes the file
file=$dir/cells.matrix
matrix() { printf '%s\n' "$@" >"$file"; }

matrix 'a: 1 2' 'run: true {b}'
wrong 'an unknown name; tests/unit/test_experiment.c has the others' "--matrix $file: the command has \{b\}, but no axis has this name" ab --matrix "$file"
wrong 'no file' "--matrix $dir/none: No such file or directory" ab --matrix "$dir/none"
wrong 'a name that is not installed' '--matrix none: No such file or directory' ab --matrix none
wrong 'a directory' "--matrix $dir: it is not a regular file" ab --matrix "$dir"
head -c 70000 /dev/zero >"$dir/zeros.matrix"
wrong 'a file that is no text' 'it is not a text of at most 64 KB' ab --matrix "$dir/zeros.matrix"
matrix 'a: 1 2' 'run: true'
wrong 'a value that is not there' "'a=3': the axis a has no such value" ab --matrix "$file" --only a=3
wrong 'one cell' 'one cell has nothing to be compared with' ab --matrix "$file" --only a=1
wrong 'a side, too' 'leave out --off, --on and --effect' ab --matrix "$file" --off true
wrong 'an effect, too' 'leave out --off, --on and --effect' ab --matrix "$file" --effect 10%
wrong 'cells without a matrix' '--only needs --matrix' ab --only a=1 --off true --on true
wrong 'a page without a matrix' '--html needs --matrix' ab --html "$dir/page" --off true --on true
wrong 'another matrix for an old experiment' '--resume goes on as planned' ab --resume "$dir" --matrix "$file"
wrong 'the installed one' "--matrix fio: 'depth=3': the axis depth has no such value" ab --matrix fio --only depth=3

# ---- load ----

wrong 'more memory than there is' '--size is more than half of this machine' load touch --size 1000T
wrong 'a size for a kind that has none' '--size does not apply to hog' load hog --size 1G
wrong 'a request for a kind that makes none' '--block, --writes and --sequential are for dio' load touch --sequential
wrong 'a block that no disk has' '--block: use a multiple of 4K up to 64M' load dio --block 5000
wrong 'more writes than requests' '--writes 101%: use 0 to 100 percent' load dio --writes 101%
wrong 'a file smaller than its blocks' 'each of 4 processes needs 4 blocks in it; use a larger --size' load dio --size 1M --block 1M

# ---- load pressure ----

wrong 'too little memory' '--size: pressure needs 8M or more' load pressure --size 4M
wrong 'more memory than is sane' "--size is more than a quarter of this machine's" load pressure --size 1000T

# ---- ringlat ----

wrong 'an unknown method' "--method 'magic': unknown method" ringlat --method magic
wrong 'no crossings' '--crossings 0: use a number from 1' ringlat -n 0
wrong 'crossings of letters' "--crossings 'many': not a whole number" ringlat -n many
wrong 'an argument' "unexpected argument 'now'" ringlat now
wrong 'like nothing known' "--like 'lmbench': use xperf" ringlat --like lmbench
wrong 'like xperf, with memlat' '--with-memlat needs warm crossings: leave out --like' ringlat --like xperf --with-memlat
wrong 'two formats' '--json and --csv exclude each other' ringlat --json --csv

# ---- rmid ----

wrong '--counters: no such event' "--counters 'cycle': unknown counter; use none, or some of cycles, .*page-faults" rmid --counters cycle
wrong '--counters: too many' "--counters 'c.*': 4 at most" \
	rmid --counters cycles,instructions,llc-misses,llc-references,page-faults
wrong '--top: no number' "--top 'x': not a whole number" rmid --top x
wrong 'no filter by thread' "unknown option '-t'" rmid -t 1
wrong 'no filter by disk' "unknown option '--disk'" rmid --disk sda
check '--help' 0 '' 'Usage: latscope rmid .*--counters=LIST.*Examples:.*Exit status' rmid --help
unprivileged refuses 'not root' 1 'rmid: needs root, or CAP_BPF and CAP_PERFMON; run it with sudo' rmid -d 1s

# ---- rmid: emulated RMIDs ----

wrong '--rmids 0' '--rmids 0: use a number from 1 to 1023' rmid --rmids 0
wrong '--rmids 1024' '--rmids 1024: use a number from 1 to 1023' rmid --rmids 1024
wrong '--rmids with the kernel module' '--rmids is for the methods resctrl and switches' rmid --rmids 8 --method module
wrong '--dump with --csv' '--dump and --trace have a format of their own; leave out --csv, --json and -i' rmid --dump --csv
wrong '--trace with -i' '--dump and --trace have a format of their own' rmid --trace -i 1s

# ---- why ----

check 'why --help' 0 '' 'Usage: latscope why .*--over=LIMIT.*latscope why -d 10s' why --help
wrong 'an invalid threshold' "--over 'soon': invalid threshold; use 1ms, 500us or p99.9" why --over soon
wrong 'a threshold of 0' "--over '0': invalid threshold" why --over 0
wrong 'a percentile below the median' '--over p49: use p50 to p99.9999' why --over p49
wrong 'a percentile of 100' '--over p100: use' why --over p100
wrong 'no room for events' '--events 0: use a number from 1 to 65536' why --events 0
wrong 'a room that is no number' "--events 'many'" why --events many
wrong 'too much room for events' '--events 65537: use a number from 1 to 65536' why --events 65537
wrong 'a split that is no task' '--by takes one of process, thread, cgroup' why --by disk
wrong 'two splits' '--by takes one of process, thread, cgroup' why --by process,cgroup
wrong 'record: --over without what it explains' '--over and --events need --why' record --no-why --over 1ms
wrong 'record: both' '--why and --no-why exclude each other' record --no-why --why
wrong 'CSV on the terminal' '--csv is for one probe' why --csv
wrong 'an unknown method' "--method 'fast': unknown method" why --method fast
wrong 'runqlat: --over without --why' '--over and --events need --why' runqlat --over 1ms
wrong 'softirq does not explain' "unknown option '--why'" softirq --why

[ "$(id -u)" = 0 ] || { done_testing && exit; }

# ---- serve ----

wrong 'an address that is a name' "--listen 'localhost:1': use ADDRESS:PORT" serve --listen localhost:1
wrong 'an address without a port' "--listen '127.0.0.1': use ADDRESS:PORT" serve --listen 127.0.0.1
wrong 'a port that does not exist' 'use ADDRESS:PORT' serve --listen 127.0.0.1:65536
wrong 'no cgroups' '--cgroups 0: use a number from 1' serve --cgroups 0
refuses 'a remote address without a token' 1 'cannot listen on 0.0.0.0:[0-9]+: other machines could read.*--token-file.* behind a proxy with TLS' \
	serve --listen 0.0.0.0:0
refuses 'a token file that does not exist' 1 'cannot use the token in .*/none: No such file' \
	serve --token-file "$dir/none"
echo 0123456789abcdef0 >"$dir/open"
chmod 644 "$dir/open"
refuses 'a token that everybody may read' 1 'everybody may read it; use chmod 600' serve --token-file "$dir/open"
(umask 077 && echo short >"$dir/short")
refuses 'a short token' 1 'less than 16 letters' serve --token-file "$dir/short"

# ---- serve: the flight recorder ----

wrong 'a ring that is too small' '--ring 1M: use a size from 16 MiB' serve --ring 1M
wrong 'a trigger without a limit' "--trigger 'runqlat.p99': use PROBE.WHAT>LIMIT" serve --trigger runqlat.p99
wrong 'a trigger on what is unknown' "--trigger 'runqlat.p9x>1ms': use p50" serve --trigger 'runqlat.p9x>1ms'
wrong 'a trigger of a probe that does not exist' "--trigger 'runqla.p99>1ms': no probe measures that" serve --trigger 'runqla.p99>1ms'
wrong 'a trigger on a metric that does not exist' 'no probe measures that' serve --trigger 'iolat.ready.p99>1ms'
wrong 'a trigger without a time' 'use PROBE.WHAT>LIMIT' serve --trigger 'runqlat.p99>1ms for x'
wrong 'a trigger without a recorder' '--trigger needs the flight recorder' serve --no-ring --trigger 'runqlat.p99>1ms'
touch "$dir/file"
refuses 'a ring in a file' 1 "cannot keep a flight recorder in $dir/file: Not a directory; choose another.*--ring-dir" \
	serve --listen 127.0.0.1:0 -q --ring-dir "$dir/file"
refuses 'a snapshot of nothing' 1 "cannot read the flight recorder in $dir: there is no flight recorder; .*package latscope-exporter" snapshot "$dir"

# ---- serve --otlp ----

wrong 'a URL without a scheme' "--otlp 'localhost:4318': .*; use a URL such as" serve --otlp localhost:4318
wrong 'a URL of another protocol' "--otlp 'ftp://a': .*; use a URL such as" serve --otlp ftp://a
wrong 'an unknown temporality' "--otlp-temporality 'both': use cumulative or delta" serve --otlp-temporality both
OTEL_EXPORTER_OTLP_HEADERS='no pair' refuses 'headers that are none' 1 'cannot use OTEL_EXPORTER_OTLP_HEADERS: .*list of name=value' \
	serve -q --listen 127.0.0.1:0 --ring-dir "$dir/ring" --otlp http://127.0.0.1:1

# ---- serve --clickhouse ----

wrong 'a URL without a scheme' "--clickhouse 'localhost:8123': .*; use a URL such as" serve --clickhouse localhost:8123
wrong 'a password in the URL' "--clickhouse .*it has a user or a password, which others can see" serve --clickhouse http://me:secret@127.0.0.1
wrong 'a query in the URL' "--clickhouse .*only \?database=NAME may follow" serve --clickhouse 'http://127.0.0.1/?query=DROP'
wrong 'an interval that is too short' "--clickhouse-interval '10ms': use 1s to 1h" serve --clickhouse-interval 10ms
wrong 'a label without a value' "--label 'a': use KEY=VALUE" serve --label a
echo writer:secret >"$dir/login"
chmod 644 "$dir/login"
refuses 'a login that everybody may read' 1 "cannot use the login in $dir/login: everybody may read it; use a file" \
	serve -q --listen 127.0.0.1:0 --clickhouse http://127.0.0.1:1 --clickhouse-login "$dir/login"
chmod 600 "$dir/login"
ln -s /dev/null "$dir/link.spool"
refuses 'a spool that is a link' 1 "cannot use the spool $dir/link.spool: .*; choose another file with --clickhouse-spool" \
	serve -q --listen 127.0.0.1:0 --ring-dir "$dir/ring" --clickhouse http://127.0.0.1:1 --clickhouse-spool "$dir/link.spool"
install -m600 -o 65533 /dev/null "$dir/other.spool"
refuses 'a spool of another user' 1 "cannot use the spool $dir/other.spool: it is of another user" \
	serve -q --listen 127.0.0.1:0 --ring-dir "$dir/ring" --clickhouse http://127.0.0.1:1 --clickhouse-spool "$dir/other.spool"
done_testing
