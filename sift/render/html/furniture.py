"""What stands around the content: menus, shares, comments, sign-ups, known by element, role and class.

Where the content is, is decided elsewhere; whether a match goes is a question of how much it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from sift.render.html.tree import Node, text_of, words

HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_ALWAYS = frozenset(["nav", "menu"])
_ROLES = words("navigation banner contentinfo search menu menubar toolbar dialog alertdialog complementary tablist")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PERMALINK = re.compile(
    r" (?:headerlink|permalink|anchorjs-link|header-anchor|heading-anchor|anchor-link|hash-link|heading-link|"
    r"doc-anchor|"
    r"mw-editsection|mark|anchor|paralink|sl-anchor-link|direct-link|self-link|selflink) "
)
_SIGNS = frozenset(["", "¶", "#", "§", "🔗", "★", "◆", "link", "permalink", "[link]", "⚓", "∞", "​"])

# Words of a class, an id or a role, whole or with a prefix or suffix set off by - or _.
_WORD = r"(?:^|[\s_-])(?:{})(?:$|[\s_-])"
_DOCS = re.compile(
    _WORD.format(
        "sphinxsidebar\\w*|side-?bar|sidenav|side-nav|side-?menu|related|toc|tocs|table-of-contents|toc-container|"
        "mw-editsection|mw-jump-link|jump-to-nav|navbox|noprint|printfooter|catlinks|bread-?crumbs?|"
        "nav-?header|nav-?footer|top-?nav|bottom-?nav|sub-?nav|nav-?bar|nav-?list|skip-?nav|skip-?link|skip-to-\\w+|"
        "footer|page-footer|site-footer|site-header|page-header|menu|main-?menu|mobile-?nav|edit-this-page|edit-page|"
        "edit-link|improve|feedback|cookie\\w*|consent|copyright|prev-?next|pagination|pager|page-nav|share|social|"
        "navigation|nosearch|searchbox|search-?bar|version-?switcher|language-?switcher|localnav|on-this-page|"
        "inpagenav|language-name|example-header|js-vote-count|vote-?cell|votes?|post-menu|js-post-menu|banner|advert\\w*|ads?|newsletter|"
        "back-to-top|"
        "backtotop|gtoc|alt-docs|sr-only|visually-?hidden|screen-reader-text|comments-link|file-navigation|"
        "prevnext|rst-footer-buttons|theme-doc-breadcrumbs|pagination-nav|md-sidebar|md-header|md-footer|"
        "headerbar|nav-wrapper|nav-chapters|sidebar-toggle|source-link|srclink|viewcode-link|toolbar|qtm|toplang|"
        "bottomlang"
    )
)


# Ids of parts of a manual are made of its headings' words: only whole ones count.
_DOCS_IDS = words(
    "sidebar side-bar sidenav nav navbar nav-bar navigation topnav top-nav header footer page-header page-footer "
    "site-header site-footer menu menu-bar mainmenu submenu searchmenu searchbox search breadcrumbs path toc "
    "table-of-contents catlinks printfooter mw-navigation mw-head mw-panel sitesub jump-to-nav sitenotice related gtoc "
    "cookie-banner cookie-consent feedback languages post-menu newsletter toolbar"
)


def drop_permalinks(order: Iterable[Node]) -> None:
    """Takes off the small links by which headings are linked to."""
    for node in order:
        if node.tag in ("a", "span") and node.size <= 12 and (names := node.names()) and _PERMALINK.search(names):
            if not node.kids or "mw-editsection" in names or _sign(node) in _SIGNS:
                node.is_dropped = True
        elif (
            node.tag == "a"
            and 0 < node.size <= 2
            and node.attrs.get("href", "").startswith("#")
            and _sign(node) in _SIGNS
        ) or (node.tag == "span" and "mw-editsection" in node.names()):
            node.is_dropped = True


def _sign(node: Node) -> str:
    return "".join(kid if isinstance(kid, str) else _sign_of_kid(kid) for kid in node.kids[:3]).strip().lower()


def _sign_of_kid(kid: Node) -> str:
    return "".join(text for text in kid.kids if isinstance(text, str))


def drop_around_docs(order: list[Node], root: Node) -> None:
    """Takes the furniture off a documentation page; what holds a third of the text stays, alone or with its like."""
    most = root.size * 0.33
    alike: dict[str, list[Node]] = {}
    for node in order:
        if node is root or node.is_dropped:
            continue
        if node.tag in _ALWAYS or ("role" in node.attrs and node.attrs["role"].lower() in _ROLES):
            node.is_dropped = node.tag == "nav" or node.size <= most
        elif node.size <= most and node.tag not in ("body", "main", "article") and _is_docs_furniture(node):
            node.is_dropped = True
            if "class" in node.attrs:
                alike.setdefault(node.attrs["class"], []).append(node)
    for nodes in alike.values():
        if sum(node.size for node in nodes) > most:
            _take_back(nodes)


def _is_docs_furniture(node: Node) -> bool:
    tag = node.tag
    if tag in ("footer", "form"):
        return True
    if node.parent is not None and node.parent.tag in HEADINGS:
        return False
    if tag in ("h1", "h2", "h3", "h4", "h5", "h6", "p", "code", "pre", "dt", "td", "th", "li", "tr", "table", "tbody"):
        return tag == "p" and "topic-title" not in node.names() and " menu " in node.names()
    attrs = node.attrs
    if attrs.get("id", "").lower() in _DOCS_IDS:
        return True
    said = attrs.get("class", "")[:400]
    return bool(said) and _names_docs_furniture(said)


@lru_cache(2048)
def _names_docs_furniture(said: str) -> bool:
    return bool(_DOCS.search(_CAMEL.sub("-", said).lower()))


_ARTICLES = re.compile(
    _WORD.format(
        "comments?|comment-?list|comments-?area|comment-?respond|respond|disqus\\w*|fb-comments|replies|"
        "related\\w*|recommend\\w*|recirc\\w*|read-?more|read-?next|read-?also|more-?on|more-?from|more-?stories|"
        "more-?news|"
        "more-?posts|more-?links|more-?articles|most-?read|most-?popular|popular|trending|trend|latest|"
        "next-?prev|prev-?next|next-?article|next-?post|prev-?post|up-?next|"
        "side-?bar\\w*|widgets?|share\\w*|sharing|sharedaddy|social\\w*|addthis\\w*|addtoany\\w*|wabtn\\w*|whatsapp|"
        "newsletter\\w*|subscri\\w+|sign-?up|call-?to-?action|cta|"
        "promo\\w*|sponsor\\w*|outbrain\\w*|taboola\\w*|zergnet\\w*|revcontent\\w*|ad|ads|advert\\w*|adsbygoogle|"
        "ad-?(?:slot|unit|container|wrapper|banner)|by-?line\\w*|author-?(?:bio|info|box|card|details|name|meta|"
        "block|image|wrap)?|"
        "authors?|attribution|trust-?badge\\w*|dateline|timestamp|post-?meta|entry-?meta|article-?meta|meta|meta-?data|"
        "published|pub-?date|publish-?date|post-?date|entry-?date|article-?date|date|tags?|tag-?list|tagcloud|"
        "categor(?:y|ies)|cat-links|bread-?crumbs?|"
        "pagination|pager|post-?navigation|nav|navigation|nav-?bar|copyright|cookies?\\w*|consent|gdpr|popup|"
        "pop-?over|modal|"
        "overlay|tool-?tip|hover-?card|rollover-block|paywall|log-?in|footer|site-?header|page-?header|masthead|"
        "toolbar|tools|poll|print|jp-\\w+|print-only|sr-only|visually-?hidden|screen-reader-text|"
        "hidden|noprint|skip-?link|player|video-?player|donat\\w+|feedback|menu|search|banner|bio|disclaimer|"
        "disclosure|"
        "galler(?:y|ies)|resgallery\\w*|slide-?show|carousel|slider|lightbox|pull-?quote|teasers?|tease"
    )
)
_GOING = _ALWAYS | words("footer aside form")
_SHOWS = re.compile(r"galler|slide|carousel|lightbox|widget|teaser")
_ARTICLE_KEPT = words("html body main article p blockquote pre code td th tr tbody table b i strong em")


def drop_around_articles(order: list[Node], good: float) -> None:
    """Takes the furniture off an article's page; what holds over 30 % of the running text stays, menus never do."""
    most = good * 0.3
    shown: dict[str, list[Node]] = {}
    for node in order:
        if node.is_dropped or node.tag in _ARTICLE_KEPT or not (node.attrs or node.tag in _GOING):
            continue
        if node.tag in _ALWAYS or ("role" in node.attrs and node.attrs["role"].lower() in _ROLES):
            node.is_dropped = node.tag == "nav" or node.good <= most
        elif node.good <= most and (node.tag in ("footer", "aside", "form") or _is_article_furniture(node)):
            node.is_dropped = True
            if node.good and _SHOWS.search(node.names()):
                shown.setdefault(node.attrs.get("class", ""), []).append(node)
    for nodes in shown.values():
        if sum(node.good for node in nodes) > most:
            _take_back(nodes)


