# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Building for arm64. Source it after tests/tap.sh.

# build_arm64: builds latscope and the programs of tests/reference; ends a script that has run no test yet, if that cannot be
build_arm64() {
	local root sources=(tests/reference/*.c)

	command -v aarch64-linux-gnu-gcc >/dev/null || skip_all "no compiler for arm64; 'scripts/deps arm64' installs it"
	root=$(tests/vm/root arm64) || skip_all 'there is no arm64 root here'
	sources=("${sources[@]%.c}")
	flock .output/arm64.lock make -s ARCH=arm64 SYSROOT="$root" .output/arm64/latscope "${sources[@]/#/.output/arm64/}" >&2 || exit
}
