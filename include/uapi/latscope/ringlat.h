/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR BSD-2-Clause */
