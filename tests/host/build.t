#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The build is reproducible, and a compiler warning stops `make tests`, but not `make`.
. "$(dirname "$0")/../cli/cli.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES WERROR

native=x86
[ "$(uname -m)" = x86_64 ] || native=arm64
objects=(src/*/*/*.bpf.c)
objects=("${objects[@]/%.c/.o}")

# built OUT [ARG...]: make with these arguments builds the BPF objects in OUT
built() { "${as[@]}" make -s -j2 OUT="$1" "${@:2}" "${objects[@]/#/$1/}" >"$dir/said" 2>&1 || { cat "$dir/said" && false; }; }

# same OUT OUT: their BPF objects are the same bit for bit
same() {
	local name bad=0

	for name in "${objects[@]}"; do
		cmp "$1/$name" "$2/$name" || bad=1
	done
	return $bad
}

# without_btf CMD...: as on a kernel without type information
without_btf() { in_mounts 'mount -t tmpfs none /sys/kernel/btf && ! [ -e /sys/kernel/btf/vmlinux ]' "$@"; }

hidden() { "${as[@]}" true; }

# elsewhere CMD...: in another directory, which has only their sources
elsewhere() (cd "$dir/elsewhere" && "$@")
mkdir "$dir/elsewhere"
cp -r Makefile src include mk scripts "$dir/elsewhere"

# lacks WHAT VARIABLE=VALUE: make says that WHAT is missing, and what installs it
lacks() {
	make -s OUT="$dir/lacking-${2%%=*}" "$2" >/dev/null 2>"$dir/said"
	grep -qF "$1 is missing: 'scripts/deps build', as root, installs what the build needs" "$dir/said" || { cat "$dir/said" && false; }
}
# archive: an archive of the tree has neither a commit in a file nor one in git
archive() { GIT_DIR="$dir/no-such" make -s OUT="$dir/archive" "$dir/archive/src/cli/version.o"; }
ok 'an archive of the tree, which knows no commit, is built' elsewhere archive

for variable in CC CLANG BPFTOOL; do
	ok "$variable is missing: make says what to do" lacks no-such-tool $variable=no-such-tool
done
ok 'a header is missing: make says what to do' lacks no/such.h HEADERS=no/such.h

ok 'there are BPF objects' test "${#objects[@]}" -ge 5
# Of the machine's own architecture make has built them already. Each is built a second time elsewhere and, if they can be hidden,
# without the running kernel's types.
where='in another directory' hide=()
if [ -e /sys/kernel/btf/vmlinux ] && without_btf hidden 2>/dev/null; then
	where+=", without the running kernel's types" hide=(without_btf)
else
	skip "without the running kernel's types" 'this kernel shows none, or they cannot be hidden'
fi
for arch in x86 arm64; do
	here=$dir/$arch
	if [ "$arch" = "$native" ]; then
		here=$built
	else
		ok "$arch: the BPF objects are built" built "$here" ARCH=$arch
	fi
	ok "$arch: $where, too" elsewhere "${hide[@]}" built "$dir/$arch-elsewhere" ARCH=$arch
	ok "$arch: they are the same" same "$here" "$dir/$arch-elsewhere"
done

# What mk/harden.mk adds, as readelf shows it in the program and its objects.
program=$(readelf -lWd "$built/latscope" && readelf -sW "$built/latscope" | grep -o ' __[a-z]*_chk[a-z_]*')
like 'the program runs at any address' "$program" 'Flags:.* PIE'
like 'what the linker resolves is read-only' "$program" 'GNU_RELRO.*BIND_NOW'
like 'the stack is not executable' "$program" 'GNU_STACK +(0x0+ +)+RW '
like 'the stack is protected' "$program" ' __stack_chk_fail'
like 'functions that copy check the size' "$program" ' __snprintf_chk'

# unmarked REGEX READELF-OPTION: prints the objects of the program for which readelf does not print REGEX
unmarked() {
	local object

	for object in "$built"/src/*/*.o "$built"/src/*/*/*.o; do
		[[ $object = *.bpf.o || ! -e ${object%.o}.d ]] || readelf "$2" "$object" 2>/dev/null | grep -qE "$1" || echo "$object"
	done
}
is 'large frames of the stack are probed' "$(unmarked 'producer.*-fstack-clash-protection' --debug-dump=info | grep -vE "_(code|files)\.o")" ''
if [ "$(uname -m)" = x86_64 ]; then
	is 'each object is fit for CET, assembly too' "$(unmarked 'IBT, SHSTK' -n)" ''
else
	skip 'each object is fit for CET, assembly too' 'it is of x86'
fi

# compiles CFLAGS: compiles $dir/flags/src/cli/main.o without a warning
compiles() {
	rm -rf "$dir/flags"
	make -s OUT="$dir/flags" WERROR=1 CFLAGS="$1" "$dir/flags/src/cli/main.o"
}
without_protection() { ! readelf -sW "$dir/flags/src/cli/main.o" | grep -E '_chk' && ! readelf -n "$dir/flags/src/cli/main.o" | grep IBT; }
ok 'without optimization there is no warning' compiles '-O0 -fno-stack-protector -fcf-protection=none'
[ "$(uname -m)" != x86_64 ] || ok "the user's CFLAGS win" without_protection
ok 'a level of _FORTIFY_SOURCE that the user chose stays' compiles '-O2 -D_FORTIFY_SOURCE=1'

# Make each compiled file warn.
echo '#warning a newer compiler has more to say' >"$dir/warns.h"
warning=(CFLAGS="-O0 -include $dir/warns.h" CLANG="${CLANG:-clang} -include $dir/warns.h")

lax() { make -s -j2 OUT="$dir/lax" "${warning[@]}" >"$dir/said" 2>&1 || { tail "$dir/said" && false; }; }

# warned: there is a warning for each object, also for those of BPF
warned() {
	local path wanted=0 got

	while read -r path; do
		[ ! -e "${path%.o}.c" ] || wanted=$((wanted + 1))
	done < <(cd "$dir/lax" && find src -name '*.o')
	got=$(grep -c 'warning: .*a newer compiler has more to say' "$dir/said")
	[ "$got" -ge "$wanted" ] || { echo "$got warnings, not $wanted" && false; }
}

# stops ARG...: make stops at the warning
stops() {
	! make -s "$@" >"$dir/said" 2>&1 || { echo 'it goes on' && return 1; }
	grep -q 'error: .*a newer compiler has more to say.*-Werror' "$dir/said" || { tail "$dir/said" && false; }
}

ok 'make goes on though the compilers warn' lax
ok 'they warned of each file' warned
ok 'what came of it runs' "$dir/lax/latscope" --version
ok 'it is not built again' make -q OUT="$dir/lax" "${warning[@]}"
ok 'with -Werror it is, and that stops' stops OUT="$dir/lax" WERROR=1 "${warning[@]}" "$dir/lax/src/cli/main.o"
ok 'make tests stops' stops OUT="$dir/strict" "${warning[@]}" tests
ok 'and of a BPF program' stops OUT="$dir/strict" WERROR=1 "${warning[@]}" "$dir/strict/${objects[0]}"
idle() { make -q || { make -n --debug=b | grep -E 'newer|Must' && false; }; }
ok 'a second make has nothing to do' idle
done_testing
