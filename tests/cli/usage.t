#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Wrong usage: one line, and exit status 2, for root and others. --help is complete. tests/unit/test_options.c has the common options.
. "$(dirname "$0")/cli.sh"

refuses 'an unknown command' 2 "nosuch: unknown command; see 'latscope --help'" nosuch
refuses 'a command with a letter too many' 2 "reccord: unknown command; did you mean 'record'?" reccord
refuses 'a command with two letters swapped' 2 "hwy: unknown command; did you mean 'why'?" hwy
refuses 'an unknown option without a command' 2 "unknown option '--nosuch'; try 'latscope --help'" --nosuch
refuses 'an option with a letter missing' 2 "unknown option '--duraton' \(did you mean --duration\?\)" record --duraton 3
wrong 'an unknown option' "unknown option '--nosuch'" record --nosuch
wrong 'an option of another command' "unknown option '--seed'" record --seed 1
wrong 'a duration that overflows' '--duration 9{30}: .* up to 30 days' record -d "$(printf '9%.0s' {1..30})"
wrong 'a duration of letters' "--duration 'soon': invalid duration; use 10s" record -d soon
wrong 'a duration in an unknown unit' "--duration '3w': invalid duration" record -d 3w
wrong 'an empty duration' "--duration '': invalid duration" record -d ''
wrong 'a duration that a terminal would obey' "'.\[31m1s': invalid duration" record -d $'\e[31m1s'
wrong 'a tail of letters' "--tail-us 'long': not a whole number" record --tail-us long
wrong 'a negative tail' "--tail-us '-8': not a whole number" record --tail-us -8
wrong 'a tail that overflows' '--tail-us 99999999999999999999: use a number' record --tail-us 99999999999999999999
wrong 'a tail of an unknown probe' "--tail-us 'disklat': unknown probe" record --tail-us 8,disklat=100
wrong 'a split half known' "--by 'process,colour': unknown split; choose from" record --by process,colour
wrong 'a split that does not apply' '--by disk does not apply here' memlat --by process,disk
wrong 'a filter that does not apply' '--disk does not apply here' memlat --disk sda
wrong 'another one' '--disk does not apply here' runqlat --disk sda
wrong 'a CPU and another explanation' '--by takes one of process, thread, cgroup, cpu' why --by cpu,process
wrong 'an unknown method' "--method 'ladder': unknown method" record --method ladder
wrong 'a method of another probe' "--method 'fentry': unknown method" runqlat --method fentry
wrong 'a split that the method cannot do' 'method stamps cannot do --by process,thread; leave out --method or --by process,thread' \
	iolat --method stamps --by op,process,thread
wrong 'one of another probe' 'method perf-event cannot do --by access,page,kind; leave out --method or --by access,page,kind' \
	memlat --method perf-event --by type,access,page,kind
wrong 'a filter that the method cannot do' 'method stamps cannot do --pid; leave out --method or --pid' iolat --method stamps -p 1
wrong 'a top of letters' "--top 'all': not a whole number" record --top all
wrong 'no TID' '--tid 0: use a number from 1' record -t 0
wrong 'two formats' '--json and --csv exclude each other' memlat --json --csv
wrong 'one CSV of several probes' '--csv is for one probe' record --csv
wrong 'no workload after --' "missing workload after '--'" runqlat -d 1s --

wrong 'report of nothing' 'missing argument; give the directory of a recording' report
wrong 'one CSV of a recording' '--csv prints one probe; choose it with -P' report --csv x
wrong 'CSV of intervals' '--csv cannot print intervals; use --json' report --csv -I -P iolat x
wrong 'doctor with an argument' "unexpected argument 'me'" doctor me
wrong 'load of nothing' 'missing load; choose from touch, .*mixed' load
wrong 'load of an unknown kind' "unknown load 'heavy'; choose from touch, " load heavy
wrong 'load of a kind and a command' "unexpected argument 'true'" load hog -- true
# The help of a kind has its options alone, and an example of it; those of another kind are refused: see options.t.
shown() { grep -oE '^ +(-., )?--[a-z-]+' <<<"$out" | grep -oE '[a-z-]+$' | sed 's/^--//' | sort | paste -sd ' '; }
while read -r kind options; do
	check "load $kind --help" 0 '' "^Usage: latscope load .*$kind.*Examples:.*latscope load $kind" load "$kind" --help
	is "load $kind --help: its options" "$(shown)" "$(tr ' ' '\n' <<<"duration help quiet verbose $options" | sort | paste -sd ' ')"
	ok "load $kind --help fits" fits
done <<'END'
touch tasks pause size
hog tasks pause
pingpong tasks pause
dio tasks pause dir size block writes sequential seed
pressure tasks dir size seed
mixed tasks pause dir seed
fleet tasks seed clickhouse clickhouse-login hosts series slots together ago
END
check 'load dio --help: the part of the text that is about it' 0 '' '--size=SIZE +File \(64M\)[[:space:]]' load dio -h
wrong 'load for no time' "--duration 'x': invalid duration" load hog -d x
wrong 'load by too many' '--tasks [0-9]+: use a number from 1' load hog --tasks 1000000

check '--version' 0 '' $'^latscope [0-9]+\\.[0-9]+\\.[0-9]+\ncommit: ([0-9a-f]{12}\\+?|unknown)\nmethods:\n  where +tp_btf\n  memlat +fentry, ' --version
check 'help COMMAND' 0 '' '^Usage: latscope runqlat .*--duration' help runqlat
refuses 'help of an unknown command' 2 "nosuch: unknown command; see 'latscope --help'" help nosuch
check '--help' 0 '' 'Usage: latscope .*latscope COMMAND.*sudo latscope record' --help
ok '--help fits' fits
mapfile -t commands < <(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$out" | grep -vE 'sudo|latscope')
like '--help lists the commands' "${commands[*]}" '^record .*report .*load'
for command in "${commands[@]}"; do
	check "$command --help" 0 '' "^Usage: latscope $command .*Examples:.*latscope .*Exit status: 0 " \
		"$command" --help
	ok "$command --help fits" fits
	check "$command -h after other options" 0 '' "^Usage: latscope $command " "$command" -q -h
done

check 'additional probes have a heading' 0 '' $'\n Additional probes:\n      --rmid ' record --help
check '--verbose promises nothing where there are no metrics' 0 '' '-v, --verbose +Print details' load --help
check '--verbose shows them where there are' 0 '' '-v, --verbose +Also metrics in full' report --help

unprivileged wrong 'usage comes before privilege' '--by disk does not apply' memlat --by disk
done_testing
