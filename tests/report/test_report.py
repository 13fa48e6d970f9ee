#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML report: what is in the file, and what it does in a browser.

Without a Chromium only the file is looked at, and the exit code is 77.

usage: test_report.py GLEN [--picture FILE.png]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import browser  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
RULE = "</script><script>hacked=1</script>'&amp"
INTENT = '</style></script><img src=x onerror="hacked=1"> \u2028 \' <!--'
LONG = "rules_of_an_author_who_writes_each_name_as_a_single_word.rules"
NAME = "<b>\"bold\" & 'odd' <!--.glen"
PROGRAM = """(tensor A (shape 4 5 6) f32)
(let out (transpose (transpose (access A 1) (list 1 0 2)) (list 0 2 1)))
(output out)
"""
NET = """(tensor x (shape 4 64) f32)
(tensor w (shape 64 64) f32)
(let first (compute dotProd (cartProd (access x 1) (access w 1))))
(let second (compute relu (access first 2)))
(let third (compute dotProd (cartProd (access second 1) (access w 1))))
(output third)
"""
BLUR = """(tensor x (shape 1200 1600) f32)
(let rows (compute reduceMean (windows (access x 0) (shape 3 1) (stride 1 1))))
(let both (compute reduceMean
  (windows (access rows 0) (shape 1 3) (stride 1 1))))
(output both)
"""
RULES = f"""(rule {RULE} :kind cleanup
  "{INTENT.replace('"', chr(92) + '"')}"
  (transpose (transpose ?a ?p) ?q) => (transpose ?a (compose ?p ?q)))
"""

checks = []


def check(holds, what):
    checks.append(bool(holds))
    if not holds:
        print("failed:", what)


def report(glen, program, rules, *more, folder):
    """Makes the report; (path, its text)."""
    path = os.path.join(folder, "report.html")
    done = subprocess.run(
        [glen, "saturate", program, "--rules", rules, "--emit", "html", "-o",
         path, *more], cwd=ROOT, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, f"saturate {program}: {done.stderr}")
    with open(path, encoding="utf-8") as f:
        return path, f.read()


def data_of(text):
    return json.loads(re.search(
        r'<script type="application/json" id="data">\n(.*?)\n</script>', text,
        re.S)[1])


def check_file(text):
    check(text.lower().count("<script") == 2, "two scripts begin")
    check(text.lower().count("</script") == 2, "two scripts end")
    check(not re.search(r'\b(src|href)\s*=\s*["\']?(https?:)?//', text),
          "nothing is loaded")
    check("default-src 'none'" in text, "the policy forbids loading")


def check_hostile_file(text):
    check_file(text)
    data = data_of(text)
    check(data["title"].endswith(NAME), "the title is the file's name")
    check(data["rules"] and data["rules"][0]["name"] == RULE,
          "the rule's name is kept")
    check(data["rules"][0]["intent"] == INTENT, "the intent is kept")


def check_data(text):
    data = data_of(text)
    check(data["summary"]["cost_after"] < data["summary"]["cost_before"],
          "the chosen program is cheaper")
    check(sum(sum(g["made"].values()) for g in data["growth"]) > 0,
          "rules made nodes")
    graph = data["egraph"]
    ids = {c["id"] for c in graph["classes"]}
    check(set(graph["roots"]) <= ids, "the outputs are there")
    chosen = [c for c in graph["classes"] if c.get("chosen")]
    check(all(k in ids for c in chosen for k in c["nodes"][0].get("kids", [])),
          "the chosen program is whole")
    check("loops" in data, "loops are there")
    steps = json.loads(data["explained"])["outputs"][0]["steps"]
    check(steps and all("rule" in s for s in steps), "the chain is there")


# The first card that is not open, and whose middle no button lies over.
UNCOVERED = """[...document.querySelectorAll('.card:not(.open)')].find(c => {
  c.scrollIntoView({block: 'center'});
  const b = c.getBoundingClientRect();
  return c.contains(document.elementFromPoint(b.x + b.width / 2,
                                              b.y + b.height / 2));
}).dataset.class"""


