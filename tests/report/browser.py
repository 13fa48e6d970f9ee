# SPDX-License-Identifier: MIT
"""A headless Chromium, driven over a pipe by the DevTools protocol.

Only what the tests of the report need: open a page, run script in it, click,
look at its picture, collect errors of its console.
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome",
         "google-chrome-stable", "chrome")


def find():
    """The browser's path, or None."""
    chosen = os.environ.get("CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    def __init__(self, width, height, dark=False):
        self.profile = tempfile.mkdtemp(prefix="glen-browser-")
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()

        def connect():
            os.dup2(to_read, 13)
            os.dup2(from_write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-extensions", "--disable-background-networking",
             "--user-data-dir=" + self.profile, "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.errors = []
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.source, 1 << 20)
            if not more:
                raise RuntimeError("the browser is gone")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.take_event(answer)

    def take_event(self, event):
        name, params = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:2000])
        elif name == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif (name == "Runtime.consoleAPICalled" and
              params["type"] in ("error", "assert")):
            self.errors.append(json.dumps(params["args"])[:2000])
        elif name == "Network.requestWillBeSent":
            self.events.append(params["request"]["url"])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        for _ in range(200):
            if self.run("document.readyState") == "complete":
                return
            time.sleep(0.05)
        raise RuntimeError("the page does not load")

    def run(self, script):
        """The value of an expression."""
        result = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="left", clickCount=1)

    def click_on(self, selector):
        box = self.run(
            f"(() => {{ const e = document.querySelector({selector!r});"
            "e.scrollIntoView({block: 'center'});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.click(*box)

    def drag(self, x, y, dx, dy):
        move = dict(type="mouseMoved", button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y,
                  button="left", clickCount=1)
        for k in (0.3, 0.6, 1):
            self.call("Input.dispatchMouseEvent", x=x + k * dx, y=y + k * dy,
                      **move)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx,
                  y=y + dy, button="left", clickCount=1)

    def picture(self, path, clip=None):
        params = {"format": "png"}
        if clip:
            params["clip"] = dict(zip(("x", "y", "width", "height"), clip),
                                  scale=1)
            params["captureBeyondViewport"] = True
        data = self.call("Page.captureScreenshot", **params)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
