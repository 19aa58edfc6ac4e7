# SPDX-License-Identifier: BSD-2-Clause
# What the HTML pages contain besides data: the files of web/ without comments, the script as one function, and the
# script's SHA-256 for the policy of the page.
WEB_JS := $(addprefix web/,numbers.js data.js draw.js heat.js curve.js tables.js why.js bars.js compare.js page.js)
WEB := $(addprefix $(OUT)/webpage/,page.css page.html page.js page.hash)

$(OUT)/webpage/page.css $(OUT)/webpage/page.html: $(OUT)/webpage/%: web/%
	$(Q)mkdir -p $(@D)
	$(Q)sed -e '/SPDX-License-Identifier/d' -e 's/^[[:blank:]]*//' $< > $@

$(OUT)/webpage/page.js: $(WEB_JS)
	$(call msg,WEB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)(echo '(function () {"use strict";'; sed -e '/^[[:blank:]]*\/\//d' -e 's/^[[:blank:]]*//' -e '/^$$/d' $^; \
		echo '})();') > $@

# sha256sum prints hexadecimal, the policy has base64
$(OUT)/webpage/page.hash: $(OUT)/webpage/page.js
	$(Q)printf %b "$$(sha256sum < $< | awk '{ \
		for (i = 1; i < 64; i += 2) \
			printf "\\0%03o", 16 * (index("0123456789abcdef", substr($$1, i, 1)) - 1) + \
				index("0123456789abcdef", substr($$1, i + 1, 1)) - 1 }')" | base64 | tr -d '\n' > $@

$(OUT)/src/print/web_files.o: CPPFLAGS += -Wa,-I,$(OUT)
$(OUT)/src/print/web_files.o: $(WEB)
