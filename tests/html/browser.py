"""Headless Chromium over its debugging pipe: JSON messages that end in NUL, on descriptors 3 and 4.

Standard library only. Every request a page makes and everything it logs is kept.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Path of a browser, or None."""
    given = os.environ.get("SNAPDIFF_CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


def command_line(doc):
    """The arguments of a test of pages without --keep, and the browser's path; without a browser the test is skipped."""
    arguments = [a for a in sys.argv[1:] if a != "--keep"]
    if len(arguments) < 2:
        sys.exit(doc)
    path = find()
    if path is None:
        print("skipped: no Chromium is installed")
        sys.exit(77)
    return arguments, path


class Browser:
    def __init__(self, path):
        self.profile = tempfile.mkdtemp(prefix="page-test-")
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                 "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "--window-size=1280,900", "about:blank"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', path, *flags],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.messages, self.last = b"", [], 0

    def close(self):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, parameters=None, session=None):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        return self.last

    def receive(self, timeout):
        """The next message, or None."""
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read], [], [], left)[0]:
                return None
            chunk = os.read(self.read, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser is gone")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, session=None, timeout=60):
        number = self.send(method, parameters, session)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            message = self.receive(end - time.monotonic())
            if message is None:
                break
            if message.get("id") != number:
                self.messages.append(message)
            elif "error" in message:
                raise RuntimeError(f"{method}: {message['error']}")
            else:
                return message["result"]
        raise RuntimeError(f"{method}: no answer within {timeout} s")

    def page(self):
        return Page(self)


class Page:
    """One tab. `requests`: addresses asked for; `errors`: what was logged or thrown."""

    def __init__(self, browser):
        self.browser, self.requests, self.errors = browser, [], []
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def call(self, method, parameters=None, timeout=60):
        result = self.browser.call(method, parameters, self.session, timeout)
        self.take_events()
        return result

    def take_events(self):
        for message in self.browser.messages:
            if message.get("sessionId") != self.session:
                continue
            method, parameters = message.get("method"), message.get("params", {})
            if method == "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            elif method == "Network.webSocketCreated":
                self.requests.append(parameters["url"])
            elif method == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(parameters["exceptionDetails"])[:2000])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                self.errors.append(" ".join(str(a.get("description", a.get("value"))) for a in parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                self.errors.append(json.dumps(parameters["entry"])[:2000])
        self.browser.messages.clear()

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]})

    def open(self, url, ready="document.documentElement?.dataset.ready", timeout=60):
        self.call("Page.navigate", {"url": "about:blank"})
        self.call("Page.navigate", {"url": url})
        if self.wait(ready, timeout) == "failed":
            self.js("1")
            raise RuntimeError("\n".join(self.errors))

    def js(self, expression, timeout=60):
        """The value of an expression; what it throws is raised."""
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True,
                                                "userGesture": True}, timeout)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {json.dumps(result['exceptionDetails'])[:1500]}")
        return result["result"].get("value")

    def wait(self, expression, timeout=20):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            value = self.js(expression)
            if value:
                return value
            time.sleep(0.02)
        raise RuntimeError(f"never true: {expression}")

    def key(self, key, text=None, code=None, shift=False):
        """A key as a keyboard sends it: what the browser itself does at it (Tab, Enter on a link) happens too."""
        event = {"key": key, "code": code or key, "windowsVirtualKeyCode": KEYS.get(key, 0), "modifiers": 8 if shift else 0}
        text = text or {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", dict(event, type="keyDown", **({"text": text} if text else {})))
        self.call("Input.dispatchKeyEvent", dict(event, type="keyUp"))

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def click(self, selector):
        """A real click in the middle of an element, scrolled into sight."""
        box = self.js(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{ block: "center" }}); const b = e.getBoundingClientRect();
            return [b.left + b.width / 2, b.top + b.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": box[0], "y": box[1], "button": "left", "clickCount": 1})

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole, **self.clip(whole)})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def clip(self, whole):
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}}

    def pdf(self, path):
        data = self.call("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": False, "paperWidth": 8.27,
                                             "paperHeight": 11.69})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))
