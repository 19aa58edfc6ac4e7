/* SPDX-License-Identifier: BSD-2-Clause */
/* The first screen of a page as an SVG file that needs nothing else. */
#ifndef LATSCOPE_PRINT_HTML_PICTURE_H
#define LATSCOPE_PRINT_HTML_PICTURE_H

#include <stdio.h>

struct html_data;
struct html_report;

/* After all intervals and the pressure were added. 0 or -ENOMEM. */
int html_picture__print(FILE *out, struct html_data *data, const struct html_report *report);

#endif
