#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ringlat's kvm backend, as a guest in the guest of an emulated CPU with SVM that counts instructions.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

tests/vm/kernel 6.1 >/dev/null || {
	[ $? = 77 ] || exit 1
	skip_all 'there is no 6.1 kernel here'
}
exec tests/vm/run -q '-icount shift=3' -c 1 tests/ringlat/kvm
