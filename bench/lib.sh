# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions of the benchmarks. Every figure is a ratio or a difference of variants that run in turn, round after round, so
# background noise affects all of them equally.
#
# A benchmark prints lines `figure=NAME value=NUMBER unit=UNIT [limit=NUMBER]`, and its raw values as
# comments.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/tap.sh"
# shellcheck disable=SC2034 # used by the benchmarks
latscope=$root/.output/latscope
# shellcheck disable=SC2034
empty=$root/.output/bench/empty
# shellcheck disable=SC2034
rounds=${LATSCOPE_BENCH_ROUNDS:-7}
values=$(mktemp -d)
tool_pid=
trap 'stop_tool; rm -rf "$values"' EXIT

die() {
	echo "bench: $*" >&2
	exit 1
}

need() {
	command -v "$1" >/dev/null || die "cannot run $1: not installed; run 'make deps'"
}

# start_tool COMMAND...: starts it in the background, and gives it time to attach (and to stop timing itself)
start_tool() {
	tool_pid=
	[ "$1" = none ] && return
	"$@" >"$values/tool.out" 2>&1 &
	tool_pid=$!
	sleep "${settle:-1.2}"
	! gone "$tool_pid" || die "$* ended: $(tail -n 3 "$values/tool.out")"
}

# rezolus SAMPLER: compiles this sampler of rezolus from the source in $REZOLUS, and prints the command that attaches its programs.
# Prints "none" if $REZOLUS is not set.
rezolus() {
	local agent=${REZOLUS-}/src/agent object=$root/.output/bench/rezolus_${1////_}.bpf.o arch

	if [ -z "${REZOLUS-}" ]; then
		echo none
		return
	fi
	arch=$(uname -m)
	if ! clang -target bpf -O2 -g -D__TARGET_ARCH_"${arch/x86_64/x86}" -I "$agent/bpf/$arch" -I "$agent/bpf" \
		-c "$agent/samplers/$1/mod.bpf.c" -o "$object"; then
		die "cannot compile rezolus's $1"
	fi
	echo "$root/.output/bench/attach $object tp_btf"
}

# start_serve OPTION...: starts latscope serve, and waits until it measures, and has timed its own programs
start_serve() {
	settle=0 start_tool "$latscope" serve --listen 127.0.0.1:0 "$@"
	for ((i = 0; i < 300; i++)); do
		! grep -q '^listening on' "$values/tool.out" || break
		sleep 0.1
	done
	sleep 0.5
}

stop_tool() {
	[ -n "$tool_pid" ] || return 0
	kill "$tool_pid" 2>/dev/null
	wait "$tool_pid" 2>/dev/null
	tool_pid=
}

# keep VARIANT VALUE
keep() {
	echo "$2" >>"$values/$1"
	echo "# $1 $2"
}

# median VARIANT
median() {
	sort -g "$values/$1" | awk '{ v[NR] = $1 } END {
		if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# figure NAME VALUE UNIT [LIMIT]
figure() {
	echo "figure=$1 value=$2 unit=$3${4:+ limit=$4}"
}

calc() {
	awk "BEGIN { printf \"%.4g\", $1 }"
}

# measured VARIANT: succeeds unless LATSCOPE_BENCH_VARIANTS leaves VARIANT out
measured() { [ -s "$values/$1" ]; }

# ratio NAME VALUES OVER [LIMIT]: prints the ratio of two medians as a figure, unless one was not measured
ratio() {
	! measured "$2" || ! measured "$3" || figure "$1" "$(calc "$(median "$2") / $(median "$3")")" ratio "${4-}"
}

# program_time REGEX: selects BPF programs by name. Prints the sum of their run times in ns and of their runs.
program_time() {
	bpftool prog show -j | jq -r --arg name "$1" '[.[] | select((.name // "") | test($name))] |
		"\(map(.run_time_ns // 0) | add // 0) \(map(.run_cnt // 0) | add // 0)"'
}

# program_times: prints NAME NS RUNS of each program of the tool
program_times() {
	local ids

	ids=$(cat "/proc/$tool_pid"/fdinfo/* | awk '$1 == "prog_id:" { print $2 }' | sort -u | jq -s .)
	bpftool prog show -j | jq -r --argjson ids "$ids" \
		'.[] | select(.id | IN($ids[])) | "\(.name) \(.run_time_ns // 0) \(.run_cnt // 0)"'
}
# per_run REGEX: prints the ns of a run of these programs from $values/before to $values/after
per_run() {
	awk -v regex="$1" '$1 ~ regex { sign = NR == FNR ? -1 : 1; ns += sign * $2; runs += sign * $3 }
		END { if (runs > 0) print ns / runs; else print "nan" }' "$values/before" "$values/after"
}
