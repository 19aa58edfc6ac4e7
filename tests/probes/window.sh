# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # what the tests use
# A window around known latencies. A test of a probe has a function that starts programs of tests/reference, which
# stop before their work, and recorders, and lets the programs work once all recorders count; then it compares
# what both say:
#
#	touch_window() {
#		begin
#		start fast touch 1000 || return      # "fast" is from now on that program, $pid its process
#		watch best memlat fentry -p "$pid"   # "best" is that recorder
#		work
#	}
#
#	window touch_window || return
#	is 'every fault is there' "$(fact best memlat.events)" "$(told fast minflt_window)"
#
# Several recorders may watch one window: each has programs and maps of its own. So all methods of a probe
# are held against the same events, and a machine with more than one CPU loads them at the same time.

[ -z "${scratch-}" ] || return 0 # another test has
. tests/tap.sh
. tests/probes/doctor.sh

built=${LATSCOPE_BUILT:-$PWD/.output} # of another architecture: not there
latscope=$built/latscope
reference=$built/tests/reference
soak=${LATSCOPE_SOAK:+5} soak=${soak:-1} # what counts are multiplied by
patience=120 # s, for what takes a blink on an idle machine
windows=6    # that may be tried until one is not disturbed
[ -z "${LATSCOPE_VM-}" ] || patience=300 windows=15 # there, every second one is if the host is busy
# A directory on a disk, of a file system that can do without its cache.
disk_fs=$PWD/.output
[ -z "${LATSCOPE_VM-}" ] || disk_fs=/mnt

scratch=$(mktemp -d)
begun=0 # windows
mkdir "$scratch"/{1..99} # for them, by one process
mkfifo "$scratch/never"
exec {never}<>"$scratch/never"
declare -A programs=() inputs=() recorders=() facts=()
at_exit=() # commands
books_of=() books_desc=() strict=false
on_exit leave
trap '' PIPE # a program that died reads no go

leave() {
	local command

	drop_all
	for command in "${at_exit[@]}"; do
		$command
	done
	rm -rf "$scratch"
}

# nap SECS: without a process, which in the VM costs more than the nap
nap() { read -rt "$1" -u "$never" || true; }

# await WHAT COMMAND...: until COMMAND succeeds
await() {
	local until=$((SECONDS + patience))

	while ! "${@:2}"; do
		[ $SECONDS -lt $until ] || { ok "$1 comes about within $patience s" false && return 1; }
		nap 0.02
	done
}

# slurp FILE: into $slurped
slurp() { IFS='' read -rd '' slurped <"$1" || true; }

# ---- programs that create a latency ----

# said NAME LINE: has the program said so, or is it gone?
said() {
	slurp "$w/$1.out"
	[[ $'\n'$slurped = *$'\n'"$2"$'\n'* ]] || gone "${programs[$1]}"
}

