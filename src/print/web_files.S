/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of web/, as mk/web.mk prepares them. */
#ifdef __CET__
#include <cet.h> /* marks the object: it has no code that could jump */
#endif

	.section .rodata

	.globl web_style, web_style_end, web_body, web_body_end
	.globl web_script, web_script_end, web_hash, web_hash_end

web_style:
	.incbin "webpage/page.css"
web_style_end:
web_body:
	.incbin "webpage/page.html"
web_body_end:
web_script:
	.incbin "webpage/page.js"
web_script_end:
web_hash:
	.incbin "webpage/page.hash"
web_hash_end:

	.section .note.GNU-stack, "", %progbits
