#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The program can be built with some probes only. It then lacks the commands and options of the others, but it still reads their
# recordings and explains the slow samples in them.
. "$(dirname "$0")/cli.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
whole=$latscope probes='where memlat runqlat iolat softirq rmid tierlat ringlat'
for name in 0.1-mixed 0.2-why 0.2-early-rmid; do
	gunzip <"tests/cli/recordings/$name.db.gz" >"$dir/$name.db"
done

linked() { make -s ".output/combination/$1/latscope" >"$dir/said" 2>&1 || { cat "$dir/said" && false; }; }

# commands: the probes among the commands of --help
commands() { run --help && awk -v known="$probes" 'BEGIN { split(known, list); for (i in list) is[list[i]] } $1 in is { print $1 }' <<<"$out" | xargs; }

is 'the whole program has all' "$(commands)" "$probes"
for combination in 'memlat runqlat iolat' 'softirq' 'where' 'rmid tierlat ringlat'; do
	ok "$combination alone: it is linked" linked "${combination// /+}"
	latscope=.output/combination/${combination// /+}/latscope
	is "$combination alone: the commands" "$(commands)" "$combination"
	check "$combination alone: the version names their methods" 0 '' "^latscope .*methods:.*  ${combination%% *} " --version
	for probe in $probes; do
		[[ " $combination " = *" $probe "* ]] || refuses "$combination alone: no $probe" 2 "$probe: unknown command" "$probe" -d 1s
	done
	for name in 0.1-mixed 0.2-why 0.2-early-rmid; do
		check "$combination alone: report of $name" 0 '' "^.*(memlat|rmid)" report "$dir/$name.db"
	done
	check "$combination alone: report of 0.2-why as JSON" 0 '' '^\{' report --json "$dir/0.2-why.db"
	check "$combination alone: completions" 0 '' '^record	' --complete ''
done

latscope=.output/combination/memlat+runqlat+iolat/latscope
for name in 0.1-mixed 0.2-why; do
	run report --json "$dir/$name.db"
	some=$out
	latscope=$whole run report --json "$dir/$name.db"
	ok "$name: the same as by the whole program, but for what rmid adds" cmp <(jq -S . <<<"$some") <(jq -S 'del(.rising)' <<<"$out")
done
done_testing
