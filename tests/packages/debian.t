#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# The Debian packages: built twice in different directories with the same bytes, accepted by lintian, and installed in fresh
# roots of Debian 12 and 13, where latscope measures without a compiler and is purged without a trace.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
[ "$(id -u)" = 0 ] || skip_all 'only root can make a root'
own_mounts

cache=${LATSCOPE_VM_CACHE:-$PWD/.output/vm}/debian
version=$(make -s print-version)
arch=$(dpkg --print-architecture)
work=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
# The mounts below it are of this namespace, and end with it: no deletion may reach them.
remove() { umount -R "$work"/root/* 2>/dev/null; rm -rf --one-file-system "$work"; }
on_exit remove

# fresh SUITE: a new root in $root; the first one of a release is kept in the cache
fresh() {
	root=$work/root/$1
	mkdir -p "$cache" "$work/root"
	if [ ! -e "$cache/$1.tar" ]; then
		debootstrap --variant=minbase "$1" "$work/new" http://deb.debian.org/debian &&
			tar -C "$work/new" -cf "$cache/$1.tar.new" . && mv "$cache/$1.tar.new" "$cache/$1.tar"
		rm -rf "$work/new"
	fi
	rm -rf --one-file-system "$root" && mkdir "$root" && tar -C "$root" -xf "$cache/$1.tar" || return
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys" &&
		mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" && mount -t tmpfs tmpfs "$root/run"
}

# inside CMD...: in the root, which has no environment but these
inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root "$@"
}

packages() {
	inside apt-get -q update && cp "$work"/one/latscope_*.deb "$root/root/" &&
		inside sh -c 'apt-get -qy --no-install-recommends install /root/latscope_*.deb'
}

# What exists in the root, but for what apt and dpkg note about packages, and those that came with it.
files() { inside find / -xdev -path /root -prune -o -path /var/cache -prune -o -path /var/lib/apt -prune -o -path /var/lib/dpkg -prune -o \
	-path /var/log -prune -o -path /tmp -prune -o -name '*latscope*' -print; }

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
	tail -n 1 "$work/doctor" | grep -q '^Next: '
}

# 3: a check failed, which is a matter of load on a busy machine, not of the package.
validates() {
	local code=0

	inside latscope validate --only reference || code=$?
	[ "$code" = 0 ] || [ "$code" = 77 ]
}

same_bytes() {
	local path

	for path in "$work"/one/*.deb; do
		cmp "$path" "$work/another/directory/${path##*/}" || return
	done
}

accepts() {
	local said

	said=$(lintian --allow-root --pedantic -I -E --show-overrides --tag-display-limit 0 "$work"/one/*.changes 2>&1)
	echo "$said"
	! grep -q '^[EWIPX]: ' <<<"$said"
}

ok 'make-deb builds' packaging/make-deb "$work/one"
ok 'make-deb builds again, elsewhere' packaging/make-deb "$work/another/directory"
ok 'both builds have the same bytes' same_bytes
ok 'lintian accepts the packages' accepts
is 'latscope depends on no compiler' \
	"$(dpkg-deb -f "$work/one/latscope_${version}_$arch.deb" Depends Recommends | grep -oE 'gcc|clang|llvm|dkms|headers')" ''
for suite in bookworm trixie; do
	if ! fresh "$suite" >"$work/log" 2>&1; then
		skip "$suite" "cannot make a root: $(tail -n 1 "$work/log")"
		continue
	fi
	ok "$suite: installs" packages
	ok "$suite: no compiler came with it" no_compiler
	like "$suite: --version" "$(inside latscope --version)" "^latscope $version.*commit: [0-9a-f]{12}"
	ok "$suite: doctor" doctor
	ok "$suite: a histogram" histogram
	ok "$suite: validate" validates
	ok "$suite: records" inside sh -c 'cd /root && latscope record -q -o runs -i 1s -- latscope load mixed -d 2s && latscope report runs/*'
	gunzip <tests/cli/recordings/0.1-mixed.db.gz >"$root/root/old.db"
	like "$suite: reads a recording of 0.1" "$(inside latscope report /root/old.db 2>&1)" 'seen 54,893 = 54,889 recorded'
	ok "$suite: man pages are there" test -s "$root/usr/share/man/man1/latscope-record.1.gz"
	ok "$suite: purges" inside apt-get -qy purge latscope
	is "$suite: no trace is left" "$(files)" ''
	umount -R "$root"/{proc,sys,dev,run}
done
done_testing
