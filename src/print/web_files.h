/* SPDX-License-Identifier: BSD-2-Clause */
/* Style, body and script of the pages, from web/: see mk/web.mk. None ends with a 0. */
#ifndef LATSCOPE_PRINT_WEB_FILES_H
#define LATSCOPE_PRINT_WEB_FILES_H

extern const char web_style[], web_style_end[];
extern const char web_body[], web_body_end[];
extern const char web_script[], web_script_end[];
extern const char web_hash[], web_hash_end[]; /* SHA-256 of the script, base64 */

#endif
