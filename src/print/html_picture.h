/* SPDX-License-Identifier: BSD-2-Clause */
/* The first screen of a page as an SVG file that needs nothing else. */
#ifndef LATSCOPE_PRINT_HTML_PICTURE_H
#define LATSCOPE_PRINT_HTML_PICTURE_H

#include <stdio.h>

struct html_data;

/* After all intervals and the pressure were added. 0 or -ENOMEM. */
int html_picture__print(FILE *out, const struct html_data *data);

#endif