def use_page(path):
    with browser.Page(1280, 900) as page:
        page.open(path)
        check(page.run("document.querySelectorAll('section').length") >= 8,
              "sections are drawn")
        check(page.run("document.documentElement.scrollWidth") <= 1280,
              "nothing is wider than the page")
        cards = page.run("document.querySelectorAll('.card').length")
        check(cards >= 5, "cards are drawn")
        check_size(page, "desk")
        check_title(page, "desk")
        check_chain(page)
        page.run("document.getElementById('search').focus(); 0")
        page.call("Input.insertText", text="windows")
        found = page.run("document.querySelectorAll('.results button').length")
        check(found >= 1, "a search finds classes")
        page.click_on(".results button")
        title = page.run("document.getElementById('panel-title').textContent")
        check(re.match(r"Class \d+: \d+ node", title), "a class opens")
        check("windows" in page.run(
            "document.getElementById('panel').textContent"),
              "the class that was searched for")
        first = page.run(UNCOVERED)
        page.click_on(f".card[data-class='{first}']")
        check(page.run("document.querySelector('.card.open').dataset.class")
              == first, "a card opens its class")
        page.click_on("#panel .kids button")
        check(page.run("document.querySelector('.card.open').dataset.class")
              != first, "a child opens")
        check_moves(page)
        dark = "document.documentElement.classList.contains('dark')"
        before = page.run(dark)
        page.click_on("#theme")
        check(page.run(dark) != before, "light and dark change")
        check(page.errors == [], f"no errors: {page.errors}")
        check([u for u in page.events if not u.startswith("file:")] == [],
              f"no requests: {page.events}")


# The steps of the chain whose terms, with the named parts put back, are not what
# they were; and how many parts have a name.
CHAIN = """(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const steps = JSON.parse(data.explained).outputs.flatMap(o => o.steps);
  const whole = parts => parts.map(p => p.text).join('');
  const wrong = steps.filter(s => {
    const t = sharedParts(s.before, s.after);
    return whole(t.before) !== s.before || whole(t.after) !== s.after;
  });
  return [wrong.length, document.querySelectorAll('.change i').length];
})()"""


# Steps of which nothing or everything is marked: [steps, those without a mark,
# those with a mark on both sides that leaves nothing out].
MARKS = """(() => {
  const steps = [...document.querySelectorAll('.change')];
  const letters = e => e.textContent.replace(/\\s/g, '').length;
  const marked = e => [...e.querySelectorAll('.new')].reduce(
    (n, m) => n + letters(m), 0);
  return [steps.length, steps.filter(s => marked(s) == 0).length,
          steps.filter(s => marked(s) >= letters(s)).length];
})()"""


def check_chain(page):
    wrong, named = page.run(CHAIN)
    check(wrong == 0, f"{wrong} steps whose parts are not put back")
    check(named >= 4, f"{named} parts of steps have a name")
    steps, without, all_of_it = page.run(MARKS)
    check(steps > 0 and without == 0 and all_of_it == 0,
          f"{without} and {all_of_it} of {steps} steps mark nothing, or all")


def check_size(page, where):
    """Letters of a card are large enough to be read, and the root is there."""
    size = page.run("parseFloat(getComputedStyle(document.querySelector("
                    "'#graph text')).fontSize) * /scale\\(([\\d.]+)/.exec("
                    "document.getElementById('scene').getAttribute("
                    "'transform'))[1]")
    check(size >= 10, f"{where}: letters of {size} pixels")
    check(page.run("(() => { const g = document.getElementById('graph')"
                   ".getBoundingClientRect(); return [...document"
                   ".querySelectorAll('.card.chosen')].some(c => { const b = "
                   "c.getBoundingClientRect(); return b.top >= g.top && b.left "
                   ">= g.left && b.right <= g.right; }); })()"),
          f"{where}: a card of the chosen program is whole")


def check_title(page, where):
    """No line of the title ends within a name."""
    check(page.run(
        "(() => { const parts = [...document.getElementById('title')"
        ".childNodes].filter(n => n.nodeType == 3); return parts.every(n => { "
        "const r = document.createRange(); r.selectNodeContents(n); return "
        "r.getClientRects().length == 1; }); })()"),
          f"{where}: the title breaks at slashes")


def check_moves(page):
    where = "document.getElementById('scene').getAttribute('transform')"
    page.run("document.getElementById('graph').scrollIntoView("
             "{block: 'center'}); 0")
    x, y = page.run("(() => { const b = document.getElementById('graph')"
                    ".getBoundingClientRect(); return [b.x + 12, b.y + 12]; "
                    "})()")
    before = page.run(where)
    page.drag(x, y, 80, 40)
    dragged = page.run(where)
    check(before != dragged, "the picture moves")
    page.click_on("[aria-label='Zoom in']")
    check(page.run(where) != dragged, "the picture grows")


# Letters of the charts, in pixels of the page; how far below the upper edge of
# its frame the picture begins; types of cards that are cut off.
LETTERS = """Math.min(...[...document.querySelectorAll('.box svg')].map(e =>
  parseFloat(getComputedStyle(e.querySelector('text')).fontSize) *
  e.getBoundingClientRect().width / e.viewBox.baseVal.width))"""
ABOVE = """Math.min(...[...document.querySelectorAll('.card')].map(e =>
  e.getBoundingClientRect().top)) -
  document.getElementById('frame').getBoundingClientRect().top"""
