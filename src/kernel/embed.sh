#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints a file as a C initialiser of bytes. Debug information is left out where there is a tool to do so; type
# information (BTF) stays.
#
#     embed.sh FILE
set -eu
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT
if ! llvm-strip -g -o "$copy" "$1" 2>/dev/null; then
    cp "$1" "$copy"
fi
od -An -v -tu1 "$copy" | sed 's/  */,/g; s/^,//; s/$/,/'
