"""Pages that need a browser are told from short honest ones."""

from __future__ import annotations

import pytest

from sift.render.html import convert

SHELLS = {
    "next": '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{}}'
    '</script><script src="/_next/m.js"></script>',
    "nuxt": '<div id="__nuxt"><div class="loader">Loading...</div></div><script>window.__NUXT__={}</script>',
    "angular": "<app-root></app-root><script src='runtime.js' type='module'></script>",
    "sveltekit": "<script>__sveltekit_1={}</script>",
    "react": '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root">'
    '</div><script src="/m.js"></script>',
    "vue": "<noscript><strong>We're sorry but shop doesn't work properly without JavaScript "
    "enabled.</strong></noscript>"
    '<div id="app"></div><script src="/a.js"></script>',
    "nothing": "<script src='/bundle.js'></script>",
}
WALLS = {
    "challenge": "<title>Just a moment...</title><h1>site.example</h1><p>Checking your browser before "
    "accessing.</p><script>a()</script>",
    "captcha": "<title>Security</title><p>Please complete the security check: are you a robot?</p>"
    "<iframe src='https://captcha.example/widget'></iframe><script src='/c.js'></script>",
    "denied": "<title>Access denied</title><p>Unusual activity from your network.</p><script>x()</script>",
    "consent": "<title>Before you continue</title><p>We use cookies and data to deliver our services.</p>"
    "<form><button>Reject all</button><button>Accept all</button></form><script>x()</script>",
    "consent box": "<title>News</title><h1>News</h1><div id='consent-wall'><h2>We value your privacy</h2><p>"
    + "We and our partners store cookies on your device. " * 8
    + "</p><button>Accept all</button></div><script>x()</script>",
    "consent without its title": "<title>The Portal is part of a family of brands</title><p>If you accept, we and our "
    "partners "
    "store cookies and use personal data for adverts and measuring. See our privacy policy and cookie policy.</p>"
    "<button>Accept all</button><button>Reject all</button>",
    "login among links": "<title>Log in to Faces</title><form><input type=password></form>"
    + "<a href='/l'>A language</a> " * 70,
    "login": "<title>Sign in</title><form><label>Email <input></label><label>Password <input type=password></label>"
    "<button>Log in</button></form>",
}
HONEST = {
    "short": "<title>It works</title><h1>It works!</h1><p>This is the default page.</p>",
    "short with a script": "<title>Notice</title><h1>Closed</h1><p>We are closed today, come back on Monday.</p>"
    "<script async src='https://stats.example/s.js'></script>",
    "rendered on the server": '<div id="root"><h1>Hello</h1><p>This text was made by the server, and all of it is here '
    "to be "
    'read.</p></div><script src="/m.js"></script>',
    "about captchas": "<title>What is a captcha?</title>"
    + "<p>A captcha is a test that tells people from programs.</p>" * 30
    + "<script>x()</script>",
    "about logging in": "<title>How to log in</title><p>Open the page, type your password, and log in.</p>",
    "a cookie banner": "<title>Bread</title><div class='cookie-banner'>We use cookies. Accept</div>"
    + "<p>How to bake a loaf of bread at home, in many steps.</p>" * 20
    + "<script>x()</script>",
    "empty": "",
}


def needs_browser(body: str, attributes: str = "") -> bool:
    page = f"<!doctype html><html><head></head><body {attributes}>{body}</body></html>"
    return convert(page, url="https://site.example/", mode="clean").needs_browser


@pytest.mark.parametrize("name", SHELLS)
def test_an_empty_mount_point_needs_a_browser(name: str) -> None:
    assert needs_browser(SHELLS[name], 'data-sveltekit-preload-data="hover"' if name == "sveltekit" else "")


@pytest.mark.parametrize("name", WALLS)
def test_a_wall_needs_a_browser(name: str) -> None:
    assert needs_browser(WALLS[name])


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_page_does_not(name: str) -> None:
    assert not needs_browser(HONEST[name])


def test_what_there_is_is_still_given() -> None:
    page = '<div id="app"><p>Loading the shop…</p></div><script src="/m.js"></script>'
    assert convert(page, url="https://site.example/", mode="clean").text == "Loading the shop…"