def _take_back(nodes: list[Node]) -> None:
    """Parts of one kind that together hold much of the text are the content."""
    for node in nodes:
        node.is_dropped = False


def _is_article_furniture(node: Node) -> bool:
    names = node.names()
    if not names or not _names_article_furniture(names):
        return False
    if node.parent is not None and node.parent.tag in HEADINGS:
        return False
    # An id of many words is made of a heading's: it says what the text is about.
    return node.attrs.get("id", "").count("-") < 3 or _names_article_furniture(
        f" {node.attrs.get('class', '').lower()} "
    )


@lru_cache(2048)
def _names_article_furniture(names: str) -> bool:
    return bool(_ARTICLES.search(names))


def drop_other_articles(order: list[Node], headline: str) -> bool:
    """Takes off lists of other articles: many linked headings, little text for each, without this one's headline.

    Whether there were any.
    """
    if sum(node.tag in HEADINGS for node in order) < 3:
        return False
    found = False
    total = order[0].good
    titles: dict[int, int] = {}
    ours: set[int] = set()
    for node in reversed(order):
        count = sum(titles[id(kid)] for kid in node.elements()) if node.inner else 0
        if node.tag in HEADINGS:
            count = int(node.linked >= 0.8 * node.size > 0)
            if (node.tag == "h1" and not count) or (headline and key(text_of(node, 400)) == headline):
                ours.add(id(node))
        if node.inner and any(id(kid) in ours for kid in node.elements()):
            ours.add(id(node))
        titles[id(node)] = count
    for node in order:
        count = titles[id(node)]
        if count < 3 or id(node) in ours or node.tag in _ARTICLE_KEPT or node.is_dropped:
            continue
        if node.good < 400 * count and total - node.good >= max(400, 0.25 * total):
            node.is_dropped = found = True
    return found


def key(text: str) -> str:
    """The letters and digits of a text, for comparing."""
    return "".join(character for character in text.lower() if character.isalnum())
