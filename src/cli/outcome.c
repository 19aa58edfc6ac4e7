// SPDX-License-Identifier: BSD-2-Clause
#include "outcome.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "log.h"

void outcome__of_workload(const struct run *run, const struct session_result *result)
{
	unsigned long long outlived = run->workload_outlived;
	int status = run->workload_status;
	char why[RUN_TEXT];

	if (run->workload_uncounted) {
		log__warn("processes that the workload started and that outlived the window",
			  "cannot be counted",
			  "/proc hides the processes of other users (mount option hidepid)");
	} else if (outlived) {
		snprintf(why, sizeof(why), "%llu process%s that it started outlived the window",
			 outlived, outlived == 1 ? "" : "es");
		log__warn("workload", why, "latscope does not end them");
	}
	if (result->workload_ended_early) {
		log__warn("workload", "still running at the end of the window; terminated", NULL);
		return;
	}
	if (!run->workload || !status || status == RUN_NOT_ENDED)
		return;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "was killed by signal %d (%s); the recording ends there",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "exited with status %d", WEXITSTATUS(status));
	log__warn("workload", why, NULL);
}
