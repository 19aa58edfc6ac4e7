#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# arm64.t DIR SUITE NATIVE: the packages for arm64, cross-built into DIR in a fresh root of Debian's SUITE, and again elsewhere with the same
# bytes. The lintian of that release accepts them, and they have the same files as those for this machine in NATIVE. The last
# commit is tested. tests/kernels/arm64.t runs the program.
. "$(dirname "$0")/root.sh"

suite=$2
[ "$arch" != arm64 ] || skip_all 'this machine is arm64; debian.t has built the packages'
mkdir -p "$1" && built_in=$(readlink -e "$1")

# files_of FILE: the paths in a package
files_of() { dpkg-deb -c "$1" | awk '{ print $6 }' | grep -v '^./usr/lib/debug/' | sort; }
program() { dpkg-deb -x "$built_in/latscope_${version}_arm64.deb" "$work/program" && readelf -h "$work/program/usr/bin/latscope"; }

ok "$suite: make-deb -a arm64 builds" builds "$suite" "$built_in" arm64
ok "$suite: make-deb -a arm64 builds again, elsewhere" builds "$suite" "$work/another/directory/$suite" arm64
ok "$suite: both builds have the same bytes" same_bytes "$built_in" "$work/another/directory/$suite"
ok "$suite: lintian accepts the packages" lintian_accepts "$suite" "$built_in"
is "$suite: latscope depends on no compiler" "$(compilers_of "$built_in/latscope_${version}_arm64.deb")" ''
is "$suite: no DKMS: the kernel modules are for x86-64" "$(compgen -G "$built_in/*dkms*")" ''
like "$suite: the program is for arm64" "$(program)" 'Machine: *AArch64'
is "$suite: the same files as for $arch" "$(files_of "$built_in/latscope_${version}_arm64.deb")" \
	"$(files_of "$3/latscope_${version}_$arch.deb")"
done_testing
