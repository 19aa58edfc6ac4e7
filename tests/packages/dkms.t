#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# dkms.t DIR SUITE: latscope-dkms in a fresh root of Debian's SUITE. DKMS builds and installs both kernel modules for the kernels of
# that release that the VM has, leaves other kernels alone, and they load and measure there. DIR has the packages built for
# SUITE. Debian's test of DKMS packages, autopkgtest-pkg-dkms, passes with these kernels. The purge removes everything.
. "$(dirname "$0")/root.sh"

debs=$(readlink -e "$1") suite=$2
declare -A series_of=([bookworm]='6.1 6.12' [trixie]=7)
declare -A sources_of=([bookworm]=bookworm [trixie]='trixie trixie-backports')
# shellcheck disable=SC2086 # a list
fresh_with "$suite" ${sources_of[$suite]}

# built_for RELEASE: what DKMS has for this kernel
built_for() { inside dkms status -k "$1" | grep -c ': installed'; }
# installs_modules RELEASE
installs_modules() {
	local name

	for name in rmid ringlat; do
		inside dkms install -m "latscope-$name" -v "$version" -k "$1" || return
	done
}
left_out() { inside dkms build -m latscope-rmid -v "$version" -k "$1" 2>&1 | grep -i 'BUILD_EXCLUSIVE'; }

ok 'DKMS installs' put dkms busybox-static kmod
ok 'latscope-dkms installs, before any headers' put_ours "$debs" latscope-dkms latscope
releases=()
for series in ${series_of[$suite]}; do
	release=$(cat "$(tests/vm/kernel "$series")/release") || continue
	if ! put "linux-headers-$release" >"$work/log" 2>&1; then
		skip "$series" "apt does not offer the headers of $release: $(tail -n 1 "$work/log")"
		continue
	fi
	releases+=("$series:$release")
	is "$release: both modules were built when the headers were installed" "$(built_for "$release")" 2
	ok "$release: dkms install" installs_modules "$release"
done
[ ${#releases[@]} -gt 0 ] || skip_all 'no headers'

# An untested kernel, here with the headers of a tested one.
mkdir -p "$root/lib/modules/6.10.11-amd64"
ln -s "/lib/modules/${releases[0]#*:}/build" "$root/lib/modules/6.10.11-amd64/build"
ok '6.10 is left out' left_out 6.10.11-amd64
ok 'an upgrade to it does not fail' inside /etc/kernel/postinst.d/dkms 6.10.11-amd64
is 'and nothing was built for it' "$(built_for 6.10.11-amd64)" 0
rm -r "$root/lib/modules/6.10.11-amd64"
inside dkms uninstall -m latscope-rmid -v "$version" -k "${releases[0]#*:}" >/dev/null
ok 'an upgrade to a tested kernel builds them' inside /etc/kernel/postinst.d/dkms "${releases[0]#*:}"
is 'both are there' "$(built_for "${releases[0]#*:}")" 2
leave

# In the guest the directory of the kernel's own modules hides that of the root, where DKMS has put ours.
guest='
umount /lib/modules/$(uname -r)
for name in rmid ringlat; do
	modprobe $name && grep -q "^$name " /proc/modules && echo "loaded $name"
done
echo "version $(modinfo -F filename rmid)"
latscope doctor | sed -n "/^rmid/,/^\$/p; /^ringlat/,/^\$/p"
latscope ringlat --method module >/tmp/ringlat 2>&1; echo "ringlat $?"
latscope rmid -d 1s --method module >/tmp/rmid 2>&1; echo "rmid $?"
tail -n 5 /tmp/ringlat /tmp/rmid
for name in rmid ringlat; do
	rmmod $name && echo "removed $name"
done'
said() { grep -qE "^$1\$" "$work/vm" || { cat "$work/vm" && false; }; }
for entry in "${releases[@]}"; do
	tests/vm/run -k "${entry%%:*}" -r "$root" bash -c "$guest" >"$work/vm" 2>&1
	status=$?
	is "${entry#*:}: the machine ends well" "$status" 0
	for name in rmid ringlat; do
		ok "${entry#*:}: $name loads by modprobe" said "loaded $name"
		ok "${entry#*:}: $name measures, or says what this CPU lacks" said "$name (0|77)"
		ok "${entry#*:}: $name is removed" said "removed $name"
	done
	ok "${entry#*:}: DKMS has built it" said 'version .*/updates/dkms/rmid.ko.*'
done
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
	mount --make-rslave "$root/dev" && mount -t tmpfs tmpfs "$root/run"
if command -v autopkgtest >/dev/null; then
	autopkgtests "$debs" dkms-autopkgtest >"$work/autopkgtest"
	ok 'autopkgtest-pkg-dkms passes' autopkgtest_says dkms-autopkgtest PASS
	for entry in "${releases[@]}"; do
		ok "autopkgtest-pkg-dkms: ${entry#*:}" grep -q "I: PASS .*${entry#*:}" "$work/autopkgtest"
	done
else
	skip 'autopkgtest-pkg-dkms passes' "there is no autopkgtest; 'scripts/deps package' installs it"
fi
ok 'purges' inside apt-get -qy purge latscope-dkms latscope
is 'no trace is left' "$(inside find /etc /usr /var /lib/modules -xdev -path /var/lib/apt -prune -o \
	'(' -name '*latscope*' -o -name 'rmid.ko*' -o -name 'ringlat.ko*' ')' ! -path '/usr/src/linux*' -print)" ''
done_testing
