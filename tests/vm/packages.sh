# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What the scripts source that get Debian's packages for the VM: packages are downloaded once, unpacked
# and never installed. All lies in .output/vm, or where LATSCOPE_VM_CACHE says, so that several checkouts
# can share one. Sets $cache.

cache=$(readlink -m "${LATSCOPE_VM_CACHE:-$(dirname "${BASH_SOURCE[0]}")/../../.output/vm}")

say() { printf 'tests/vm/%s: %s\n' "$(basename "$0")" "$*" >&2; }

# As root, apt would drop to the user _apt, who may not write here, and complain at length.
apt() { apt-get -qq -o APT::Sandbox::User=root "$@" </dev/null >&2 9>&-; }

megabytes_of() { apt-cache show --no-all-versions "$@" | awk '/^Size: / { n += $2 } END { print int(n / 1000000) }'; }

# download DIR CMD...: as .deb files in DIR, the packages whose names CMD prints by the lists that apt has
# now. 77 if they cannot be had.
download() {
	local dir=$1 lists packages

	shift
	for lists in old new; do
		if [ $lists = new ]; then
			# They are empty, or name a file that has left the archive since.
			say "renewing apt's lists to find the packages"
			apt update || true
		fi
		mapfile -t packages < <("$@")
		[ ${#packages[@]} -gt 0 ] || continue
		say "downloading ${packages[*]}, $(megabytes_of "${packages[@]}") MB"
		(cd "$dir" && apt download "${packages[@]}") && return
	done
	return 77
}

# lock_cache: waits until no other run is at it, and keeps others out until this script ends.
lock_cache() {
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
}

# scratch: sets $tmp, where all is made before it is renamed, so that nothing half made is found.
scratch() {
	rm -rf "$cache"/.new.* # of a run that was killed
	tmp=$(mktemp -d "$cache/.new.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
}
