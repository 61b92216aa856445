"""Code blocks: their text as it stands, and the language that the page names.

Code within a line of text is `blocks`' business.
"""

from __future__ import annotations

import re

from sift.render.html.tree import Node, words

BLOCK_TAGS = frozenset(["div", "p", "li", "tr", "table", "tbody", "ul", "ol", "pre", "section", "figure"])
_NUMBERS = re.compile(
    r" (?:\S*(?:linenos?|line-?numbers?|lineno|linenumber|ln-num|blob-num)|gutter|hljs-ln-n|rouge-gutter|"
    r"line-number\S*) "
)
_BUTTONS = re.compile(
    r" (?:\S*(?:copy-?(?:btn|button|code)|clipboard|copybtn|btn-copy|code-copy)\S*|copy|toolbar|toolbar-item) "
)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:highlight-source-|highlight-text-|highlight-|language-|lang-|brush:\s*|src-|"
    r"code-)([a-z0-9+#][\w+#.-]*)"
)
_AFTER = re.compile(
    r"(?:^|\s)(?:sourcecode|hljs|src|prettyprint|prism|rust|codehilite|syntax|highlight|code)\s+([a-z][\w+#-]*)"
)
_NONE = words(
    "default none text plain plaintext txt plain-text nohighlight no-highlight notranslate rouge toolbar "
    "code block source highlight highlighter-rouge numberlines line-numbers example snippet wrapper "
    "container hljs s-code-block copy box inline basic html-basic literal-block rust-example-rendered "
    "playground prettyprinted linenums auto unknown undefined editor content output pre programlisting "
    "screen literal normal small large wrap nowrap"
)
_KNOWN = words(
    "ada apache asm awk bash bat batch bibtex c c# c++ clojure cmake cobol coffeescript console cpp cs "
    "csharp css csv cuda d dart diff docker dockerfile elixir elm erlang fish fortran fsharp gdscript "
    "gherkin git glsl go golang graphql groovy haskell hcl html http ini ipython java javascript jinja "
    "jinja2 js json json5 jsonc jsx julia kotlin latex less lisp lua make makefile markdown matlab md "
    "mermaid nasm nginx nim nix objc objective-c objectivec ocaml pascal perl php powershell prolog "
    "properties proto protobuf ps1 py pycon python python3 r rb regex rest rst ruby rust sass scala "
    "scheme scss sh shell shell-session smalltalk solidity sql svelte swift tcl terraform tex toml ts tsx "
    "typescript v vb vba verilog vhdl vim vue wasm xml yaml yml zig zsh"
)


def text(root: Node) -> str:
    """The text of a code block, line by line; line numbers and copy buttons are not part of it."""
    pieces: list[str] = []
    spread = _is_line_by_line(root)
    stack: list[Node | str | None] = [root]
    while stack:
        item = stack.pop()
        if item is None:
            _end_line(pieces)
        elif isinstance(item, str):
            pieces.append(item.replace("\r\n", "\n").replace("\r", "\n"))
        elif item is root or not (item.is_dropped or is_beside_code(item)):
            _enter(item, pieces, stack, is_line=item is not root and (item.tag in BLOCK_TAGS or spread(item)))
    return _trimmed("".join(pieces).replace("\xa0", " "))


def _enter(node: Node, pieces: list[str], stack: list[Node | str | None], *, is_line: bool) -> None:
    if node.tag == "br":
        pieces.append("\n")
        return
    if node.tag == "img":
        pieces.append(node.attrs.get("alt", ""))
        return
    if is_line:
        _end_line(pieces)
        stack.append(None)
    stack.extend(_kids(node))


def _kids(node: Node) -> list[Node | str]:
    kids = list(reversed(node.kids))
    # A <br> before a line break that stands in the source already is one line's end, not two.
    return [
        kid[1:] if isinstance(kid, str) and kid.startswith("\n") and _is_break(kids, place) else kid
        for place, kid in enumerate(kids)
    ]


def _is_break(reversed_kids: list[Node | str], place: int) -> bool:
    before = reversed_kids[place + 1] if place + 1 < len(reversed_kids) else None
    return isinstance(before, Node) and before.tag == "br"


def _end_line(pieces: list[str]) -> None:
    for piece in reversed(pieces):
        if piece:
            if not piece.endswith("\n"):
                pieces.append("\n")
            return


def _is_line_by_line(root: Node):  # type: ignore[no-untyped-def]
    """Whether each `code` or `span` right inside is a line of its own: several, with nothing between them."""
    holder = root
    while len(kids := [kid for kid in holder.kids if not isinstance(kid, str) or kid.strip()]) == 1:
        only = kids[0]
        if isinstance(only, str):
            break
        holder = only
    lines = [kid for kid in holder.elements() if kid.tag == "code" or " line " in kid.names()]
    between = any(isinstance(kid, str) and ("\n" in kid or kid.strip()) for kid in holder.kids)
    if (
        len(lines) < 2
        or between
        or any(_ends_line(line) for line in lines[:-1])
        or any(not isinstance(kid, str) and kid.tag == "br" for kid in holder.kids)
    ):
        return lambda node: False
    chosen = set(map(id, lines))
    return lambda node: id(node) in chosen


def _ends_line(line: Node) -> bool:
    node: Node | str = line
    while isinstance(node, Node):
        if node.tag == "br":
            return True
        if not node.kids:
            return False
        node = node.kids[-1]
    return node.endswith("\n")


def _trimmed(code: str) -> str:
    lines = [line.rstrip() for line in code.split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def is_beside_code(node: Node) -> bool:
    """Whether an element in a listing is its line numbers or a button."""
    if node.tag == "button" or node.tag == "clipboard-copy":
        return True
    names = node.names()
    if not names or node.tag in ("pre", "code"):
        return " lineno " in names or " linenos " in names
    return bool(_NUMBERS.search(names) or (node.size <= 40 and _BUTTONS.search(names)))


def language(root: Node) -> str:
    """The language that classes of the block, what it holds, or up to three parents name; empty: none."""
    around = [*[kid for kid in root.elements() if kid.tag in ("code", "pre")][:2], root]
    above = root.parent
    for _ in range(3):
        if above is None or len(above.inner) > 6:
            break
        around.append(above)
        above = above.parent
    for node in around:
        if found := _named(node):
            return found
    return ""


def _named(node: Node) -> str:
    attrs = node.attrs
    for key in ("data-lang", "data-language", "lang" if node.tag == "code" else "data-lang", "syntax"):
        said = attrs.get(key, "").strip().lower()
        if said and said not in _NONE and re.fullmatch(r"[\w+#.-]{1,24}", said):
            return said
    names = attrs.get("class", "").lower()
    if not names:
        return ""
    for found in _LANGUAGE.findall(names):
        if found not in _NONE:
            return str(found)
    for found in _AFTER.findall(names):
        if found in _KNOWN:
            return str(found)
    if node.tag in ("pre", "code"):
        return next((name for name in names.split() if name in _KNOWN), "")
    return ""


def fence(code: str, info: str) -> list[str]:
    """The lines of a fenced block; the fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    marks = "`" * (longest + 1)
    return [f"{marks}{info}", *code.split("\n"), marks]
