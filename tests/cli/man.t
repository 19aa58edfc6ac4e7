#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The man pages build, are installed, and describe the same options as --help.
. "$(dirname "$0")/cli.sh"

# Print options as lines "-d, --duration TIME", from a command's --help and from a page's source.
help_options() {
	"$latscope" "$1" --help |
		sed -nE 's/^  (-[A-Za-z], |    )(--[a-z-]+)(=([A-Z=]+))?( .*)?$/\1\2 \4/p' | tidy
}
page_options() { grep '^\*-' "man/$1.scd" | tr -d '*_' | tidy; }
tidy() { sed -E 's/^ +//; s/ +$//' | sort; }

# section PAGE NAME: prints its lines
section() { sed -n "/^# $2\$/,/^# /p" "man/$1.scd" | grep -v '^# '; }

# terms PAGE SECTION: prints the terms explained there, one per line
terms() { section "$1" "$2" | grep '^\*' | tr -d '*,' | tr ' ' '\n' | sort; }

builds() { scdoc <"man/$1.scd" >"$dir/$1" && [ -s "$dir/$1" ]; }

# -ww: all warnings of groff, which succeeds despite warnings.
no_warnings() {
	local said

	said=$(groff -man -t -ww -Kutf8 -Tutf8 -z "$dir/$1" 2>&1 || echo "exit status $?")
	[ -z "$said" ] || { echo "$said" && false; }
}

installed() { [ -s "$dir/root/usr/share/man/man${1##*.}/$1" ]; }

# Every mentioned --option belongs to a command.
known_options() {
	local option known bad=0

	known=$(cat "$dir"/help.* && echo --version)
	while read -r option; do
		grep -qE -- "(^|[ ,])$option( |\$)" <<<"$known" || { echo "no command has $option" && bad=1; }
	done < <(grep -ohE -- '--[a-z][a-z-]+' "$@" | sort -u)
	return $bad
}

pages=()
for path in man/*.scd; do
	page=$(basename "$path" .scd)
	pages+=("$page")
	ok "$page builds" builds "$page"
	ok "$page gives no warning" no_warnings "$page"
done

is 'latscope.1 names every command' "$(terms latscope.1 COMMANDS | grep -vx help)" \
	"$("$latscope" --help | sed -nE 's/^  ([a-z]+) {2,}[^ ].*/\1/p' | sort)"
is 'latscope.1 has the probes of README' "$(section latscope.1 DESCRIPTION | sed -nE 's/^\|[[ ] \*([a-z]+)\*$/\1/p')" \
	"$(sed -nE '/^\| probe \| measures/,/^$/ s/^\| `([a-z]+)` .*/\1/p' README.md)"
mapfile -t commands < <(terms latscope.1 COMMANDS | grep -vx help)
# The page is also that of the probes, of which some cannot explain their samples.
only_record='^--no-why$\|^--report$\|^--rmid$\|^--softirq$\|^--tiers$' only_tasks='^--method NAME$\|^--disk NAME$\|^--metric NAME$\|^--cgroup PATH$\|^--comm NAME$\|^-p, --pid PID$\|^-t, --tid TID$'
only_explaining='^--why$\|^--over LIMIT$\|^--events N$'
for command in "${commands[@]}"; do
	case $command in
	memlat) page='latscope-record.1' without="$only_record\|^--disk NAME$\|^--metric NAME$" ;;
	runqlat) page='latscope-record.1' without="$only_record\|^--disk NAME$" ;;
	iolat) page='latscope-record.1' without=$only_record ;;
	softirq) page='latscope-record.1' without="$only_record\|$only_explaining\|$only_tasks" ;;
	*) page="latscope-$command.1" without='^$' ;;
	esac
	help_options "$command" >"$dir/help.$command"
	ok "$command --help lists options" test -s "$dir/help.$command"
	is "$page has the options of $command" "$(page_options "$page" | grep -v "$without")" \
		"$(cat "$dir/help.$command")"
done
is 'latscope-load.1 has every kind of load' "$(terms latscope-load.1 KINDS)" \
	"$("$latscope" load --help | sed -n '/^Kinds:/,/^$/ s/^  \([a-z]*\).*/\1/p' | sort)"
ok 'pages and README know no other option' known_options man/*.scd README.md

ok 'make install' make -s -o .output/latscope install DESTDIR="$dir/root" PREFIX=/usr
for page in "${pages[@]}"; do
	ok "make install: $page" installed "$page"
done
ok 'make install: completions of three shells' grep -q -e --complete \
	"$dir"/root/usr/share/{bash-completion/completions/latscope,zsh/vendor-completions/_latscope,fish/vendor_completions.d/latscope.fish}
ok 'make install: the program runs' "$dir/root/usr/bin/latscope" --version
is 'make install: it is the only program' "$(find "$dir/root" -type f -perm /111 -printf '%P\n')" usr/bin/latscope
latscope=$dir/root/usr/bin/latscope refuses 'make install: no fault can be injected into it' 2 \
	"validate: .*option '--break=drop'" validate --break=drop
is 'make install: it has no code for that' "$(grep -ao 'LAT_INJECT[A-Z_]*\|inject_fault\|inject__[a-z]*' "$dir/root/usr/bin/latscope")" ''

done_testing
