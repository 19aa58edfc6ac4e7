#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native alone
# The commands of docs/experiments.md print the lines that the page shows, of experiments with this machine's own kernel and disk.
. "$(dirname "$0")/host.sh"
skip_unless_able
PATH=$PWD/.output:$PATH
FIO_DIR=$(mktemp -d /var/tmp/latscope-test-XXXXXX) || exit # on a disk
export FIO_DIR

# rows: the command and the line of each row of the table, one per line, divided by a tab
rows() { sed -nE 's/^\|.*\| `(latscope [^`]*)` \| `([^`]*)` \|$/\1\t\2/p' docs/experiments.md; }

# pattern LINE: a regex for the line with any numbers
pattern() { sed -E 's/[][().*+^$|?{}\\]/\\&/g; s/[0-9]+([,.0-9]|\\\.)*/[0-9.,]+/g; s/\\\+\[/[-+]?[/g' <<<"$1"; }

# attempt COMMAND LINE: runs the command; it printed the line, or could not run here
attempt() {
	rm -rf "$dir/at"
	mkdir "$dir/at"
	out=$(cd "$dir/at" && timeout 100 bash -c "$1" 2>"$dir/stderr" </dev/null)
	status=$?
	prints "$2"
}
prints() { [ "$status" = 77 ] || { [ "$status" = 0 ] && tap_match "$(tr -s ' \n' ' ' <<<"$out")" "$(pattern "$1")"; }; }

nr=0
while IFS=$'\t' read -r command line; do
	nr=$((nr + 1))
	measure attempt "$command" "$line" # other load may disturb it
	if [ "$status" = 77 ]; then
		skip "$command" "$(tail -n 1 "$dir/stderr")"
	else
		ok "$command" prints "$line"
	fi
done < <(rows)
rm -r "$FIO_DIR"
is 'all rows were found' "$nr" "$(grep -c '^|.*| `latscope' docs/experiments.md)"
ok 'no row is without its line' test "$nr" -ge 12
done_testing
