#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# latscope on arm64: it is cross-compiled, runs on Debian's kernel 6.12 in the VM, and refuses what needs x86.
. "$(dirname "$0")/../cli/cli.sh"

series=6.12-arm64
built=.output/arm64

# Commands that need x86, by the names of their results.
declare -A x86_only=(
	[ringlat]='ringlat'
	[ringlat-user]='ringlat --method user'
	[tierlat]='tierlat -d 1s'
	[tierlat-msr]='tierlat -d 1s --method msr'
	[validate-tierlat]='validate tierlat'
	[rmid-module]='rmid -d 1s --method module'
)

# Every command leaves its output and its exit status for the tests below.
functions='
keep() { # NAME CMD...
	local to=$LATSCOPE_VM_IO/$1

	shift
	"$@" >"$to.out" 2>"$to.err"
	echo $? >"$to.status"
}
keep_latscope() {
	local name=$1

	shift
	keep "$name" "$built/latscope" "$@"
}
keep uname uname -m
keep_latscope doctor doctor
keep_latscope record record -d 20s -o /tmp/runs -- "$built/tests/reference/touch" 5000
cp -r /tmp/runs "$LATSCOPE_VM_IO/runs" # to the host
keep_latscope report report "$LATSCOPE_VM_IO"/runs/*
keep_latscope compare compare "$LATSCOPE_VM_IO"/runs/* "$LATSCOPE_VM_IO"/runs/*
keep_latscope softirq softirq -d 1s --by vector
keep_latscope rmid rmid -d 1s
keep_latscope load load mixed -d 1s
keep_latscope validate-memlat validate memlat --only reference
keep_latscope validate-runqlat validate runqlat --only reference
keep_latscope validate-iolat validate iolat --only reference --disk vda'

guest() {
	local name

	echo "built=$built"
	echo "$functions"
	for name in "${!x86_only[@]}"; do
		echo "keep_latscope $name ${x86_only[$name]}"
	done
}

status_of() { cat "$dir/io/$1.status"; }

# succeeded NAME: the command succeeded; prints its output otherwise
succeeded() {
	[ "$(status_of "$1")" = 0 ] || { cat "$dir/io/$1".{status,out,err} && false; }
}

# Prints the methods that work by doctor, as lines "memlat fentry".
working() { awk '/^[a-z]/ { sub(/[ :,].*/, ""); probe = $0 } probe != "privileges" && /^  [* ] [a-z_-]+ +yes$/ { print probe, $(NF - 1) }' "$dir/io/doctor.out"; }

recorded() { .output/latscope report --json "$dir"/io/runs/* | jq -e "$1"; }

not_built() { cat "$dir/make" && false; }

command -v aarch64-linux-gnu-gcc >/dev/null || skip_all "no compiler for arm64; 'scripts/deps arm64' installs it"
for script in 'root arm64' "kernel $series"; do
	# shellcheck disable=SC2086 # script and argument
	tests/vm/$script >"$dir/${script%% *}" 2>"$dir/err" || {
		[ $? = 77 ] || exit 1
		skip_all "$(tail -n 1 "$dir/err")"
	}
done

programs=(tests/reference/*.c)
programs=("${programs[@]%.c}")
if ! flock .output/arm64.lock make ARCH=arm64 SYSROOT="$(cat "$dir/root")" $built/latscope "${programs[@]/#/$built/}" >"$dir/make" 2>&1; then
	ok 'it is built' not_built
	done_testing
	exit
fi
mkdir "$dir/io"
truncate -s 64M "$dir/disk"
guest >"$dir/guest"
tests/vm/run -k $series -t 400 -s "$dir/io" -d "$dir/disk" bash -c "$(cat "$dir/guest")" >"$dir/vm" 2>&1
is 'the kernel boots and has no complaint' "$?$(cat "$dir/vm")" 0
is 'it is arm64' "$(cat "$dir/io/uname.out")" aarch64

is 'doctor: every module can run' "$(status_of doctor)" 0
is 'doctor: all methods work but those of x86' "$(working)" 'memlat fentry
memlat kprobe
memlat perf-event
runqlat stamps
runqlat tp_btf
iolat stamps
iolat tp_btf
softirq tp_btf
rmid switches'

for name in "${!x86_only[@]}"; do
	is "${x86_only[$name]}: exit status" "$(status_of "$name")" 77
	like "${x86_only[$name]}: one line says why and what to do" "$(cat "$dir/io/$name".{out,err})" \
		'^latscope: [^'$'\n'']*x86-64 only, and this machine is arm64; [^'$'\n'']+$'
done

ok 'record' succeeded record
ok 'record: every page that was touched is a fault' recorded '.probes[0].metrics[0] | .total_events >= 5000'
ok 'report' succeeded report
is 'report on x86 prints the same of it' "$(.output/latscope report "$dir"/io/runs/* 2>&1)" \
	"$(cat "$dir/io/report".{out,err})"
for name in compare softirq rmid load validate-memlat validate-runqlat validate-iolat; do
	ok "${name/-/ }" succeeded $name
done
done_testing
