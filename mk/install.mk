# SPDX-License-Identifier: BSD-2-Clause
# Installation of the program and its man pages.
MAN := $(patsubst man/%.scd,$(OUT)/man/%,$(wildcard man/*.scd))

$(OUT)/man/%: man/%.scd
	$(call msg,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc < $< > $@

install: all $(MAN) ## Install the program and its man pages below DESTDIR/PREFIX
	install -Dm755 $(OUT)/latscope $(DESTDIR)$(PREFIX)/bin/latscope
	$(Q)for page in $(MAN); do \
		install -Dm644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; \
	done

.PHONY: install
