#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# debian.t DIR SUITE: the packages, built into DIR in a fresh root of Debian's SUITE, and again elsewhere with the same bytes. The
# lintian of that release accepts them. In a fresh root latscope measures without a compiler, reads what the version before has
# recorded, and is purged without a trace. The last commit is tested.
. "$(dirname "$0")/root.sh"

# Every file of the root with its kind, owner and mode, but for what apt and dpkg note about packages.
files() { inside find / -xdev '(' -path /root -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /tmp ')' \
	-prune -o -printf '%p %y %U %m %l\n' | sort; }

# What differs from before, except for files of packages that apt keeps: libc6 of Debian 13 recommends libidn2, which came with latscope.
left() {
	files | diff "$work/files" - | grep '^[<>]' | while read -r sign path rest; do
		[ "$sign" = '>' ] && inside dpkg -S "$path" >/dev/null 2>&1 || echo "$sign $path $rest"
	done
	inside dpkg -l | grep latscope
}

no_compiler() {
	local name

	for name in cc gcc clang tcc llc ld as make; do
		! inside sh -c "command -v $name" || return
	done
}

# A histogram has a row like "[2, 4)   127,908   71.3 % |@@@".
histogram() { inside latscope runqlat -d 1s | tee /dev/stderr | grep -qE '^  \[[0-9KM]+, [0-9KM]+\) .* \|[@.]'; }

doctor() {
	local code=0

	inside latscope doctor >"$work/doctor" || code=$?
	cat "$work/doctor"
	[ "$code" = 0 ] || [ "$code" = 77 ] || return
	grep -q 'the package latscope-dkms' "$work/doctor" && tail -n 1 "$work/doctor" | grep -q '^Next: '
}

# 3: a check failed, which is a matter of load on a busy machine, not of the package.
validates() {
	local code=0

	inside latscope validate --only reference || code=$?
	[ "$code" = 0 ] || [ "$code" = 77 ]
}

# get PATH: what the exporter answers
get() {
	inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/9469 && printf "GET %s HTTP/1.0\r\n\r\n" "$0" >&3 && cat <&3' "$1" 2>/dev/null
}

# scrapes: the service runs by hand, as there is no systemd here, with the options of its unit
scrapes() {
	local server said code=0

	chroot "$root" latscope serve -q -d 30s &
	server=$!
	wait_for get /healthz >"$work/health"
	said=$(get /metrics)
	kill "$server"
	wait "$server" || code=$?
	grep -E '^latscope_probe_up' <<<"$said"
	[ "$code" = 77 ] || grep -q '^latscope_probe_up{probe="runqlat"} 1' <<<"$said"
}

# upgrades: from the version before, by which a recording is made first
upgrades() {
	local old

	mkdir "$built_in/before" && tests/distro -s deb -b "$built_in" "$suite" tests/packages/before "$built_in/before" &&
		put_ours "$built_in/before" latscope && old=$(inside latscope --version | head -n 1) && echo "from $old" &&
		[ "$old" != "latscope $version" ] &&
		inside sh -c 'cd /root && latscope record -q -o before -- latscope load mixed -d 1s >/dev/null && latscope report before/* >before.txt' &&
		put_ours "$built_in" latscope && [ "$(inside latscope --version | head -n 1)" = "latscope $version" ]
}

# The number of events of each probe.
events() { grep -oE '[0-9,]+ events, ' "$@" | tr -d ' \n'; }

built_in=$(readlink -m "$1") suite=$2
fresh_with "$suite" "$suite"
ok "$suite: make-deb builds" builds "$suite" "$built_in"
ok "$suite: make-deb builds again, elsewhere" builds "$suite" "$work/another/directory/$suite"
ok "$suite: both builds have the same bytes" same_bytes "$built_in" "$work/another/directory/$suite"
ok "$suite: lintian accepts the packages" lintian_accepts "$suite" "$built_in"
is "$suite: latscope depends on no compiler" "$(compilers_of "$built_in/latscope_${version}_$arch.deb")" ''
files >"$work/files"
ok "$suite: upgrades from the version before" upgrades
is "$suite: reads its recording" "$(inside sh -c 'latscope report /root/before/*' | events)" "$(events "$root/root/before.txt")"
ok "$suite: no compiler came with it" no_compiler
like "$suite: --version" "$(inside latscope --version)" "^latscope $version.*commit: [0-9a-f]{12}"
ok "$suite: doctor" doctor
ok "$suite: a histogram" histogram
if inside ldconfig -p | grep -q libcurl; then
	skip "$suite: what needs a library that is missing names its package" 'it is there'
else
	like "$suite: what needs a library that is missing names its package" \
		"$(inside latscope serve -q --no-ring --listen 127.0.0.1:0 --otlp http://127.0.0.1:4318 -d 1s 2>&1)" 'libcurl is missing; install the package libcurl3-gnutls'
	ok "$suite: which apt finds" inside apt-get -s --no-install-recommends install libcurl3-gnutls
fi
ok "$suite: validate" validates
ok "$suite: records" inside sh -c 'cd /root && latscope record -q -o runs -i 1s -- latscope load mixed -d 2s && latscope report runs/*'
gunzip <tests/cli/recordings/0.1-mixed.db.gz >"$root/root/old.db"
like "$suite: reads a recording of 0.1" "$(inside latscope report /root/old.db 2>&1)" 'seen 54,893 = 54,889 recorded'
ok "$suite: man pages are there" test -s "$root/usr/share/man/man1/latscope-record.1.gz"
ok "$suite: the exporter installs" put_ours "$built_in" latscope-exporter
ok "$suite: the exporter answers" scrapes
ok "$suite: it keeps a flight recorder" compgen -G "$root/var/lib/latscope/*-ring"
ok "$suite: purges" inside apt-get -qy --autoremove purge latscope latscope-exporter
is "$suite: no trace is left" "$(left)" ''
leave
done_testing
