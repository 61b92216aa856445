"""The page as a small tree of our own, built while lxml parses it, once; what readers cannot see never gets in.

Nothing here decides what matters on a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from lxml import etree


def words(text: str) -> frozenset[str]:
    """The words of a text: lists of tag and class names read best so."""
    return frozenset(text.split())


# Elements whose inside is not text for readers; `script` and `noscript` are read for other ends.
UNREAD = words(
    "script style template noscript svg iframe frame object embed applet canvas audio video map datalist "
    "select textarea input progress meter basefont link meta title base"
)
_SPECIAL = UNREAD | words("html body head br dialog")
_HIDERS = words("hidden style aria-hidden")
_UNSEEN_STYLE = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.I)
_MATH = re.compile(r"math|katex|mjx", re.I)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_NAMES = 400  # characters: no class says more that matters
_NOSCRIPT_KEPT = 4096  # characters: enough to tell what a page asks for


class Node:
    """An element that readers see. `kids` are text and elements, in order; `inner` the elements, but for `br`.

    `size` is the number of visible characters, `linked` how many of them stand in links (both after `weigh`);
    `own` (characters of text directly in this block), `own_linked`, `good` and `is_inline` are left to whoever looks
    for an article. `is_dropped` takes it, with all inside, off the page.
    """

    __slots__ = (
        "attrs", "chars", "good", "inner", "is_dropped", "is_inline", "kids", "known_names", "linked", "own",
        "own_linked", "parent", "size", "tag",
    )  # fmt: skip

    def __init__(self, tag: str, attrs: dict[str, str], parent: Node | None) -> None:
        self.tag = tag
        self.attrs = attrs
        self.parent = parent
        self.kids: list[Node | str] = []
        self.inner: list[Node] = []
        self.known_names: str | None = None
        self.chars = self.size = self.linked = self.own = self.own_linked = 0
        self.good = 0.0
        self.is_inline = self.is_dropped = False

    def add(self, node: Node) -> None:
        """Appends an element."""
        self.kids.append(node)
        self.inner.append(node)

    def add_text(self, text: str) -> None:
        """Appends text."""
        self.kids.append(text)
        self.chars += len(text.strip())

    def names(self) -> str:
        """Class, id and role, `camelCase` as `camel-case`, a space on both sides; empty where there is none."""
        if self.known_names is None:
            self.known_names = _names(self.attrs)
        return self.known_names

    def elements(self) -> Iterator[Node]:
        """The element kids that are still on the page."""
        return (kid for kid in self.inner if not kid.is_dropped)


@dataclass(slots=True)
class Tree:
    """One parsed page: what is seen (`root`), and what the page says about itself."""

    root: Node
    nodes: list[Node] = field(default_factory=list)  # all but those made afterwards
    title: str = ""
    language: str = ""
    base: str = ""
    metas: list[dict[str, str]] = field(default_factory=list)
    links: list[dict[str, str]] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    noscript: str = ""
    scripts: int = 0
    script_chars: int = 0
    frames: list[str] = field(default_factory=list)  # within the page
    frameset: list[str] = field(default_factory=list)  # frames that are the page
    sources: list[str] = field(default_factory=list)  # of scripts
    was_complete: bool = True  # whether the parser came to the page's end
    passwords: int = 0  # fields that ask for one


def _names(attrs: dict[str, str]) -> str:
    found = attrs.get("class", "")
    if "id" in attrs:
        found = f"{found} {attrs['id']}"
    if "role" in attrs:
        found = f"{found} {attrs['role']}"
    if not found:
        return ""
    found = found[:_LONGEST_NAMES]
    lower = found.lower()
    return f" {lower} " if lower == found else f" {_CAMEL.sub('-', found).lower()} "


def parse(html: str) -> Tree:
    """The tree of any text whatever; of none, an empty one. Surrogates become U+FFFD."""
    builder = _Builder()
    data = html.encode("utf-8", "surrogatepass")
    if b"\xed" in data:
        data = data.decode("utf-8", "replace").encode()
    parser = etree.HTMLParser(target=cast(Any, builder), encoding="utf-8", huge_tree=True)
    try:
        parser.feed(data)
        parser.close()
    except (etree.LxmlError, ValueError, AssertionError):
        builder.close().was_complete = False  # what was built until then stands
    return builder.tree


def walk(root: Node) -> Iterator[Node]:
    """The elements on the page from `root` down, each before its kids, in order; without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.inner:
            stack.extend([kid for kid in reversed(node.inner) if not kid.is_dropped])


def text_of(root: Node, limit: int = 1_000_000) -> str:
    """The text inside, white space as single spaces; at most about `limit` characters."""
    pieces: list[str] = []
    count = 0
    budget = limit + 200  # elements: a nest of empty ones ends too
    stack: list[Node | str] = [root]
    while stack and count < limit and budget:
        item = stack.pop()
        budget -= 1
        if isinstance(item, str):
            pieces.append(item)
            count += len(item)
        elif not item.is_dropped:
            if item.tag == "br":
                pieces.append(" ")
            stack.extend(reversed(item.kids))
    return " ".join("".join(pieces).split())


def release(tree: Tree) -> None:
    """Takes the tree apart, so that it is freed at once and not by the collector (lxml's parser is a circle)."""
    for node in tree.nodes:
        node.parent = None
    tree.nodes.clear()
    tree.root.kids, tree.root.inner = [], []


def restore(root: Node) -> None:
    """Puts everything that was dropped back on the page."""
    stack = [root]
    while stack:
        node = stack.pop()
        node.is_dropped = False
        stack.extend(node.inner)


