# SPDX-License-Identifier: BSD-2-Clause
# Installation of the program, its man pages and completions, and of what a service needs. Where files go below DESTDIR is
# decided by PREFIX, SYSCONFDIR, UNITDIR, TMPFILESDIR and ZSHDIR: by default where systemd and zsh look.
usr = $(if $(filter /usr,$(PREFIX)),$(1),$(2))
SYSCONFDIR ?= $(call usr,/etc,$(PREFIX)/etc)
UNITDIR ?= $(PREFIX)/lib/systemd/system
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
ZSHDIR ?= $(PREFIX)/share/zsh/$(call usr,vendor-completions,site-functions)
INSTALL ?= install
MAN := $(patsubst man/%.scd,$(OUT)/man/%,$(wildcard man/*.scd))

# The first line says that it has tables: man then runs tbl.
$(OUT)/man/%: man/%.scd
	$(call msg,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ printf "%s\n" "'\\\" t" && scdoc < $<; } > $@

install: install_program install_exporter ## Install all but the kernel modules below DESTDIR/PREFIX

install_program: all $(MAN) ## Install the program, man pages, completions and the timer of fleet rollup
	$(INSTALL) -Dm755 $(OUT)/latscope $(DESTDIR)$(PREFIX)/bin/latscope
	$(Q)for page in $(MAN); do \
		$(INSTALL) -Dm644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit; \
	done
	$(INSTALL) -Dm644 packaging/completions/latscope.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/latscope
	$(INSTALL) -Dm644 packaging/completions/_latscope $(DESTDIR)$(ZSHDIR)/_latscope
	$(INSTALL) -Dm644 packaging/completions/latscope.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/latscope.fish
	$(INSTALL) -Dm644 -t $(DESTDIR)$(PREFIX)/share/latscope/matrix share/latscope/matrix/*.matrix
	$(call units,latscope-rollup,timer)

# $(call units,NAME,KIND): NAME.service, NAME.KIND, and the file with the options of the service. That file may have been changed: it
# stays. The service names the program and this file as installed.
define units
$(INSTALL) -Dm644 -t $(DESTDIR)$(UNITDIR) packaging/systemd/$(1).service packaging/systemd/$(1).$(2)
	$(Q)sed -i 's|/usr/bin/|$(PREFIX)/bin/|; s|/etc/default/|$(SYSCONFDIR)/default/|' $(DESTDIR)$(UNITDIR)/$(1).service
	$(Q)test -e $(DESTDIR)$(SYSCONFDIR)/default/$(1) || \
		$(INSTALL) -Dm644 packaging/systemd/$(1).default $(DESTDIR)$(SYSCONFDIR)/default/$(1)
endef

install_exporter: ## Install the units, their options, the dashboard and the alert rules
	$(call units,latscope-exporter,socket)
	$(INSTALL) -Dm644 packaging/systemd/latscope-exporter.tmpfiles $(DESTDIR)$(TMPFILESDIR)/latscope-exporter.conf
	$(INSTALL) -Dm644 packaging/grafana/latscope.json $(DESTDIR)$(PREFIX)/share/latscope/grafana/latscope.json
	$(INSTALL) -Dm644 -t $(DESTDIR)$(PREFIX)/share/latscope/clickhouse $(filter-out %/steps.sql,$(wildcard packaging/clickhouse/*.sql))
	$(INSTALL) -Dm644 packaging/prometheus/latscope.rules.yml $(DESTDIR)$(PREFIX)/share/latscope/prometheus/latscope.rules.yml

.PHONY: install install_program install_exporter
