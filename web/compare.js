// SPDX-License-Identifier: BSD-2-Clause
function comparePage() {}
