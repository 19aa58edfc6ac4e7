#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# autopkgtest.t DIR SUITE: packaging/debian/tests, which Debian runs for each package that is installed there, in a fresh root of
# SUITE that has nothing but the version before. DIR has the packages built for SUITE. systemd.t runs the test of the service
# and dkms.t that of DKMS.
. "$(dirname "$0")/root.sh"
command -v autopkgtest >/dev/null || skip_all "there is no autopkgtest; 'scripts/deps package' installs it"

debs=$(readlink -e "$1") suite=$2
fresh_with "$suite" "$suite"
if compgen -G "$debs/before/latscope_*.deb" >/dev/null; then
	ok 'the version before installs' put_ours "$debs/before" latscope
else
	skip 'the version before installs' 'debian.t has not built it'
fi
autopkgtests "$debs" installed recordings exporter purged >"$work/autopkgtest"
status=$?
diag "$(cat "$work/summary")"
ok 'autopkgtest ends well, with a test skipped' test $status = 2
if grep -qE '^installed +SKIP' "$work/summary"; then
	skip 'the program measures and validates' "$(grep ^installed "$work/summary")"
else
	ok 'the program measures and validates' autopkgtest_says installed PASS
fi
ok 'it reads the recordings of all versions before it' autopkgtest_says recordings PASS
ok 'the test of the service is left to a machine with systemd' autopkgtest_says exporter SKIP
ok 'the purge leaves nothing' autopkgtest_says purged PASS
leave
done_testing
