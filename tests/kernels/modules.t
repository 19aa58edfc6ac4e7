#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Every kernel module builds for each kernel of the VM without a warning of the compiler, objtool or sparse, and can be
# installed, as a kernel module and as source for DKMS.
. "$(dirname "$0")/../cli/cli.sh"

out=.output/modules-test # other suites use the modules in .output/kmod at the same time

# Other output is progress, and the note that there is no type information because vmlinux is missing. In 7.x the kernel
# also notes that pahole, which makes that information, has another version or is missing.
quiet() {
	! grep -vE '^ +[A-Z]+( \[M\])? |^Skipping BTF generation|^warning: pahole version differs|^  (The kernel was built with|You are using): ' "$1"
}

not_prepared() { cat "$dir/err" && false; }

built() { [ "$status" = 0 ] || { cat "$dir/err" && false; }; }

# installed SERIES: make has installed it into the tree of its kernel
installed() {
	local root=$PWD/$out/kmod/$1/installed

	tests/kmod/make "$1" modules_install OUT="$out" DESTDIR="$root" W=1
	find "$root/lib/modules/$release" -name 'ringlat.ko*' | grep .
}

# excluded_by CONF RELEASE: DKMS would not build for that kernel
excluded_by() {
	(
		# shellcheck source=/dev/null
		. "$1"
		[[ ! $2 =~ $BUILD_EXCLUSIVE_KERNEL || ! x86_64 =~ $BUILD_EXCLUSIVE_ARCH || aarch64 =~ $BUILD_EXCLUSIVE_ARCH ]]
	)
}

built_by() { ! excluded_by "$@"; }

for series in 6.1 6.1-rt 6.12 7; do
	if kdir=$(tests/vm/headers $series 2>"$dir/err"); then
		release=$(cat "${kdir%/headers/*}/release")
		for conf in kmod/*/dkms.conf; do
			ok "$series: DKMS builds by $conf" built_by "$conf" "$release"
		done
		rm -rf $out/kmod/$series # so that all is said anew
		tests/kmod/build $series $out >"$dir/err" 2>&1
		status=$?
		if [ $status = 77 ]; then
			skip "$series: the modules build" "$(tail -n 1 "$dir/err")"
			continue
		fi
		ok "$series: the modules build" built
		ok "$series: compiler, objtool and sparse have nothing to say" quiet $out/kmod/$series/build.log
		case $PWD in
		*\ *) skip "$series: make modules_install" 'the kernel installs into no path with a space' ;;
		*) ok "$series: make modules_install" installed $series ;;
		esac
	elif [ $? = 77 ]; then
		skip "$series: the modules build" "$(tail -n 1 "$dir/err")"
	else
		ok "$series: the headers can be prepared" not_prepared
	fi
done

# Installing an untested kernel must not fail because of them.
for conf in kmod/*/dkms.conf; do
	for release in 5.10.0-32-amd64 6.0.12-amd64 6.10.11-amd64 6.13-rc1 6.120.1 6.16.12+deb13-amd64 7.1.13+deb13-amd64 \
		7.20.0 7.4.0-amd64 8.0.0 8.0-amd64 16.1.0 17.3.4; do
		ok "DKMS leaves $release out by $conf" excluded_by "$conf" "$release"
	done
	for release in 6.1.0-56-amd64 6.1.0-56-rt-amd64 6.12.117+deb12-amd64 7.2.12+deb13-amd64 7.3.4+deb13-rt-amd64 7.3-amd64; do
		ok "DKMS builds for $release by $conf" built_by "$conf" "$release"
	done
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
