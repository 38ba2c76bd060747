#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints files as C strings, one per file, for a list of strings.
#
#     embed.sh FILE...
set -eu
for file in "$@"; do
    sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/\\n"/' "$file"
    echo ,
done
