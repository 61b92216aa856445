"""The page at `/`: what is served, and what a real Chromium makes of it."""

import os
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from sift.api.page import FILES, POLICY
from sift.fetch.wire import dial
from tests.support import browser as browsers
from tests.support.browser import ENTER, TAB, Browser
from tests.support.held import Held
from tests.support.service import TOKENS, Service, config_of
from tests.support.site import Site, html

TIDES = (
    "The moon pulls the sea, and the sea follows it around the globe, twice a day. Spring tides come at new moon "
    "and at full moon, when sun and moon pull along one line; neap tides come at the quarters between them. "
)
TABLES = (
    "<!doctype html><title>Tide tables for the north shore</title><main><h1>Tide tables for the north shore</h1>"
    f"<p>{TIDES}</p><h2>This week</h2><table><tr><th>Day<th>High water<th>Low water</tr>"
    "<tr><td>Monday<td>04:12<td>10:31</tr><tr><td>Tuesday<td>05:01<td>11:19</tr></table>"
    "<h2>Before you set out</h2><ul><li>Ask the harbour master.</li><li>Add an hour in summer.</li></ul></main>"
)
EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
MOST_PICTURE_BYTES = 150_000
needs_browser = pytest.mark.skipif(
    not (browsers.CHROMIUM and browsers.DRIVER), reason="Debian's chromium and chromium-driver are not installed"
)


@pytest.fixture
def service(tmp_path: Path, site: Site) -> Iterator[Service]:
    """A service for which every name is the site on loopback, so that the page shows addresses as people know them."""
    site.pages["/tides"] = html("Why the tide comes twice a day", TIDES * 3)
    site.pages["/evil"] = (200, {"Content-Type": "text/plain; charset=utf-8"}, EVIL.encode() * 20)
    found = Service(
        config_of(tmp_path, {"workers": {"count": 1}}),
        resolve=lambda host, port: ["93.184.216.34"],
        dial=lambda address, port, timeout_s: dial("127.0.0.1", site.port, timeout_s),
    )
    yield found
    found.close(0.5)


