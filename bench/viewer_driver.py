# SPDX-License-Identifier: Apache-2.0
"""Uses the viewer in Chromium as a person would, and prints the measurements as JSON:

    viewer_driver.py MILLRACE TRACE RUNS

Runs in the virtual environment of tools/browser."""

import json
import re
import shutil
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

FRAMES = 240  # of pan and zoom in each run
# Zooms in and out around the middle and pans from side to side, with one wheel event per frame, and measures the time
# from frame to frame.
USE = """async (frames) => {
    const canvas = document.querySelector(".timeline-canvas");
    const {left, top, width, height} = canvas.getBoundingClientRect();
    const at = {clientX: left + width * 0.6, clientY: top + height / 2, bubbles: true, cancelable: true};
    const next = () => new Promise(requestAnimationFrame);
    const times = [await next()];
    for (let i = 0; i < frames; i++) {
        const isPan = i % 3 === 0;
        const sign = i % 80 < 45 ? -1 : 1;
        canvas.dispatchEvent(new WheelEvent("wheel", isPan ? {...at, deltaX: 60 * (i % 40 < 20 ? 1 : -1), deltaY: 0}
            : {...at, deltaY: 90 * sign, ctrlKey: true}));
        times.push(await next());
    }
    return times.slice(1).map((time, i) => time - times[i]);
}"""

# Takes the time at which the page reports that it has drawn: polling from outside would add to it.
WATCH = """new MutationObserver((_, observer) => {
    if (!document.documentElement?.dataset.drawn)
        return;
    window.drawnAt = performance.timeOrigin + performance.now();
    observer.disconnect();
}).observe(document, {subtree: true, attributes: true, childList: true});"""


def server_ms(response):
    found = re.search(r"dur=([\d.]+)", response.headers.get("server-timing", ""))
    return float(found[1]) if found else None


def use(chromium, millrace, trace):
    page = chromium.new_page(viewport={"width": 1600, "height": 1000})  # users usually have a browser open
    page.add_init_script(WATCH)
    begin = time.time()
    server = subprocess.Popen([millrace, "view", "--no-open", trace], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        answers = []
        page.on("response", lambda response: "/traces/0/slices" in response.url and answers.append(server_ms(response)))
        page.goto(url + "#view=timeline")
        page.wait_for_selector("html[data-drawn]", timeout=60_000)
        picture = page.evaluate("window.drawnAt") / 1000 - begin
        slices = page.evaluate("fetch('traces/0/trace').then((answer) => answer.json()).then((trace) => "
                               "trace.bands.reduce((sum, band) => sum + band.count, 0))")
        frames = page.evaluate(USE, FRAMES)
        page.wait_for_timeout(500)
        usage = page.context.new_cdp_session(page).send("Runtime.getHeapUsage")
        page.close()
        return {"picture": picture, "slices": slices, "frames": frames, "answers": answers,
                "memory": usage["usedSize"] + usage.get("backingStorageSize", 0)}
    finally:
        server.terminate()
        server.wait()


def main():
    millrace, trace, runs = sys.argv[1:]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        use(chromium, millrace, trace)  # saves the index, and warms up
        print(json.dumps([use(chromium, millrace, trace) for _ in range(int(runs))]))
        chromium.close()


main()