# start NAME PROGRAM ARG...: up to where it waits for the go. PROGRAM is one of tests/reference, or a path. It runs
# in the cgroup $cgroup, if that is set. Fails if it cannot create its latency here, which is a skipped test;
# in the VM, a failed one.
start() {
	local fd path=$reference/$2

	[[ $2 != /* ]] || path=$2

	mkfifo "$w/$1.in"
	: >"$w/$1.out"
	(
		[ -z "${cgroup-}" ] || echo "$BASHPID" >"$cgroup/cgroup.procs"
		cd "$w" && exec "$path" -w "${@:3}"
	) <"$w/$1.in" >"$w/$1.out" 2>"$w/$1.err" &
	programs[$1]=$! pid=$!
	exec {fd}>"$w/$1.in"
	inputs[$1]=$fd
	await "$2 is ready" said "$1" ready=1
	! gone "$pid" || cannot_start "$1" "$2"
}

cannot_start() {
	local status=0

	wait "${programs[$1]}" || status=$?
	drop_program "$1"
	slurp "$w/$1.err"
	# In the VM all must start, but for the capture where perf events do not show it all.
	if [ $status = 77 ] && { [ -z "${LATSCOPE_VM-}" ] || [ "$2" = waits ]; }; then
		skip "$2" "${slurped%$'\n'}"
	else
		is "$2 starts" "status $status: $slurped" ''
	fi
	return 1
}

go() { echo >&"${inputs[$1]}"; }

drop_program() {
	local fd=${inputs[$1]}

	exec {fd}>&-
	unset "programs[$1]" "inputs[$1]"
}

# told NAME KEY: what the program said of its reference. told NAME LINE KEY: of the line that begins with LINE.
told() { tell "$@" && echo "$answer"; }

# tell NAME [LINE] KEY: the same, in $answer
tell() {
	local lines

	answer=''
	slurp "$w/$1.out"
	lines=$'\n'$slurped
	if [ $# = 3 ]; then
		[[ $lines =~ $'\n'"$2 "([^$'\n']*) ]] || return
		lines=" ${BASH_REMATCH[1]} "
	fi
	[[ $lines =~ [[:space:]]"${*: -1}"=([^[:space:]]+) ]] && answer=${BASH_REMATCH[1]}
}

# ---- recorders ----

opened() { compgen -G "$w/$1/*/run.db" >/dev/null || gone "${recorders[$1]}"; }

# watch NAME MODULE METHOD ARG...: a recorder, until it is told to stop
watch() {
	"$latscope" "$2" ${3:+--method "$3"} -q -i 300ms -o "$w/$1" "${@:4}" >"$w/$1.out" 2>"$w/$1.err" &
	recorders[$1]=$!
}

# watching: until all recorders count. run.db is there once the window is open.
watching() {
	local name

	for name in "${!recorders[@]}"; do
		await "$name counts" opened "$name"
	done
}

# stop NAME...: shuts their windows, and reads what they recorded
stop() {
	local name status

	for name; do
		kill "${recorders[$name]}" 2>/dev/null
	done
	for name; do
		status=0
		wait "${recorders[$name]}" || status=$?
		unset "recorders[$name]"
		slurp "$w/$name.err"
		[ "$status$slurped" = 0 ] || is "recorder $name ends well" "status $status: $slurped" ''
	done
	learn "$@"
}

# ---- the window ----

# begin: forgets the window before, in $w
begin() {
	drop_all
	w=$scratch/$((++begun))
	[ -d "$w" ] || mkdir "$w"
	facts=()
}

drop_all() {
	local name all=("${programs[@]}" "${recorders[@]}")

	if [ ${#all[@]} -gt 0 ]; then
		kill "${all[@]}" 2>/dev/null
		wait "${all[@]}" 2>/dev/null
	fi
	for name in "${!programs[@]}"; do
		drop_program "$name"
	done
	recorders=()
}

# work: all programs do theirs, with all recorders watching from before to after
work() {
	watching
	run_programs
	shut
}

run_programs() {
	local name

	for name in "${!programs[@]}"; do
		go "$name"
	done
	for name in "${!programs[@]}"; do
		await "the end of $name" said "$name" 'done=1'
	done
}

shut() {
	local name

	stop "${!recorders[@]}"
	for name in "${!programs[@]}"; do
		finish "$name"
	done
}

# finish NAME: the program may end; it tells by its exit status whether what it said is true
finish() {
	local status=0

	go "$1" 2>/dev/null
	wait "${programs[$1]}" || status=$?
	drop_program "$1"
	slurp "$w/$1.err"
	[ "$status$slurped" = 0 ] || untrue="$1, exit status $status: $slurped"
}

# window COMMAND...: COMMAND does all of the above. Again, up to $windows times, if a program says that its reference
# did not come about, or if $calm METHOD, if that is set, finds one of $methods disturbed.
window() {
	local try why

	for ((try = 1; try <= windows; try++)); do
		untrue=''
		"$@" || return
		why=$untrue
		[ -n "$why" ] || why=$(disturbed) || return 0
		diag "$*: window $try is of no use: $why"
	done
	[ -n "$untrue" ] || return 0 # the test will tell
	is "$1: a reference comes about in one of $windows windows" "$untrue" ''
	return 1
}

# disturbed: is one of $methods, by $calm? Says which, and what $calm said.
disturbed() {
	local method said

	[ -n "${calm-}" ] || return
	for method in "${methods[@]}"; do
		said=$($calm "$method") || { echo "$method: $said" && return; }
	done
	return 1
}

# all_there NAME KEY COUNT: so many events, or more? Some machines run no BPF program while certain tasks of theirs
# are current, whatever the method: such a window is tried again. In the VM nothing of the kind is let pass.
all_there() {
	[ -n "${LATSCOPE_VM-}" ] || [ "$(fact "$1" "$2")" -ge "$3" ] || { echo "$1: $2 is $(fact "$1" "$2"), not $3" && false; }
}

# ---- what a recorder said ----

# learn NAME...: fills in facts[NAME KEY], by facts.sql, with those of their recordings. One sqlite3 reads them all: in the
# VM its start takes as long as a recording.
learn() {
	local name='' line paths

	while IFS= read -r line; do
		[[ $line != '@ '* ]] || name=${line#@ }
		facts[$name ${line%%=*}]=${line#*=}
	done < <(
		for name; do
			paths=("$w/$name"/*/run.db)
			[ ! -e "${paths[0]}" ] ||
				printf '%s\n' ".print '@ $name'" ".open --readonly '${paths[0]}'" '.read tests/probes/facts.sql'
		done | sqlite3 -separator $'\n' 2>&1
	)
}

# fact NAME KEY: METRIC.seen and so on, .events, .sum_ns, .max_ns, .tail; the same of METRIC.SPLIT.KEY;
# MODULE.open, .open_ns, .method. Nothing of the kind is 0.
fact() { echo "${facts[$1 $2]-0}"; }

# read_slots NAME METRIC: the slots that hold a sample, the shortest first. Sets, for each, the least and the most a sample
# in it may be, ${lows[I]} and ${highs[I]} (ns), and the samples so far, ${sums[I]}; and $samples, their number.
read_slots() {
	local slot rest

	lows=() highs=() sums=() samples=0
	for slot in ${facts[$1 $2.hist]-}; do # no process and no file: there are hundreds
		rest=${slot#*:}
		samples=$((samples + ${rest#*:}))
		lows+=("${slot%%:*}") highs+=("${rest%:*}") sums+=("$samples")
	done
}

# slot_of RANK: of those read last, sets $i to the slot with that sample (the first one is 0), or to the last slot
slot_of() {
	for ((i = 0; i < ${#sums[@]} - 1; i++)); do
		[ "${sums[i]}" -le "$1" ] || return 0
	done
}

# sum_slots NAME METRIC LOW HIGH: of the slots that hold something of LOW to HIGH (ns), sets $count and $most_ns, the
# time that their samples make up, at most
sum_slots() {
	local i before=0

	count=0 most_ns=0
	read_slots "$1" "$2"
	for i in "${!sums[@]}"; do
		if [ "${highs[i]}" -gt "$3" ] && [ "${lows[i]}" -le "$4" ]; then
			count=$((count + sums[i] - before))
			most_ns=$((most_ns + highs[i] * (sums[i] - before)))
		fi
		before=${sums[i]}
	done
}

# between NAME METRIC LOW HIGH: how many samples are in these
between() {
	local count most_ns

	sum_slots "$@"
	echo "$count"
}

# most_ns NAME METRIC LOW HIGH: the time that these samples make up, at most
most_ns() {
	local count most_ns

	sum_slots "$@"
	echo "$most_ns"
}

forever=$((1 << 62))

at_least() { between "$1" "$2" "$3" "$forever"; }

# keys NAME METRIC.SPLIT: those that have an event
keys() {
	local fact key

	for fact in "${!facts[@]}"; do
		key=${fact#"$1 $2."}
		[ "$key" = "$fact" ] || [ "${key%.events}" = "$key" ] || [ "${facts[$fact]}" = 0 ] || echo "${key%.events}"
	done | sort | tr '\n' ' '
}

csv_sum() {
	local bucket count sum=0

	while IFS=, read -r bucket _ _ count; do
		[ "$bucket" = bucket ] || sum=$((sum + count))
	done <"$1"
	echo "$sum"
}

# booked NAME METRIC FILE SEEN RECORDED LOG2: is it the same everywhere?
booked() {
	local got wanted

	got="seen $(fact "$1" "$2.seen"), slots $(at_least "$1" "$2" -1), sums $(fact "$1" "$2.events"), "
	got+="CSV $(csv_sum "$recording/$3.csv"), log2 $6"
	wanted="seen $4, slots $5, sums $5, CSV $5, log2 $5"
	[ "$got" = "$wanted" ] || { echo "$2: $got; wanted: $wanted" && false; }
}

# books NAME: does the conservation line hold, and do run.db, CSV, summary and report say the same?
books() {
	local recording line metrics=0

	recording=$(compgen -G "$w/$1/*") || { echo 'no recording' && return 1; }
	while IFS= read -r line; do
		[[ $line = '= '* ]] || { echo "$line" && return 1; }
		# shellcheck disable=SC2086 # words
		booked "$1" ${line#= } || return
		metrics=$((metrics + 1))
	done < <("$latscope" report --json "$recording" | jq -rsf tests/probes/books.jq --argjson strict "$strict" "$recording"/*.summary.json - 2>&1)
	[ $metrics -gt 0 ] || { echo 'no metric' && false; }
}

# balance DESC NAME: a test that the books do. In the VM, where each process costs a tenth of a second, the host
# looks at them: see hand_over and in-vm.
balance() {
	if [ -z "${LATSCOPE_VM-}" ]; then
		ok "$1: the books balance" books "$2"
		return
	fi
	books_of+=("${w#"$scratch"/}/$2")
	books_desc+=("$1")
}

# hand_over: all of these, by one process
hand_over() {
	local i

	[ ${#books_of[@]} -gt 0 ] || return 0
	(cd "$scratch" && cp -r --parents "${books_of[@]}" "$LATSCOPE_VM_IO") || return
	for i in "${!books_of[@]}"; do
		printf '%s\t%s\n' "${books_of[i]}" "${books_desc[i]}"
	done >"$LATSCOPE_VM_IO/books"
}

# judge_books DIR: of all that a guest has handed over
judge_books() {
	local path desc strict=true

	w=$1
	[ -e "$w/books" ] || return 0
	while IFS=$'\t' read -r path desc; do
		learn "$path"
		ok "$desc: the books balance" books "$path"
	done <"$w/books"
}

# ---- which tests ----

# on SERIES COMMAND...: the long tests run in the VM on two kernels. What does not depend on the kernel is done on one of
# them, but under soak on both.
on() {
	if [ -n "${LATSCOPE_SOAK-}" ] || [ "${LATSCOPE_VM:-$1}" = "$1" ]; then
		"${@:2}"
	fi
}

# ---- verdicts ----

# within DESC LOW VALUE HIGH: a test
within() {
	if [[ $2 -le $3 && $3 -le $4 ]]; then
		passed "$1"
	else
		ok "$1" is_within "$2" "$3" "$4"
	fi
}

is_within() { [[ $1 -le $2 && $2 -le $3 ]] || { echo "$2 is not from $1 to $3" && false; }; }
