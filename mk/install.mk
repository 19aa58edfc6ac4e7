# SPDX-License-Identifier: BSD-2-Clause
# Installation of the program, its man pages and its completions.
MAN := $(patsubst man/%.scd,$(OUT)/man/%,$(wildcard man/*.scd))

$(OUT)/man/%: man/%.scd
	$(call msg,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc < $< > $@

install: all $(MAN) ## Install the program, man pages and completions below DESTDIR/PREFIX
	install -Dm755 $(OUT)/latscope $(DESTDIR)$(PREFIX)/bin/latscope
	$(Q)for page in $(MAN); do \
		install -Dm644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; \
	done
	install -Dm644 packaging/completions/latscope.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/latscope
	install -Dm644 packaging/completions/_latscope $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_latscope
	install -Dm644 packaging/completions/latscope.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/latscope.fish

.PHONY: install
