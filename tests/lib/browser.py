# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns looking at pages in Chromium without a screen: where each text stands, which stand on each other."""
import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WHY_NOT = None if CHROMIUM else "chromium is not installed: what a page looks like is not looked at"

# Every piece of text that is shown, as the boxes of its lines. Texts of a chart are one box each.
MEASURE = """
<script id="measure">
addEventListener("load", () => {
  const boxes = [], shown = e => { const s = getComputedStyle(e); return s.display != "none" && s.visibility != "hidden" };
  const visible = e => { for (; e && e.nodeType == 1; e = e.parentElement) if (!shown(e)) return false; return true };
  const note = (r, text, chart) => { if (r.width > 0.5 && r.height > 0.5)
    boxes.push([r.left, r.top + scrollY, r.right, r.bottom + scrollY, text.trim().slice(0, 60), chart]) };
  let charts = 0;
  for (const svg of document.querySelectorAll("svg")) {
    if (!visible(svg)) continue;
    const frame = svg.getBoundingClientRect();
    boxes.push([frame.left, frame.top + scrollY, frame.right, frame.bottom + scrollY, null, ++charts]);
    for (const text of svg.querySelectorAll("text")) note(text.getBoundingClientRect(), text.textContent, charts);
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("svg, script, style") || !visible(parent)) continue;
    if (parent.closest("details:not([open])") && !parent.closest("summary")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What a table scrolls by itself is not in the window until it is scrolled.
    const box = parent.closest(".table")?.getBoundingClientRect() ?? {left: -1e6, right: 1e6};
    for (const r of range.getClientRects()) {
      const left = Math.max(r.left, box.left), right = Math.min(r.right, box.right);
      note({left, right, width: right - left, top: r.top, bottom: r.bottom, height: r.height}, node.data, 0);
    }
  }
  const result = document.createElement("pre");
  result.id = "measured";
  result.textContent = JSON.stringify({width: innerWidth, scroll: document.documentElement.scrollWidth, boxes});
  document.body.append(result);
});
</script>
"""


def chromium(*arguments, timeout=120):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               f"--user-data-dir={profile}", *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=timeout, check=False)


def measure(page, width, height=1200):
    """Texts of a page (HTML as text) in a window of `width` pixels: {"width", "scroll", "boxes"}."""
    with tempfile.TemporaryDirectory() as folder:
        inner, outer = Path(folder) / "page.html", Path(folder) / "outer.html"
        inner.write_text(page.replace("</body>", MEASURE + "</body>"))
        # A window is never narrower than some hundred pixels; a frame is as narrow as it is told to be.
        outer.write_text(f'<body style="margin:0"><iframe id="f" src="page.html" style="border:0;width:{width}px;'
                         f'height:{height}px"></iframe><script>onload = () => {{ document.body.append(document.'
                         'getElementById("f").contentDocument.getElementById("measured")) }</script></body>')
        done = chromium("--allow-file-access-from-files", f"--window-size={max(width, 600)},{height}", "--dump-dom",
                        "--virtual-time-budget=5000", outer.as_uri())
        found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
        if not found:
            raise RuntimeError(f"the browser measured nothing: {done.stderr[-2000:]}")
        return json.loads(html.unescape(found[1]))


def faults(measured, slack=1.0):
    """What is wrong with it, in sentences: texts on each other, out of their chart, a page that is too wide."""
    found = []
    if measured["scroll"] > measured["width"]:
        found.append(f"the page is {measured['scroll']} pixels wide in a window of {measured['width']}")
    frames = {box[5]: box for box in measured["boxes"] if box[4] is None}
    texts = sorted((box for box in measured["boxes"] if box[4] is not None), key=lambda box: box[1])
    for i, (left, top, right, bottom, text, chart) in enumerate(texts):
        if left < -slack or right > measured["width"] + slack:
            found.append(f"{text!r} is outside of the window: {left:.0f} to {right:.0f}")
        if chart:
            frame = frames[chart]
            if (left < frame[0] - slack or right > frame[2] + slack or top < frame[1] - slack
                    or bottom > frame[3] + slack):
                found.append(f"{text!r} is outside of chart {chart}")
        for other in texts[i + 1:]:
            if other[1] >= bottom - slack:
                break
            if min(right, other[2]) - max(left, other[0]) > slack and min(bottom, other[3]) - other[1] > slack:
                found.append(f"{text!r} and {other[4]!r} stand on each other at {left:.0f}, {top:.0f}")
    return found
