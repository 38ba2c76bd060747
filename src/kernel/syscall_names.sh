#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints a C initialiser for the names of all system calls, by number:
#
#     syscall_names.sh CC...
set -eu
echo '#include <asm/unistd.h>' | "$@" -E -dM - |
    sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "\1",/p' | grep -v __NR_syscalls | sort
