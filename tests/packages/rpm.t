#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: packages
# rpm.t DIR: the rpm spec, as far as Debian's rpmbuild goes: it builds from the source package in DIR, and the packages have the
# files that they should. The names of Fedora's packages are not checked.
. "$(dirname "$0")/../cli/cli.sh"
command -v rpmbuild >/dev/null || skip_all "there is no rpmbuild; 'scripts/deps package' installs it"

version=$(make -s print-version)
top=$dir/rpm
mkdir -p "$top/SOURCES"
cp "$1/latscope_$version.tar.xz" "$top/SOURCES/"

# BuildRequires are names of Fedora's packages, which this machine does not have.
builds() { rpmbuild -bb --nodeps --define "_topdir $top" packaging/latscope.spec; }
contents() { rpm -qpl "$top"/RPMS/*/"$1"-"$version"-*.rpm | grep -v -e /man1/ -e /.build-id -e /doc/ -e /licenses/ | sort; }

ok 'it builds' builds
is 'latscope' "$(contents latscope)" '/etc/default/latscope-rollup
/usr/bin/latscope
/usr/lib/systemd/system/latscope-rollup.service
/usr/lib/systemd/system/latscope-rollup.timer
/usr/share/bash-completion/completions/latscope
/usr/share/fish/vendor_completions.d/latscope.fish
/usr/share/zsh/site-functions/_latscope'
like 'latscope-exporter' "$(contents latscope-exporter | paste -sd' ')" \
	'^/etc/default/latscope-exporter /usr/lib/systemd/system/latscope-exporter.service .*socket .*latscope.rules.yml$'
is 'the options are configuration' "$(rpm -qpc "$top"/RPMS/*/*.rpm | paste -sd' ')" '/etc/default/latscope-exporter /etc/default/latscope-rollup'
is 'latscope depends on no compiler' "$(rpm -qpR "$top"/RPMS/*/"latscope-$version"-*.rpm | grep -E 'gcc|clang|llvm|headers')" ''
mkdir "$dir/unpacked"
(cd "$dir/unpacked" && rpm2cpio "$top"/RPMS/*/"latscope-$version"-*.rpm | cpio -idm --quiet)
like 'the program runs' "$("$dir/unpacked/usr/bin/latscope" --version)" "^latscope $version"
done_testing
