# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the suites, and of cli.sh
# Functions for tests of the packages in fresh roots of Debian, and those of cli.sh. Packages are downloaded in the root, by its
# own apt: that of this machine is not used.
# shellcheck source=tests/cli/cli.sh
. "${BASH_SOURCE[0]%/*}/../cli/cli.sh"
[ "$(id -u)" = 0 ] || skip_all 'only root can make a root'
own_mounts

cache=${LATSCOPE_VM_CACHE:-$PWD/.output/vm}/debian
version=$(make -s print-version)
arch=$(dpkg --print-architecture)
work=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
root=''
# The mounts below it are of this namespace, and end with it: no deletion may reach them.
remove() { umount -R "$work"/root/*/* 2>/dev/null; rm -rf --one-file-system "$work"; }
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
		mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" && mount -t tmpfs tmpfs "$root/run" &&
		echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/tests"
}

leave() { umount -R "$root"/{proc,sys,dev,run}; }

# inside CMD...: in the root, which has no environment but these
inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root "$@"
}

# sources SUITE...: the root's apt knows these releases of Debian, with their security updates
sources() {
	local suite

	for suite in "$@"; do
		echo "deb http://deb.debian.org/debian $suite main"
		case $suite in *-backports) ;; *) echo "deb http://deb.debian.org/debian-security $suite-security main" ;; esac
	done >"$root/etc/apt/sources.list"
	inside apt-get -q update
}

# fresh_with SUITE SUITE...: a new root of the first, with the sources of the others; without it there is nothing to test
fresh_with() {
	if ! fresh "$1" >"$work/log" 2>&1 || ! sources "${@:2}" >>"$work/log" 2>&1; then
		skip_all "cannot make a root: $(tail -n 1 "$work/log")"
	fi
}

# put NAME...: installs packages of Debian; NAME=VERSION and ./FILE work, too
put() { inside apt-get -qy --no-install-recommends install "$@"; }

# put_ours DIR NAME...: installs our packages from DIR
put_ours() {
	local name files=()

	for name in "${@:2}"; do
		cp "$1/${name}"_*.deb "$root/root/" || return
		files+=("/root/$(basename "$1/${name}"_*.deb)")
	done
	put "${files[@]}"
}

# builds SUITE DIR [ARCH]: builds the packages of the last commit in a fresh root of SUITE, by default for this machine
builds() {
	mkdir -p "$2" && tests/distro -s "deb${3:+-$3}" -b "$2" "$1" packaging/make-deb ${3:+-a "$3"} "$2"
}

# same_bytes DIR1 DIR2: every package of DIR1 is in DIR2
same_bytes() {
	local path

	for path in "$1"/*.deb; do
		cmp "$path" "$2/${path##*/}" || return
	done
}

# lintian_accepts SUITE DIR: the lintian of that release has no objection to the packages in DIR, except to what they override.
# Only that of Debian 13 knows that there is a newer policy than that of Debian 12, which the packages are for, too.
lintian_accepts() {
	local said

	said=$(tests/distro -s deb -b "$2" "$1" sh -c 'lintian --allow-root --pedantic -I -E --show-overrides --tag-display-limit 0 --suppress-tags out-of-date-standards-version "$0"/*.changes 2>&1' "$2")
	echo "$said"
	! grep -q '^[EWIPX]: ' <<<"$said"
}

# compilers_of FILE: what a package depends on and only compiling needs
compilers_of() { dpkg-deb -f "$1" Depends Pre-Depends Recommends | grep -oE 'gcc|clang|llvm|dkms|headers'; }

# autopkgtests DIR TEST...: runs these tests of packaging/debian/tests in $root, with the packages in DIR, as Debian does. Prints
# what they print; $work/summary has a line for each. Nothing is put back between them: the root is ours.
autopkgtests() {
	local test names=()

	for test in "${@:2}"; do
		names+=(--test-name "$test")
	done
	rm -f "$work/summary"
	env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME=/root autopkgtest "${names[@]}" --ignore-restrictions breaks-testbed --summary-file "$work/summary" \
		"$1/latscope_${version}_$arch.changes" -- chroot "$root" 2>&1
}

# autopkgtest_says TEST PASS|SKIP
autopkgtest_says() { grep -qE "^$1 +$2" "$work/summary" || { tail -n 200 "$work/summary" "$work/autopkgtest" && false; }; }
