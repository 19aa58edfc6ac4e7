#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every module under kmod/ builds for each kernel of the VM without a word from the compiler, objtool or
# sparse, and can be installed, as a module and as source for DKMS.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

dir=$(mktemp -d)
on_exit rm -rf "$dir"

# What else is said is progress, and that module type information is left out as vmlinux is.
quiet() { ! grep -vE '^ +[A-Z]+( \[M\])? |^Skipping BTF generation' "$1"; }

not_prepared() { cat "$dir/err" && false; }

# installed SERIES: by make, into the tree of the kernel it was built for
installed() {
	make modules_install DESTDIR="$dir/$1" KERNEL="$1" KDIR="$kdir" W=1 C=1
	find "$dir/$1/lib/modules/$(cat "${kdir%/headers/*}/release")" -name 'ringlat.ko*' | grep .
}

for series in 6.1 6.12; do
	if kdir=$(tests/vm/headers $series 2>"$dir/err"); then
		rm -rf .output/kmod/$series # so that all is said anew
		ok "$series: the modules build" tests/kmod/build $series
		ok "$series: compiler, objtool and sparse have nothing to say" quiet .output/kmod/$series/build.log
		ok "$series: make modules_install" installed $series
	elif [ $? = 77 ]; then
		skip "$series: the modules build" "$(tail -n 1 "$dir/err")"
	else
		ok "$series: the headers can be prepared" not_prepared
	fi
done

said=$(make modules KERNEL=0 KDIR="$dir/nothing" 2>&1)
is 'no headers: exit status' $? 2
like 'no headers: says what to do' "$said" 'no kernel headers at .*: install linux-headers-0'

ok 'make dkms_install' make dkms_install DESTDIR="$dir/dkms"
for path in kmod/*/; do
	name=$(basename "$path")
	source=("$dir"/dkms/usr/src/latscope-"$name"-*)
	is "$name: the source for DKMS has the version it is filed under" \
		"$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' "${source[0]}/dkms.conf")" "${source[0]##*-}"
	ok "$name: and the headers it includes" test -d "${source[0]}/include/uapi"
done

done_testing
