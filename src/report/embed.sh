#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes the files of a folder that a browser needs as the C source of mr_assets[] (assets.h). The folders
# themselves are dependencies too, so that a new file is found without configuring anew.
#
#     embed.sh FOLDER DEPFILE OUTPUT
set -eu
export LC_ALL=C
folder=$1 depfile=$2 output=$3

files() {
    find "$folder" -type f \( -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.svg' \) | sort
}

type_of() {
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.svg) echo 'image/svg+xml' ;;
    esac
}

# A NUL ends each, so that texts can be printed; it does not count.
print_bytes() {
    echo "static const unsigned char asset_$1[] = {"
    od -An -v -tu1 "$2" | sed 's/  */,/g; s/^,//; s/$/,/'
    echo '0};'
}

{
    printf '%s:' "$output"
    find "$folder" -type d -printf ' %p'
    files | tr '\n' ' ' | sed 's/^/ /'
    echo
} >"$depfile"
exec >"$output"

echo '#include "report/assets.h"'
number=0
files | while read -r file; do
    print_bytes "$number" "$file"
    number=$((number + 1))
done
echo 'const struct mr_asset mr_assets[] = {'
number=0
files | while read -r file; do
    tag=$(sha256sum "$file" | cut -c1-16)
    printf '\t{"%s", "%s", "\\"%s\\"", asset_%d, sizeof asset_%d - 1},\n' \
        "${file#"$folder"/}" "$(type_of "$file")" "$tag" "$number" "$number"
    number=$((number + 1))
done
echo '};'
echo 'const size_t mr_asset_count = sizeof mr_assets / sizeof mr_assets[0];'
