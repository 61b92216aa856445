"""Whether a page needs a browser: an empty mount point, a challenge, a consent or a login wall.

What the caller is told then is not known here.
"""

from __future__ import annotations

import re

from sift.render.html.tree import Node, Tree, text_of, walk

_EMPTY = 60  # characters: no more than a heading or "Loading…"
_LITTLE = 250  # characters beside a mount point
_THIN = 700  # characters: a challenge or a login page says no more
_CONSENT_THIN = 3000  # characters: a consent wall lists its purposes
_MOUNTS = re.compile(
    r" (?:__next|__nuxt|nuxt|__layout|___gatsby|root|app|app-root|react-root|reactroot|main-app|application|"
    r"svelte|q-app|"
    r"ember\d*|ember-app|vue-app|spa|mount|mount-point|react-app|app-container|app-mount|__docusaurus|"
    r"gatsby-focus-wrapper) "
)
_MOUNT_TAGS = frozenset(["app-root", "ng-app", "ng-component", "app", "my-app", "flt-glass-pane", "ion-app"])
_ASKS_SCRIPT = re.compile(
    r"(?:enable|need|require|turn on|activ|without|disabled|habilit|aktivier|включ)\w*[^.]{0,60}java-?script|"
    r"java-?script[^.]{0,60}(?:enable|require|need|disabled|activ|aktivier|habilit|включ)",
    re.I,
)
_CHALLENGE = re.compile(
    r"just a moment|attention required|checking (?:your browser|if the site connection is secure)|"
    r"verify(?:ing)? (?:that )?you(?:'re|’re| are)?(?: not)? (?:a )?(?:human|robot)|"
    r"are you (?:a )?(?:human|robot)|i(?:'|’)m not a robot|human verification|security (?:check|verification)|"
    r"ddos protection|pardon our interruption|"
    r"access (?:to this page has been )?denied|unusual (?:traffic|activity)|please enable cookies|"
    r"complete the (?:captcha|security check)|captcha|"
    r"bot (?:detection|protection)|request unsuccessful|press (?:&|and) hold",
    re.I,
)
_CHALLENGE_SOURCES = re.compile(
    r"challenges\.cloudflare\.com|cdn-cgi/challenge|captcha|_incapsula_|datadome|perimeterx|px-cloud|px-captcha|"
    r"arkoselabs|funcaptcha|awswaf|kasada|akam/|distil_",
    re.I,
)
_CONSENT = re.compile(
    r"before you continue|consent|accept (?:all|cookies)|we (?:value|care about) your privacy|manage (?:cookies|"
    r"preferences|privacy)|"
    r"cookies?\b.{0,80}\b(?:accept|agree|reject)|alle akzeptieren|zustimm|tout accepter|aceptar (?:todo|cookies)|"
    r"accetta",
    re.I | re.S,
)
_CONSENT_TITLE = re.compile(
    r"before you continue|consent|privacy (?:choices|settings|notice|preferences)|cookie|datenschutz|zustimmung|"
    r"confidentialité",
    re.I,
)
_AGREE = re.compile(
    r"^\W*(?:i )?(?:accept|agree|allow|reject|akzeptieren|zustimmen|accepter|tout accepter|aceptar|accetta)",
    re.I,
)
_PRIVACY = re.compile(
    r"cookie|privacy|consent|partner|personal|advert|tracking|datenschutz|einwillig|confidentialit|privacidad",
    re.I,
)
_CONSENT_BOX = re.compile(
    r"(?:^|[\s_-])(?:consent|gdpr|cookie\w*|onetrust|didomi|qc-cmp2?|sp_message|cmp|truste|privacy-?wall)(?:$|[\s_-])"
)
_LOGIN = re.compile(
    r"\b(?:log ?in|sign ?in|log on|anmelden|einloggen|connexion|se connecter|iniciar sesi[oó]n|accedi|entrar|"
    r"войти|вход|登录|ログイン|로그인)\b",
    re.I,
)


def needs_browser(tree: Tree) -> bool:
    """Whether a browser would show more than is here. The tree has been weighed, with nothing dropped."""
    root = tree.root
    size = root.size
    if size > _CONSENT_THIN:
        return False
    text = text_of(root, _CONSENT_THIN)
    return _is_shell(tree, text) or _is_challenge(tree, text) or _is_login(tree, text) or _is_consent(tree, text)


def _is_shell(tree: Tree, text: str) -> bool:
    """Scripts, and nearly no text: what there was to see is yet to be made."""
    size = len(text)
    if not tree.scripts or size > _LITTLE:
        return False
    asks = bool(_ASKS_SCRIPT.search(tree.noscript) or _ASKS_SCRIPT.search(text))
    if asks or not size:
        return True
    return any(_is_mount(node) and node.size <= _EMPTY for node in walk(tree.root)) or _is_kit(tree, size)


def _is_mount(node: Node) -> bool:
    if node.tag in _MOUNT_TAGS or any(
        name.startswith(("ng-version", "data-reactroot", "data-server-rendered")) for name in node.attrs
    ):
        return True
    identity = node.attrs.get("id", "").lower()
    return bool(identity) and bool(_MOUNTS.search(f" {identity} "))


def _is_kit(tree: Tree, size: int) -> bool:
    """SvelteKit mounts in the body itself."""
    attrs = tree.root.attrs
    return size <= _EMPTY and (any(name.startswith("data-sveltekit") for name in attrs) or "ng-app" in attrs)


def _is_challenge(tree: Tree, text: str) -> bool:
    if len(text) > _THIN:
        return False
    has_source = bool(_CHALLENGE_SOURCES.search(" ".join([*tree.sources, *tree.frames])))
    says_so = bool(_CHALLENGE.search(tree.title) or _CHALLENGE.search(text))
    return says_so and (has_source or bool(tree.scripts) or bool(_CHALLENGE.search(tree.title)))


def _is_login(tree: Tree, text: str) -> bool:
    if not tree.passwords:
        return False
    most = _THIN * 3 if _LOGIN.search(tree.title) else _THIN
    return len(text) <= most and bool(_LOGIN.search(f"{tree.title} {text}"))


def _is_consent(tree: Tree, text: str) -> bool:
    size = tree.root.size
    if not _CONSENT.search(text):
        return False
    if _CONSENT_TITLE.search(tree.title) and (tree.scripts or size <= _THIN * 2):
        return True
    if _asks_consent(tree.root, text):
        return True
    boxes = [node for node in walk(tree.root) if _CONSENT_BOX.search(node.names())]
    biggest = max((node.size for node in boxes), default=0)
    return biggest >= 0.7 * size and size - biggest <= _LITTLE


def _asks_consent(root: Node, text: str) -> bool:
    """A page that has a button to agree, and speaks of little but privacy."""
    buttons = [node for node in walk(root) if node.tag == "button" or " button " in node.names()]
    if not any(_AGREE.search(text_of(button, 60)) for button in buttons):
        return False
    return len(_PRIVACY.findall(text)) * 100 >= len(text)