CUT = """[...document.querySelectorAll('#graph text.small')].filter(e =>
  e.textContent.endsWith('\u2026')).length"""
OUTSIDE = """[...document.querySelectorAll('.code')].filter(e =>
  e.scrollWidth > e.clientWidth).length"""


def check_narrow(page, where):
    check(page.run("document.getElementById('theme').getBoundingClientRect()"
                   ".top < document.getElementById('title')"
                   ".getBoundingClientRect().bottom"),
          f"{where}: the button for light and dark stands beside the title")
    check(page.run(LETTERS) >= 11, f"{where}: letters of charts can be read")
    check(page.run(ABOVE) <= 40, f"{where}: nothing empty above the picture")
    check(page.run(CUT) == 0, f"{where}: no type of a card is cut off")
    check(page.run(OUTSIDE) == 0, f"{where}: no line of a program is cut off")


def use_narrow(path):
    with browser.Page(500, 844) as page:
        page.open(path)
        check(page.run("document.documentElement.scrollWidth") <= 500,
              "it fits 500 pixels")
        check_size(page, "500 pixels")
        check_narrow(page, "500 pixels")


COSTLIEST = "[...document.querySelectorAll('#panel .results button')]"
SHOWN = "document.querySelectorAll('.card').length"


def use_large(path, width):
    """A large e-graph opens on what costs, without the views between."""
    where = f"large, {width} pixels"
    with browser.Page(width, 900) as page:
        page.open(path)
        check_size(page, where)
        check(page.run(CUT) == 0, f"{where}: no type of a card is cut off")
        labels = page.run("[...document.querySelectorAll('.card')].map(e => "
                          "e.querySelector('text').textContent)")
        check(len(labels) >= 20 and not [t for t in labels if t.startswith(
            ("reshape", "transpose", "pair"))], f"{where}: views are folded")
        check(page.run(COSTLIEST + ".length") == 5,
              f"{where}: the costliest terms are listed")
        page.run("document.querySelector('.fold').dispatchEvent(new MouseEvent("
                 "'click', {bubbles: true})); 0")
        check(page.run(SHOWN) > len(labels), f"{where}: views can be opened")
        page.run(COSTLIEST + "[0].click()")
        check(page.run("(() => { const b = document.querySelector('.card.open')"
                       ".getBoundingClientRect(), f = document.getElementById("
                       "'frame').getBoundingClientRect(); return b.top >= f.top"
                       " && b.bottom <= f.bottom && b.left >= f.left; })()"),
              f"{where}: a term of the list is brought into view")
        check(page.errors == [], f"no errors: {page.errors}")


def use_phone(path):
    with browser.Page(390, 844, dark=True) as page:
        page.open(path)
        check_narrow(page, "phone")
        check(page.run("document.documentElement.scrollWidth") <= 390,
              "it fits a phone")
        check_size(page, "phone")
        check_title(page, "phone")
        check(page.run("Math.min(...[...document.querySelectorAll('#rules td')]"
                       ".map(e => e.clientWidth))") >= 280,
              "phone: what a rule says has the width of the page")
        check(page.run("document.documentElement.classList.contains('dark')"),
              "dark by preference")
        check(page.errors == [], f"no errors: {page.errors}")


def use_layers_on_phone(path):
    """Layers are stacked: nothing is cut off, and no name is broken."""
    with browser.Page(360, 844) as page:
        page.open(path)
        check(page.run("document.documentElement.scrollWidth") <= 360,
              "layers fit a phone")
        check(page.run("(e => e.scrollWidth <= e.clientWidth)(document."
                       "getElementById('layer-table').parentElement)"),
              "phone: no column of the layers is cut off")
        check(page.run("Math.min(...[...document.querySelectorAll("
                       "'#layer-table td')].map(e => e.clientWidth))") >= 280,
              "phone: each layer has the width of the page")
        check(page.run("[...document.querySelectorAll('#layer-table .name "
                       "code')].every(e => e.getClientRects().length == 1)"),
              "phone: a layer's name is in one piece")


def use_hostile_on_phone(path):
    with browser.Page(360, 844) as page:
        page.open(path)
        check(page.run("document.documentElement.scrollWidth") <= 360,
              "phone: the long name of a file of rules fits")


def use_hostile(path):
    with browser.Page(1280, 900) as page:
        page.open(path)
        page.run("document.querySelector('.card').dispatchEvent("
                 "new MouseEvent('click', {bubbles: true})); 0")
        page.run("(() => { const e = document.getElementById('search');"
                 "e.value = 'script'; e.dispatchEvent(new Event('input')); "
                 "})()")
        check(page.run("typeof hacked") == "undefined", "no name is run")
        check(page.run("document.querySelectorAll('img, main script, h1 b')"
                       ".length") == 0, "no name is markup")
        check(page.run("document.getElementById('title').textContent")
              .endswith(NAME), "the title reads as it is")
        check(RULE in page.run("document.getElementById('rules').textContent"),
              "the rule's name reads as it is")
        check(page.errors == [], f"no errors: {page.errors}")


