"""A real Chromium without a screen, driven over WebDriver's HTTP interface (W3C WebDriver), without a library."""

from __future__ import annotations

import base64
import http.client
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)
TAB = "\ue004"
ENTER = "\ue007"


class Browser:
    """One session of one tab. Processes: chromedriver and its Chromium; both end with `close`."""

    def __init__(self, profile: Path, *, width: int = 1200, height: int = 800, dark: bool = False) -> None:
        assert CHROMIUM is not None
        assert DRIVER is not None
        self._driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._port = self._driver_port()
        flags = [*_FLAGS, f"--user-data-dir={profile}"]
        flags += ["--blink-settings=preferredColorScheme=0"] if dark else []
        options = {"binary": CHROMIUM, "args": flags}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self._session = ""
        self._session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        # A window is never narrower than 500 pixels; the page's view of it can be.
        view = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": view})

    def go(self, url: str) -> None:
        """Opens an address and waits until it is loaded."""
        self._call("POST", "/url", {"url": url})

    def reload(self) -> None:
        self._call("POST", "/refresh", {})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script's `return` gives."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector: str) -> None:
        self._call("POST", f"/element/{self._find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        self._call("POST", f"/element/{self._find(selector)}/value", {"text": text})

    def press(self, *keys: str) -> None:
        """Keys for whatever has the focus."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def text(self, selector: str) -> str:
        """The text that is to be seen there; "" where nothing is."""
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def await_true(self, expression: str, *arguments: Any, timeout_s: float = 15) -> None:
        """Waits until a JavaScript expression holds."""
        ends = time.monotonic() + timeout_s
        while not self.run(f"return Boolean({expression})", *arguments):
            assert time.monotonic() < ends, f"{expression} {arguments}: {self.text('body')}"
            time.sleep(0.02)  # between two looks at another process, which has no way to tell us

    def console(self) -> list[str]:
        """What the browser has complained of since the last look: script errors, violations of the policy."""
        found = self._call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in found]

    def picture(self) -> bytes:
        """What the window shows, as a PNG."""
        return base64.b64decode(self._call("GET", "/screenshot"))

    def close(self) -> None:
        try:
            self._call("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(10)
            assert self._driver.stdout is not None
            self._driver.stdout.close()

    def _find(self, selector: str) -> str:
        found = self._call("POST", "/element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])

    def _driver_port(self) -> int:
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                return int(found[1])
        raise AssertionError("chromedriver ended before it listened")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        prefix = f"/session/{self._session}" if self._session else ""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, prefix + path, sent, {"Content-Type": "application/json"})
            said = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(said, dict) and "error" in said and "stacktrace" in said:
            raise AssertionError(f"{path}: {said['error']}: {said['message']}")
        return said