@pytest.fixture
def make_browser(tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    made: list[Browser] = []

    def make(**options: int | bool) -> Browser:
        made.append(Browser(tmp_path / f"profile-{len(made)}", **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for browser in made:
        browser.close()


@pytest.fixture
def browser(make_browser: Callable[..., Browser]) -> Browser:
    return make_browser()


def address(service: Service) -> str:
    host, port = service.server.address
    return f"http://{host}:{port}/"


def go_in(browser: Browser, service: Service, token: str = TOKENS["alice"]) -> None:
    browser.go(address(service))
    browser.type("#token", token + ENTER)
    browser.await_true("!document.querySelector('#desk').hidden")


def text_of_file(name: str) -> str:
    return files("sift.api.page").joinpath(name).read_text()


@pytest.mark.parametrize("path", FILES)
def test_it_is_served_without_a_token_and_under_a_strict_policy(service: Service, path: str) -> None:
    reply = service.ask("GET", path, caller=None)

    assert reply.status == 200
    assert reply.headers["content-type"] == FILES[path][1]
    assert reply.headers["content-security-policy"] == POLICY
    assert reply.headers["x-content-type-options"] == "nosniff"
    again = service.ask("GET", path, caller=None, headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_the_policy_lets_in_nothing_but_what_the_page_brings() -> None:
    assert POLICY.startswith("default-src 'none'; ")
    assert "frame-ancestors 'none'" in POLICY
    assert not re.search(r"unsafe|http|data:|\*", POLICY)


def test_the_page_has_no_inline_script_or_style_and_loads_nothing_from_elsewhere() -> None:
    page = text_of_file("page.html")

    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)
    assert set(re.findall(r'(?:src|href)="([^"]+)"', page)) <= {*FILES, "#main"}
    assert not re.search(r"url\(|@import", text_of_file("page.css"))


def test_the_script_makes_no_markup_of_text() -> None:
    script = text_of_file("page.js")

    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|eval\(|Function\(", script)
    assert not re.search(r"localStorage|document\.cookie|indexedDB", script)


@pytest.mark.parametrize("palette", [0, 1])
def test_text_stands_out_from_its_ground_in_both_palettes(palette: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", text_of_file("page.css"), re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): #([0-9a-f]{3,6});", blocks[palette]))

    for ink, ground in [
        *[(ink, ground) for ink in ("ink", "soft", "accent", "bad", "wait") for ground in ("paper", "card")],
        ("on-accent", "accent"),
        ("bad", "bad-wash"),
        ("ink", "wash"),
    ]:
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)  # WCAG 2.2, 1.4.3


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours in hex."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour if len(colour) == 6 else "".join(digit * 2 for digit in colour)
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@needs_browser
def test_a_token_opens_it_and_stays_in_the_tab(browser: Browser, service: Service) -> None:
    go_in(browser, service)

    assert browser.run("return Object.values(sessionStorage)") == [TOKENS["alice"]]
    assert browser.run("return [localStorage.length, document.cookie]") == [0, ""]
    assert TOKENS["alice"] not in browser.run("return location.href + document.documentElement.outerHTML")
    browser.reload()
    browser.await_true("!document.querySelector('#desk').hidden")
    browser.click("#forget")
    browser.await_true("!document.querySelector('#door').hidden")
    assert browser.run("return sessionStorage.length") == 0
    assert browser.console() == []


@needs_browser
def test_an_unknown_token_is_said_and_forgotten(browser: Browser, service: Service) -> None:
    browser.go(address(service))
    browser.type("#token", "wrong" + ENTER)
    browser.await_true("document.querySelector('#token-error').textContent")

    assert "unknown token" in browser.text("#token-error")
    assert browser.run("return sessionStorage.length") == 0
    assert browser.run("return document.querySelector('#desk').hidden")


@needs_browser
def test_a_job_is_seen_going_on_without_a_reload(browser: Browser, service: Service, site: Site) -> None:
    held = Held()
    site.pages["/held"] = held
    job = service.submit("http://a.example.org/tides", "http://a.example.org/held", "http://10.0.0.1/").json["job_id"]
    go_in(browser, service)
    browser.click("#jobs a")

    browser.await_true("document.querySelectorAll('.target[data-state=running]').length == 1")
    assert browser.run("return [...document.querySelectorAll('#sieve li')].map(hole => hole.dataset.state)") == [
        "done",
        "running",
        "pending",
    ]
    held.let_go()
    browser.await_true("document.querySelector('#job-title').textContent == 'Done in part'")
    browser.await_true("document.querySelector('#jobs .state').textContent == 'partial'")

    assert browser.text("#job-said").startswith("3 of 3 finished · 1 failed")
    assert "blocked" in browser.text(".target:nth-child(3) summary")
    assert job[:8] in browser.text("#jobs")
    assert service.wait(job)["status"] == "partial"


@needs_browser
def test_what_was_fetched_is_shown_as_text_and_never_as_markup(browser: Browser, service: Service, site: Site) -> None:
    title = "&lt;img src=x onerror=&quot;document.title=3&quot;&gt;"
    site.pages["/titled"] = html(title, "It has markup for a title. " * 20)
    service.wait(service.submit("http://a.example.org/evil", "http://a.example.org/titled").json["job_id"])
    go_in(browser, service)
    browser.click("#jobs a")
    for number in (1, 2):
        browser.await_true("document.querySelectorAll('.target').length == 2")
        browser.click(f".target:nth-child({number}) summary")
        browser.await_true(f"document.querySelector('.target:nth-child({number}) .content').textContent")

    assert browser.text(".target:nth-child(1) .content").startswith(EVIL)
    assert browser.text(".target:nth-child(2) h3").startswith("<img src=x")
    assert browser.run("return document.querySelectorAll('#job img, #job script, #job a').length") == 0
    assert browser.run("return document.title") == "Sift"
    assert browser.console() == []


@needs_browser
def test_a_batch_is_submitted_and_its_errors_are_told_by_line(browser: Browser, service: Service) -> None:
    go_in(browser, service)
    browser.type("#urls", "http://a.example.org/tides\n\nftp://a.example.org/\nhttp://a.example.org:22/")
    browser.click("#submit button")
    browser.await_true("document.querySelectorAll('#submit-errors li').length == 2")
    told = browser.text("#submit-errors").split("\n")
    browser.run("document.querySelector('#urls').value = 'http://a.example.org/tides'")
    browser.type("#question", "When do spring tides come?")
    browser.click("#submit button")
    browser.await_true("document.querySelector('#job-title').textContent == 'Done'")
    browser.click(".target summary")
    browser.await_true("document.querySelector('.content').textContent")

    assert [line.partition(":")[0] for line in told] == ["line 2", "line 3"]
    assert "new moon" in browser.text(".content")


@needs_browser
def test_a_job_is_cancelled(browser: Browser, service: Service, site: Site) -> None:
    held = Held()
    site.pages["/held"] = held
    job = service.submit("http://a.example.org/held", "http://a.example.org/tides").json["job_id"]
    go_in(browser, service)
    browser.click("#jobs a")
    browser.await_true("document.querySelectorAll('.target[data-state=running]').length == 1")
    browser.click("#cancel")
    browser.await_true("document.querySelector('#job-title').textContent == 'Cancelled'")
    held.let_go()
    browser.await_true("document.querySelectorAll('.target[data-state=done]').length == 1")

    assert service.ask("GET", f"/v1/batch/{job}").json["status"] == "cancelled"


@needs_browser
def test_it_is_used_with_the_keyboard_alone(browser: Browser, service: Service) -> None:
    service.wait(service.submit("http://a.example.org/tides").json["job_id"])
    browser.go(address(service))
    browser.press(*TOKENS["alice"], ENTER)
    browser.await_true("document.querySelector('#jobs a')")
    browser.run("document.activeElement.blur()")
    tab_to(browser, "#jobs a")
    browser.press(ENTER)
    browser.await_true("document.querySelector('.target')")
    tab_to(browser, ".target summary")
    browser.press(ENTER)

    browser.await_true("document.querySelector('.content').textContent.includes('moon')")
    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def tab_to(browser: Browser, selector: str) -> None:
    for _ in range(20):
        browser.press(TAB)
        if browser.run("return document.activeElement.matches(arguments[0])", selector):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


@needs_browser
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_runs_out_of_a_narrow_window(
    make_browser: Callable[..., Browser], service: Service, width: int
) -> None:
    browser = make_browser(width=width, height=800)
    url = "http://a.example.org/" + "long-" * 60
    service.wait(service.submit(url, "http://a.example.org/tides").json["job_id"])
    go_in(browser, service)
    browser.click("#jobs a")
    browser.await_true("document.querySelectorAll('.target').length == 2")
    browser.click(".target summary")

    assert browser.run("return document.documentElement.scrollWidth - innerWidth") <= 0


@needs_browser
def test_every_field_has_a_name_for_those_who_do_not_see_it(browser: Browser, service: Service) -> None:
    go_in(browser, service)

    unnamed = "[...document.querySelectorAll('input, select, textarea')].filter(field => !field.labels.length)"
    assert browser.run(f"return {unnamed}.length") == 0


@needs_browser
def test_a_picture_of_it_is_small_enough_for_a_readme(
    make_browser: Callable[..., Browser], service: Service, site: Site
) -> None:
    """With $SIFT_TEST_PICTURE it is kept there."""
    browser = make_browser(width=1280, height=860)
    held = Held()
    site.pages |= dict.fromkeys(("/almanac/2027", "/quarters", "/harbour/depths"), site.pages["/tides"])
    site.pages["/tables"] = (200, {"Content-Type": "text/html; charset=utf-8"}, TABLES.encode())
    site.pages["/moon/phases"] = held
    service.wait(service.submit("http://almanac.example.org/almanac/2027").json["job_id"])
    service.submit(
        "http://almanac.example.org/tables",
        "http://almanac.example.org/almanac/2027",
        "http://shore.example.com/quarters",
        "http://shore.example.com/old-tables",
        "http://192.168.1.1/status",
        "http://shore.example.com/harbour/depths",
        "http://sky.example.net/moon/phases",
        *[f"http://sky.example.net/moon/{number}" for number in range(1, 6)],
    )
    go_in(browser, service)
    browser.click("#jobs a")
    browser.await_true("document.querySelectorAll('.target[data-state=running]').length == 1")
    browser.click(".target:nth-child(1) summary")
    browser.await_true("document.querySelector('.content').textContent")
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    picture = browser.picture()
    held.let_go()

    assert picture.startswith(b"\x89PNG")
    assert len(picture) < MOST_PICTURE_BYTES
    if where := os.environ.get("SIFT_TEST_PICTURE"):
        Path(where).write_bytes(picture)