def is_unseen(tag: str, attrs: dict[str, str]) -> bool:
    """Whether an element is hidden from readers by what it says itself."""
    if "hidden" in attrs and attrs["hidden"].lower() != "until-found":
        return True
    style = attrs.get("style")
    if style and _UNSEEN_STYLE.search(style):
        # A formula's source is hidden, since its picture is shown.
        return not _MATH.search(attrs.get("class", ""))
    if attrs.get("aria-hidden", "").lower() == "true":
        return tag not in ("main", "article")
    return False


class _Builder:
    """lxml's target: its calls become the tree."""

    def __init__(self) -> None:
        root = Node("body", {}, None)
        self.tree = Tree(root)
        self._node = root
        self._nodes = self.tree.nodes
        self._stack: list[Node] = []
        self._break = Node("br", {}, None)  # all are alike
        self._links = 0  # open ones
        self._skipped = 0  # open elements since the outermost one that is left out
        self._sink: list[str] | None = None
        self._sink_tag = ""
        self._sink_attrs: dict[str, str] = {}
        self._text: list[str] = []  # the parser gives text in pieces, a character reference each

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        if self._skipped:
            self._skipped += 1
            return
        if self._text:
            self._end_text()
        if type(attrs) is not dict:  # lxml's own empty mapping
            attrs = {}
        if tag in _SPECIAL and not (tag == "input" and attrs.get("type", "").lower() == "checkbox"):
            self._special(tag, attrs)
            return
        if not _HIDERS.isdisjoint(attrs) and is_unseen(tag, attrs):
            self._skipped = 1
            return
        above = self._node
        parent = above
        if tag == "a":
            parent = _out_of_link(above) if self._links else above
            self._links += 1
        self._stack.append(above)
        self._node = node = Node(tag, attrs, parent)
        parent.kids.append(node)
        parent.inner.append(node)
        self._nodes.append(node)

    def _special(self, tag: str, attrs: dict[str, str]) -> None:
        if tag in ("html", "body"):
            self._top(tag, attrs)
        elif tag == "head" or (tag == "dialog" and "open" in attrs):
            self._stack.append(self._node)
        elif tag == "br":
            self._node.kids.append(self._break)  # no inner element: most passes need not see it
            self._skipped = 1
        else:
            self._unread(tag, attrs)

    def _top(self, tag: str, attrs: dict[str, str]) -> None:
        if tag == "html":
            self.tree.language = self.tree.language or attrs.get("lang") or attrs.get("xml:lang") or ""
        else:
            self.tree.root.attrs = {**attrs, **self.tree.root.attrs}
        self._stack.append(self._node)

    def _unread(self, tag: str, attrs: dict[str, str]) -> None:
        tree = self.tree
        self._skipped = 1
        if tag == "meta":
            tree.metas.append(attrs)
        elif tag == "link":
            tree.links.append(attrs)
        elif tag == "base":
            tree.base = tree.base or attrs.get("href", "")
        elif tag in ("iframe", "frame"):
            (tree.frames if tag == "iframe" else tree.frameset).append(attrs.get("src", ""))
        elif tag == "input":
            tree.passwords += attrs.get("type", "").lower() == "password"
        elif tag in ("script", "noscript", "title"):
            if "src" in attrs:
                tree.sources.append(attrs["src"])
            self._sink, self._sink_tag, self._sink_attrs = [], tag, attrs

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            if not self._skipped and self._sink is not None:
                self._swallowed("".join(self._sink))
                self._sink = None
            return
        if self._text:
            self._end_text()
        if tag == "a" and self._links:
            self._links -= 1
        if self._stack:
            self._node = self._stack.pop()

    def _swallowed(self, text: str) -> None:
        tree, tag = self.tree, self._sink_tag
        if tag == "title":
            tree.title = tree.title or " ".join(text.split())
        elif tag == "noscript":
            tree.noscript = (tree.noscript + " " + text)[:_NOSCRIPT_KEPT]
        elif "ld+json" in self._sink_attrs.get("type", "").lower():
            tree.json_ld.append(text)
        elif self._sink_attrs.get("type", "").lower().startswith("math/tex"):
            self._formula(text, is_display="mode=display" in self._sink_attrs["type"].replace(" ", "").lower())
        else:
            tree.scripts += 1
            tree.script_chars += len(text)

    def _formula(self, tex: str, *, is_display: bool) -> None:
        math = Node("math", {"alttext": tex} | ({"display": "block"} if is_display else {}), self._node)
        math.add_text(tex)
        self._node.add(math)
        self._nodes.append(math)

    def data(self, data: str) -> None:
        if not self._skipped:
            self._text.append(data)
        elif self._sink is not None:
            self._sink.append(data)

    def _end_text(self) -> None:
        text = self._text
        self._node.add_text(text[0] if len(text) == 1 else "".join(text))
        text.clear()

    def comment(self, text: str) -> None:
        """Comments are not text."""

    def pi(self, target: str, data: str) -> None:
        """Nor are processing instructions."""

    def close(self) -> Tree:
        if self._text:
            self._end_text()
        return self.tree


def _out_of_link(node: Node) -> Node:
    """Where a link that begins at `node` belongs: links do not nest (an open one ends, as in browsers)."""
    above: Node | None = node
    for _ in range(8):
        if above is None:
            break
        if above.tag == "a" and "href" in above.attrs and above.parent is not None:
            return above.parent
        above = above.parent
    return node
