#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the few files that a browser asks for of the many that the viewer's page is written in, and writes them as the
C source of mr_assets[] (assets.h).

    bundle.py UI DEPFILE OUTPUT

    ui/index.html, ui/icon.svg               as they are
    ui/main.js and the modules it needs   ─► viewer.js      all style sheets                  ─► viewer.css
    ui/report.js and the modules it needs ─► report.js      those of ui/shared and ui/pages   ─► report.css

Modules are fetched one by one, and a browser takes longer to fetch sixty than to draw what they draw. In a bundle each
is a function, called once, after those that it needs; what it exports is what the function returns:

    import {element} from "./dom.js";          const $shared_links = (() => {
    export function createLinks() { … }   ─►   const {element} = $shared_dom;
                                               function createLinks() { … }
                                               return {createLinks};
                                               })();

Block comments that have lines of their own are left out, and tabs before a line.

This knows as much of JavaScript as ui/ uses: imports and exports begin a line, nothing that is exported is assigned to
later, no two modules need each other, and no text has several lines. Imports and exports of other kinds, and such texts,
it refuses."""

import hashlib
import pathlib
import re
import sys

SCRIPTS = {"viewer.js": "main.js", "report.js": "report.js"}
SHEETS = {
    "viewer.css": ["shared/style.css", "details/details.css", "timeline/timeline.css", "graph/graph.css",
                   "pages/pages.css"],
    "report.css": ["shared/style.css", "pages/pages.css"],
}
PLAIN = ["index.html", "icon.svg"]
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r'^import (?:\{(?P<names>[^}]*)\}|\* as (?P<all>\w+)) from "(?P<path>[^"]+)";$', re.M)
COMMENT = re.compile(r"^\s*/\*(?:(?!\*/).)*\*/\n", re.M | re.S)
INDENTATION = re.compile(r"^\t+", re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (?P<name>\w+))", re.M)


def variable_of(module):
    return "$" + re.sub(r"\W", "_", str(module.with_suffix("")))


class Bundle:
    def __init__(self, folder, entry):
        self.folder = folder.resolve()
        self.parts, self.exported, self.begun = [], {}, []
        self.add(pathlib.PurePath(entry))

    def add(self, module):
        if module in self.begun:
            sys.exit(f"{module}: needs itself, by way of {', '.join(map(str, self.begun))}")
        if module in self.exported:
            return
        self.begun.append(module)
        self.parts.append(self.function_of(module, (self.folder / module).read_text(encoding="utf-8")))
        self.begun.pop()

    def function_of(self, module, text):
        def bind(found):
            needed = (self.folder / module).parent.joinpath(found["path"]).resolve().relative_to(self.folder)
            self.add(needed)
            names = [name.split()[0] for name in (found["names"] or "").split(",") if name.strip()]
            missing = set(names) - set(self.exported[needed])
            if missing:
                sys.exit(f"{module}: {needed} does not export {', '.join(sorted(missing))}")
            taken = found["all"] or "{" + " ".join(found["names"].split()).replace(" as ", ": ") + "}"
            return f"const {taken} = {variable_of(needed)};"

        text = INDENTATION.sub("", COMMENT.sub("", text))
        exported = [found["name"] for found in EXPORT.finditer(text)]
        text = EXPORT.sub("", IMPORT.sub(bind, text))
        self.exported[module] = exported
        other = re.search(r"^(?:import|export)\b.*|.*(?:</script|<!--).*", text, re.M | re.I)
        lines = [line for line in text.splitlines() if line.count("`") % 2]
        if other or lines:
            sys.exit(f"{module}: not understood: {other[0] if other else lines[0]}")
        return f"const {variable_of(module)} = (() => {{\n{text}return {{{', '.join(exported)}}};\n}})();\n"

    def text(self):
        return "".join(self.parts)


def files_of_page(folder):
    """What is asked for, by name; and all files that it is made of."""
    files, sources = {}, set()
    for name in PLAIN:
        files[name] = (folder / name).read_bytes()
        sources.add(name)
    for name, sheets in SHEETS.items():
        files[name] = b"".join((folder / sheet).read_bytes() for sheet in sheets)
        sources.update(sheets)
    for name, entry in SCRIPTS.items():
        bundle = Bundle(folder, entry)
        files[name] = bundle.text().encode()
        sources.update(map(str, bundle.exported))
    return files, sources


def refuse_what_is_left(folder, sources):
    """A file that nothing needs was forgotten somewhere."""
    for path in folder.rglob("[!.]*"):
        if path.suffix in TYPES and str(path.relative_to(folder)) not in sources:
            sys.exit(f"{path}: is part of no file that a browser asks for")


def c_source(files):
    """A NUL ends each, so that texts can be printed; it does not count."""
    yield '#include "report/assets.h"\n'
    for number, content in enumerate(files.values()):
        yield f"static const unsigned char asset_{number}[] = {{{','.join(map(str, content))},0}};\n"
    yield "const struct mr_asset mr_assets[] = {\n"
    for number, (name, content) in enumerate(files.items()):
        tag = hashlib.sha256(content).hexdigest()[:16]
        yield (f'\t{{"{name}", "{TYPES[pathlib.PurePath(name).suffix]}", "\\"{tag}\\"", '
               f"asset_{number}, sizeof asset_{number} - 1}},\n")
    yield "};\nconst size_t mr_asset_count = sizeof mr_assets / sizeof mr_assets[0];\n"


def main():
    folder, depfile, output = map(pathlib.Path, sys.argv[1:])
    files, sources = files_of_page(folder)
    refuse_what_is_left(folder, sources)
    # The folders too, so that a new file is found without configuring anew.
    needed = [folder, *(path for path in folder.rglob("*") if path.is_dir()), *(folder / name for name in sources)]
    depfile.write_text(f"{output}: {' '.join(map(str, sorted(needed)))}\n")
    output.write_text("".join(c_source(files)))


main()