def take_picture(path, picture):
    with browser.Page(1280, 900) as page:
        page.open(path)
        page.run("[...document.querySelectorAll('.card')].find(c => "
                 "c.textContent.includes('systolic')).dispatchEvent("
                 "new MouseEvent('click', {bubbles: true})); 0")
        page.run("scrollTo(0, 0)")
        end = page.run("document.getElementById('egraph')"
                       ".getBoundingClientRect().bottom + scrollY + 24")
        page.picture(picture, (0, 0, 1280, end))


def check_layers(text):
    """A row a named part, in order: what it became and what it costs."""
    rows = data_of(text)["layers"]
    check([r["name"] for r in rows] == ["first", "second", "third"],
          f"layers by their names: {rows}")
    check([r["host"] and r["host"][0]["name"] for r in rows] == [
        [], "relu", []], "what stays on the host")
    check(all(r["cost"] > 0 for r in rows), "each layer costs")
    check(all(r["calls"][0]["name"] == "systolicArray"
              for r in (rows[0], rows[2])), "products are calls")


def loops_of(text):
    return [line for line in text.split("\n") if line and line[0] != "#"]


def check_loops(glen, folder):
    """The loops of the page are those that are compiled."""
    with open(os.path.join(folder, "blur.glen"), "w", encoding="utf-8") as f:
        f.write(BLUR)
    target = os.path.join(ROOT, "targets/cpu.target")
    _, text = report(glen, os.path.join(folder, "blur.glen"), "none",
                     "--target", target, folder=folder)
    done = subprocess.run(
        [glen, "compile", os.path.join(folder, "blur.glen"), "--rules", "none",
         "--target", target, "--emit", "loops"], cwd=ROOT, capture_output=True,
        text=True, timeout=300)
    wanted = loops_of(done.stdout)
    check(any("min(" in line for line in wanted), "the loops are in tiles")
    check(loops_of(data_of(text)["loops"]) == wanted,
          "the loops of the page are those that are compiled")


def use_layers(path):
    with browser.Page(1280, 900) as page:
        page.open(path)
        check(page.run("document.querySelector('main section').id") ==
              "layers", "a net's report opens on its layers")
        check(page.run("document.querySelectorAll('#layer-table tr').length")
              == 4, "a row a layer below the head")


def main():
    glen = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path, text = report(glen, "examples/conv.glen", "rules", "--target",
                            "targets/systolic.target", folder=folder)
        check_file(text)
        check_data(text)
        odd = os.path.join(folder, "odd")
        os.mkdir(odd)
        for name, content in ((NAME, PROGRAM), (LONG, RULES)):
            with open(os.path.join(odd, name), "w", encoding="utf-8") as f:
                f.write(content)
        net = os.path.join(odd, "net.glen")
        with open(net, "w", encoding="utf-8") as f:
            f.write(NET)
        layered, text = report(glen, net, "rules", "--target",
                               "targets/systolic.target", folder=folder)
        check_layers(text)
        check_loops(glen, odd)
        layers_page = os.path.join(odd, "layers.html")
        os.rename(layered, layers_page)
        path, _ = report(glen, "examples/conv.glen", "rules", "--target",
                         "targets/systolic.target", folder=folder)
        large = os.path.join(odd, "large.html")
        os.rename(path, large + ".part")
        path, _ = report(glen, "examples/transformer-block.glen", "rules",
                         "--target", "targets/systolic16.target", folder=folder)
        os.rename(path, large)
        os.rename(large + ".part", path)
        hostile, text = report(glen, os.path.join(odd, NAME),
                               os.path.join(odd, LONG), folder=odd)
        check_hostile_file(text)
        if browser.find():
            use_layers(layers_page)
            use_page(path)
            use_phone(path)
            use_narrow(path)
            use_large(large, 1280)
            use_large(large, 390)
            use_layers_on_phone(layers_page)
            use_hostile(hostile)
            use_hostile_on_phone(hostile)
            if "--picture" in sys.argv:
                take_picture(path, sys.argv[sys.argv.index("--picture") + 1])
    print(f"{sum(checks)} passed, {len(checks) - sum(checks)} failed")
    if not all(checks):
        sys.exit(1)
    if not browser.find():
        print("skipped chromium: it is not here, so no page was opened")
        sys.exit(77)


if __name__ == "__main__":
    main()
