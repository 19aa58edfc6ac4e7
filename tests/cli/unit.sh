# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of cli.sh
# Functions for tests of units of systemd; source it after cli.sh and serve.sh, and set $unit, the path of the service.

unit_strace=(strace -f -qq -o "$dir/calls")

less() { awk -v got="$1" -v most="$2" 'BEGIN { print got; exit !(got != "" && got < most) }'; }
unit_is_confined() {
	ok 'the exposure is less than 2.0' less "$(systemd-analyze security --offline=true "$unit" 2>/dev/null |
		sed -n 's/.*exposure level for [^ ]*: \([0-9.]*\) .*/\1/p')" 2
}

# unit_is_accepted KIND: the service, and the unit of that kind with its name
unit_is_accepted() {
	local name

	ln -s "$latscope" "$dir/program" # a path without blanks
	for name in "$unit" "${unit%service}$1"; do
		sed "s|/usr/bin/latscope|$dir/program|; /^Documentation/d" "$name" >"$dir/${name##*/}"
	done
	name=${unit##*/}
	ok 'systemd accepts both' quiet systemd-analyze verify "$dir/$name" "$dir/${name%service}$1"
}

# expand NAME: the system calls of a set of systemd
expand() {
	systemd-analyze syscall-filter "@$1" | sed 1d | grep -v '^ *#' | while read -r name; do
		case $name in
		@*) expand "${name#@}" ;;
		?*) printf '%s\n' "$name" ;;
		esac
	done
}
# allowed: those that the unit allows, sorted
allowed() {
	local line name list=/dev/null

	while read -r line; do
		for name in ${line#\~}; do
			if [[ $name = @* ]]; then
				expand "${name#@}"
			else
				echo "$name"
			fi
		done | sort -u >"$dir/part"
		if [[ $line = \~* ]]; then
			comm -23 "$list" "$dir/part" >"$dir/next"
		else
			sort -u "$list" "$dir/part" >"$dir/next"
		fi
		mv "$dir/next" "$dir/allowed"
		list=$dir/allowed
	done < <(sed -n 's/^SystemCallFilter=//p' "$unit")
}
# unit_allows_all: those that were traced by "${unit_strace[@]}"
unit_allows_all() {
	allowed
	# What the kernel refuses without privileges need not be allowed.
	sed -n '/execve("[^"]*latscope"/,$p' "$dir/calls" | grep -v ' = -1 EPERM' | sed -E 's/^[0-9]+ +//; s/\(.*//' |
		grep -xE '[a-z_0-9]+' | sort -u >"$dir/used"
	is 'the unit allows every call that it makes' "$(comm -23 "$dir/used" "$dir/allowed")" ''
}
