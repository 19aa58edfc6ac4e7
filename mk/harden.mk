# SPDX-License-Identifier: BSD-2-Clause
# Compiler and linker options that make a programming error harder to exploit. They come before the user's CFLAGS and
# LDFLAGS, which therefore win. Sanitizer builds do not use them: sanitizers check more.
HARDEN := -fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter x86,$(ARCH)),-fcf-protection,-mbranch-protection=standard)
HARDEN_LINK := -pie -Wl,-z,relro,-z,now

# Fortified functions need an optimizing compiler, level 3 needs gcc 12 or clang; a level that the user chose stays.
MACROS := $(shell $(CC) $(CPPFLAGS) $(CFLAGS) -dM -E -x c /dev/null 2>/dev/null | \
	awk '$$2 ~ /^(__OPTIMIZE__|_FORTIFY_SOURCE|__clang__)$$/ { print $$2 } $$2 == "__GNUC__" && $$3 >= 12 { print "gcc12" }')
ifeq ($(filter __OPTIMIZE__,$(MACROS))$(filter _FORTIFY_SOURCE,$(MACROS)),__OPTIMIZE__)
  HARDEN += -D_FORTIFY_SOURCE=$(if $(filter gcc12 __clang__,$(MACROS)),3,2)
endif
