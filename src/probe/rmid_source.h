/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBE_RMID_SOURCE_H
#define LATSCOPE_PROBE_RMID_SOURCE_H

#include "rmid.h"
#include "session.h"

/* What makes it part of a session; it stays the caller's, and so does `rmid`. */
struct session_source rmid__source(struct rmid *rmid);

#endif
