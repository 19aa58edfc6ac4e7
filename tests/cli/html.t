#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: fast
# report --html: options, and what cannot be written. tests/cli/page.t opens pages in a browser.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh

wrong 'a page as JSON' '--html writes the whole recording' report --html page.html --json a
wrong 'a page of one probe' '--html writes the whole recording' report --html page.html -P iolat a
refuses 'no recording' 1 'a: there is no recording' report --html "$dir/page.html" "$dir/a"
is 'then there is no page' "$(ls -A "$dir")" stderr
done_testing
