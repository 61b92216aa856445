"""Elements to Markdown: one walk without recursion, one small function for each kind of element.

Which part of the page is worth it was decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sift.render.html import code, elements, maths, notes, shape, tables
from sift.render.html.address import Addresses
from sift.render.html.elements import SKIP, Handled, Leave, List, Skip
from sift.render.html.notes import Notes
from sift.render.html.tree import Node, text_of
from sift.render.html.writer import Writer, escape, span, target


class Converter:
    """Renders trees of one page. `keeps_buttons` where the whole visible page is wanted."""

    def __init__(self, addresses: Addresses, *, keeps_buttons: bool = False) -> None:
        self.addresses = addresses
        self.writer = Writer()
        self._keeps_buttons = keeps_buttons
        self._lists: list[List] = []
        self._in_heading = False
        self._notes = Notes()
        self._in_note = False

    def render(self, root: Node) -> str:
        """The Markdown of all that is on the page inside `root`."""
        self._notes = notes.find(root)
        self.run(root)
        return self.writer.result()

    def cell(self, root: Node) -> str:
        """What stands inside as one line for a table; line breaks are `<br>`, `|` is escaped."""
        if not root.inner and all(isinstance(kid, str) for kid in root.kids):
            return escape(" ".join("".join(map(str, root.kids)).split())).replace("|", "\\|")
        inner = Converter(self.addresses, keeps_buttons=self._keeps_buttons)
        inner.writer.is_one_line = True
        inner._notes = self._notes
        inner.run(root, inside_only=True)
        lines = [line.strip() for line in inner.writer.taken().split("\n")]
        return "<br>".join(line for line in lines if line).replace("|", "\\|")

    def run(self, root: Node, *, inside_only: bool = False) -> None:
        """Writes `root`, or what is inside it, to the writer."""
        writer = self.writer
        stack: list[tuple[Iterator[Node | str], Leave | None]] = [(iter(root.kids if inside_only else [root]), None)]
        while stack:
            kids, leave = stack[-1]
            for kid in kids:
                if isinstance(kid, str):
                    writer.text(kid)
                    continue
                if kid.is_dropped:
                    continue
                handled = self._enter(kid)
                if not isinstance(handled, Skip):
                    stack.append((iter(kid.kids), handled))
                    break
            else:
                stack.pop()
                if leave:
                    leave()

    def _enter(self, node: Node) -> Handled:
        if label := self._notes.notes.get(id(node)):
            return self._note(label)
        if self._in_note and node.tag in ("a", "span") and notes.is_back(node):
            return SKIP
        handler = _HANDLERS.get(node.tag)
        if node.tag in ("span", "div") and "math" in node.attrs.get("class", "") and self._formula(node):
            return SKIP
        if handler:
            return handler(self, node)
        if "-" in node.tag or node.tag == "label" or "display:block" in node.attrs.get("style", "").replace(" ", ""):
            self.writer.text(" ")
            return lambda: self.writer.text(" ")
        return None

    # Blocks

    def block(self, node: Node) -> Handled:
        if node.tag == "div" and "fragment" in node.attrs.get("class", "") and shape.is_fragment(node):
            return self.pre(node)
        self.writer.flush()
        return self.writer.flush

    def heading(self, node: Node) -> Handled:
        writer = self.writer
        if writer.is_one_line:
            return self.block(node) if not self._in_heading else None
        writer.flush()
        if node.size > elements.HEADING_LONGEST or any(kid.tag in elements.BIG for kid in node.elements()):
            return writer.flush
        writer.is_one_line = self._in_heading = True

        def leave() -> None:
            text = writer.taken().replace("\n", " ")
            writer.is_one_line = self._in_heading = False
            if text:
                writer.put([f"{'#' * int(node.tag[1])} {' '.join(text.split())}"])

        return leave

    def rule(self, node: Node) -> Handled:
        self.writer.flush()
        if not self.writer.is_one_line and self.writer.lines and self.writer.lines[-1] != "---":
            self.writer.put(["---"])
        return SKIP

    def pre(self, node: Node) -> Handled:
        text = code.text(node)
        if not text:
            return SKIP
        writer = self.writer
        writer.flush()
        if writer.is_one_line:
            for line in text.split("\n"):
                writer.raw(span(line) if line.strip() else "")
                writer.line_break()
        else:
            writer.put(code.fence(text, code.language(node)))
        return SKIP

    def table(self, node: Node) -> Handled:
        if self.writer.is_one_line:
            return self.block(node)
        self.writer.flush()
        if listing := tables.listing(node):
            self.writer.put(code.fence(listing, code.language(node)))
            return SKIP
        if tables.is_layout(node):
            return self.writer.flush
        tables.write(self, node)
        return SKIP

    def quote(self, node: Node) -> Handled:
        return self._framed("> ", "> ")

    def _framed(self, first: str, rest: str) -> Handled:
        writer = self.writer
        writer.flush()
        if writer.is_one_line:
            return writer.flush
        writer.enter(first, rest)

        def leave() -> None:
            writer.flush()
            writer.leave()
            writer.is_tight = False

        return leave

    def _note(self, label: str) -> Handled:
        self._in_note = True
        leave = self._framed(f"[^{label}]: ", "    ")

        def end() -> None:
            self._in_note = False
            if leave and not isinstance(leave, Skip):
                leave()
            self.writer.is_tight = True

        return end

    # Lists

    def list(self, node: Node) -> Handled:
        writer = self.writer
        is_inside = bool(self._lists)
        writer.flush()
        if shape.is_frame(node):
            return self._frame()
        number = shape.number(node.attrs.get("start"), 1) if node.tag == "ol" else 0
        is_loose = any(
            kid.tag in elements.BIG and kid.tag not in ("ul", "ol")
            for item in node.elements()
            for kid in item.elements()
        )
        self._lists.append(List(number, is_loose=is_loose))
        is_first = not is_inside or bool(writer.frames and not writer.frames[-1].is_used)
        if is_inside and not is_first:
            writer.is_tight = True

        return self._end_list

    def _frame(self) -> Leave:
        self._lists.append(List(-1, is_loose=True))
        return self._end_list

    def _end_list(self) -> None:
        self.writer.flush()
        self._lists.pop()
        self.writer.is_tight = False

    def item(self, node: Node) -> Handled:
        writer = self.writer
        writer.flush()
        around = self._lists[-1] if self._lists else List(0, is_loose=True)
        if around.number < 0:
            return writer.flush
        if writer.is_one_line:
            writer.raw("• ")
            writer.ends_open = True
            return writer.flush
        marker = "- "
        if around.number:
            number = shape.number(node.attrs.get("value"), around.number)
            marker = f"{number}. "
            around.number = number + 1
        writer.enter(marker, " " * len(marker))

        def leave() -> None:
            writer.flush()
            writer.leave()
            writer.is_tight = not around.is_loose

        return leave

    def term(self, node: Node) -> Handled:
        writer = self.writer
        names = node.names()
        if any(name in names for name in elements.SIGNATURE) and not writer.is_one_line:
            writer.flush()
            writer.code(text_of(node))
            writer.buffer.insert(0, "- ")
            writer.put([writer.taken()])
            return SKIP
        leave = self._framed("- ", "  ")
        is_bold = not any(kid.tag in elements.BIG or kid.tag == "div" for kid in node.elements())
        if not is_bold:
            return leave
        mark = writer.open("**")

        def end() -> None:
            writer.close(mark)
            if leave and not isinstance(leave, Skip):
                leave()

        return end

    def definition(self, node: Node) -> Handled:
        return self._framed("  ", "  ")

    # Inline

    def line_break(self, node: Node) -> Handled:
        self.writer.line_break()
        return SKIP

    def emphasis(self, node: Node) -> Handled:
        writer, kind = self.writer, elements.EMPHASIS[node.tag]
        if any(mark.kind == kind for mark in writer.marks) or (self._in_heading and kind == "**"):
            return None
        mark = writer.open(kind)
        return lambda: writer.close(mark)

    def link(self, node: Node) -> Handled:
        addresses, reference = self.addresses, node.attrs.get("href")
        if label := self._notes.references.get(id(node)):
            self.writer.raw(f"[^{label}]")
            return SKIP
        address = addresses.of(reference)
        if not address or (self._in_heading and addresses.is_here(reference)):
            return None
        writer = self.writer
        mark = writer.open("link", address)
        return lambda: writer.close(mark)

    def inline_code(self, node: Node) -> Handled:
        inside = [kid for kid in node.kids if not isinstance(kid, str) or kid.strip()]
        if len(inside) == 1 and isinstance(inside[0], Node):
            only = inside[0]
            if only.tag == "pre":
                return None
            address = self.addresses.of(only.attrs.get("href")) if only.tag == "a" else None
            if address and not self._in_heading:
                mark = self.writer.open("link", address)
                self.writer.code(text_of(only))
                self.writer.close(mark)
                return SKIP
        if shape.is_listing(node) and not self.writer.is_one_line:
            return self.pre(node)
        self.writer.code(shape.spaced(node))
        return SKIP

    def image(self, node: Node) -> Handled:
        attrs = node.attrs
        alt = " ".join(attrs.get("alt", "").replace("[", "(").replace("]", ")").split())
        if shape.is_formula(attrs) and alt:
            self.writer.raw(maths.dollars(alt, is_display=False))
            return SKIP
        source = self.addresses.of(attrs.get("src")) or self.addresses.of(attrs.get("data-src"))
        if not source or self._in_heading or attrs.get("width") in ("0", "1") or attrs.get("height") in ("0", "1"):
            return SKIP
        caption = " ".join(attrs.get("data-caption", "").replace("[", "(").replace("]", ")").replace('"', "”").split())
        words = alt or caption
        said = f' "{caption}"' if caption and caption != words else ""
        if words or shape.is_in(node, "figure"):
            self.writer.raw(f"![{words}]({target(source)}{said})")
        return SKIP

    def math(self, node: Node) -> Handled:
        tex = maths.tex(node)
        is_display = node.attrs.get("display") == "block"
        if is_display and not self.writer.is_one_line:
            self.writer.flush()
            self.writer.put(maths.block(tex)) if tex else None
        elif tex:
            self.writer.raw(maths.dollars(tex, is_display=False))
        return SKIP

    def _formula(self, node: Node) -> bool:
        """Writes what a script would make a formula of; whether it was one."""
        formula = maths.written(text_of(node, 5000)) if node.size < 5000 else None
        if formula and node.tag == "div" and not self.writer.is_one_line:
            self.writer.flush()
            self.writer.put([formula])
        elif formula:
            self.writer.raw(formula)
        return bool(formula)

    def superscript(self, node: Node) -> Handled:
        text = text_of(node, 20)
        if (
            text
            and len(text) <= 4
            and set(text) <= elements.EXPONENT
            and shape.ends_in_word(self.writer.buffer)
            and not shape.holds(node, "a")
        ):
            self.writer.raw(f"^{text}")
            return SKIP
        return None

    def ruby_text(self, node: Node) -> Handled:
        if text := text_of(node, 200):
            self.writer.text(f"({text})")
        return SKIP

    def quotation(self, node: Node) -> Handled:
        self.writer.raw("“")
        return lambda: self.writer.raw("”")

    def checkbox(self, node: Node) -> Handled:
        if shape.is_in(node, "li"):
            self.writer.raw("[x] " if "checked" in node.attrs else "[ ] ")
            self.writer.ends_open = True
        return SKIP

    def summary(self, node: Node) -> Handled:
        writer = self.writer
        writer.flush()
        if any(kid.tag in elements.BIG or kid.tag == "div" for kid in node.elements()):
            return writer.flush
        mark = writer.open("**")

        def leave() -> None:
            writer.close(mark)
            writer.flush()

        return leave

    def nothing(self, node: Node) -> Handled:
        return self.block(node) if self._keeps_buttons and node.tag == "button" else SKIP


Handler = Callable[[Converter, Node], Handled]
_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(elements.BLOCKS, Converter.block),
    **{f"h{level}": Converter.heading for level in range(1, 7)},
    **dict.fromkeys(elements.EMPHASIS, Converter.emphasis),
    **dict.fromkeys(elements.CODE, Converter.inline_code),
    **dict.fromkeys(elements.SPARED, Converter.nothing),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), Converter.pre),
    **dict.fromkeys(("ul", "ol"), Converter.list),
    "hr": Converter.rule,
    "table": Converter.table,
    "blockquote": Converter.quote,
    "li": Converter.item,
    "dl": Converter.block,
    "dt": Converter.term,
    "dd": Converter.definition,
    "br": Converter.line_break,
    "a": Converter.link,
    "img": Converter.image,
    "math": Converter.math,
    "sup": Converter.superscript,
    "rt": Converter.ruby_text,
    "q": Converter.quotation,
    "input": Converter.checkbox,
    "summary": Converter.summary,
}
