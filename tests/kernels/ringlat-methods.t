#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# ringlat's methods kvm and module on kernel 6.1, where instructions are counted: every length is exact.
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

modules=$(tests/kmod/build 6.1) || {
	[ $? = 77 ] || exit 1
	skip_all 'there is no 6.1 kernel here, or not what it takes to build for it'
}
exec tests/vm/run -c 1 -i 3 tests/ringlat/methods "$modules"
