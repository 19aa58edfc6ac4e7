# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Functions to get Debian's packages for the VM: packages are downloaded once, unpacked and never installed. All files are
# in .output/vm, or in LATSCOPE_VM_CACHE, so that several checkouts can share one. Sets $cache.

cache=$(readlink -m "${LATSCOPE_VM_CACHE:-$(dirname "${BASH_SOURCE[0]}")/../../.output/vm}")

say() { printf 'tests/vm/%s: %s\n' "$(basename "$0")" "$*" >&2; }

# As root, apt would drop to the user _apt, which cannot write here, and warn about that.
apt() { apt-get -qq -o APT::Sandbox::User=root "$@" </dev/null >&2 9>&-; }

# mirror_of SUITE: the address of the Debian mirror that this machine's apt uses for its own release, or for
# that release's security updates if SUITE is of these; and the keyring that apt checks it with.
mirror_of() {
	local release uri entry keyring

	# shellcheck source=/dev/null
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	case $1 in *-security) release=$release-security ;; esac
	# Without release info it answers before the first `apt-get update`, too.
	read -r uri entry < <(env -u APT_CONFIG apt-get indextargets --no-release-info \
		--format '$(REPO_URI) $(SOURCESENTRY)' "Release: $release" 'Component: main' 'Identifier: Packages') ||
		return 77
	keyring=$(source_entry "${entry%:*}" "${entry##*:}" |
		grep -oiEm1 'signed-by[:=] *[^] ]+' | sed 's/^[^:=]*[:=] *//') || true
	[ -f "$keyring" ] || keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "$uri $keyring"
}

# source_entry FILE N: the Nth stanza, or in a file of the old format the Nth line
source_entry() {
	case $1 in
	*.sources) awk -v RS= -v n="$2" 'NR == n' "$1" ;;
	*) sed -n "$2p" "$1" ;;
	esac
}

# suite_sources SUITE ARCH: the lines of sources.list, with the security updates if SUITE has them.
suite_sources() {
	local suite uri keyring

	for suite in "$1" "$1-security"; do
		case $suite in *-*-security | sid-security | unstable-security | experimental-security) continue ;; esac
		read -r uri keyring < <(mirror_of "$suite") || continue
		echo "deb [arch=$2 signed-by=$keyring] $uri $suite main"
	done | grep .
}

# suite_apt SUITE [ARCH]: makes apt, apt-get, apt-cache and download() work on Debian's SUITE (bullseye,
# trixie-backports, sid...) for ARCH (this machine's), and gets the lists if there are none yet. Nothing counts
# as installed. The machine's own apt configuration gives the mirror, the keyring and how to connect, and
# stays as it is: all that is written lies in $cache/apt. It works by exporting APT_CONFIG; to go back, run it
# in a subshell or unset that. The caller holds the lock (lock_cache). 77 if the mirror cannot be used.
suite_apt() {
	local suite=$1 arch=${2:-$(dpkg --print-architecture)} dir

	dir=$cache/apt/$suite-$arch
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial}
	: >"$dir/status"
	suite_sources "$suite" "$arch" >"$dir/sources.list" || {
		say "the apt configuration of this machine names no Debian mirror"
		return 77
	}
	{
		env -u APT_CONFIG apt-config dump | grep '^Acquire::' | grep -v '^Acquire::\(IndexTargets\|Languages\)'
		cat <<-END
			Acquire::Languages "none";
			APT::Architecture "$arch";
			APT::Architectures "$arch";
			APT::Sandbox::User "root";
			Dir::State "$dir/state";
			Dir::State::status "$dir/status";
			Dir::Cache "$dir/cache";
			Dir::Etc::sourcelist "$dir/sources.list";
			Dir::Etc::sourceparts "/dev/null";
			Dir::Etc::preferences "/dev/null";
			Dir::Etc::preferencesparts "/dev/null";
			Dir::Etc::main "/dev/null";
			Dir::Etc::parts "/dev/null";
		END
	} >"$dir/apt.conf"
	export APT_CONFIG=$dir/apt.conf
	if [ -z "$(find "$dir/state/lists" -maxdepth 1 -name '*_Packages*')" ]; then
		say "getting apt's lists of $suite for $arch"
		apt update || true # security updates that are not there are no reason to give up
	fi
	[ -n "$(find "$dir/state/lists" -maxdepth 1 -name '*_Packages*')" ] || return 77
}

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

# The suites to find the kernel of a series in, and its headers, the preferred one first; SUITE:ARCH for another
# architecture than this machine's. trixie-backports has the kernels of sid, for Debian 13: what its headers need to build modules is in trixie.
suites_of() {
	case $1 in
	5.10) echo bullseye ;;
	6.1 | 6.1-rt) echo bookworm ;;
	6.12) echo bookworm trixie ;;
	6.12-arm64) echo bookworm:arm64 trixie:arm64 ;;
	7) echo trixie-backports sid ;;
	*) return 1 ;;
	esac
}

# download_from SUITES DIR CMD...: download() from the first suite that has the packages.
download_from() {
	local suites=$1 suite

	shift
	for suite in $suites; do
		# shellcheck disable=SC2086 # SUITE or SUITE ARCH
		suite_apt ${suite/:/ } && download "$@" && return
	done
	return 77
}

# lock_cache: waits until no other script has the lock, and holds it until this script ends
lock_cache() {
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
}

# scratch: sets $tmp, where files are made before they are renamed, so that no other script finds incomplete ones
scratch() {
	rm -rf "$cache"/.new.* # of a run that was killed
	tmp=$(mktemp -d "$cache/.new.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
}
