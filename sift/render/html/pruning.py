"""What an article's body holds beside its text: captions, promotions, dates, its headline again, comments.

Which element is the body was decided before.
"""

from __future__ import annotations

import re

from sift.render.html import running, tables
from sift.render.html.furniture import HEADINGS, key
from sift.render.html.tree import Node, text_of, walk

_DEK = re.compile(
    r"[\s_-](?:dek|deck|stand-?first|sub-?head(?:line|ing)?|sub-?title|article-summary|heading-des)[\s_-]"
)
_CAPTION = re.compile(
    r"[\s_-](?:\w*captions?\w*|credits?|photo-?credit|image-?credit|wp-caption-text|legend|cutline)[\s_-]"
)
_PROMO = re.compile(
    r"^\W*(?:related|read (?:more|next|also|full|the full)|also (?:read|see|on)|more (?:from|on|about|great|"
    r"stories|coverage|news|in)|see also|see more|more\W*$|"
    r"you (?:may|might)(?: also)? (?:like|enjoy|be interested)|recommended|trending|most (?:popular|read)|"
    r"don['’]t miss|up next|next article|popular (?:now|stories)|latest (?:news|stories)|further reading|"
    r"watch(?: now| more)?:|"
    r"click here|sign up|subscribe|follow (?:us|me|\w+ on)|get (?:the latest|access)|download (?:the|our)|"
    r"join (?:us|our)|"
    r"share (?:this|on)|advertisement|sponsored|leggi anche|ti potrebbe|lee (?:también|tambien|más)|te puede interesar|"
    r"leia (?:também|mais|ainda)|veja também|lire aussi|à lire|lesen sie (?:auch|mehr)|mehr zum|siehe auch|das könnte|"
    r"lees ook|läs (?:också|mer)|les også|czytaj (?:też|także)|zobacz też|czytaj więcej|читайте также|"
    r"читать также|смотрите также|"
    r"читайте|самые популярные|похожие|вам может|по теме|baca juga|xem thêm|"
    r"関連|あわせて読みたい|相关|相關|延伸阅读|推荐阅读|관련|추천|"
    r"इसे भी|यह भी|اقرأ أيضا|إقرأ أيضا|להמשך קריאה)",
    re.I,
)
_COMMENTS = re.compile(
    r"^\W*(?:\d+ )?(?:comments?|leave a (?:comment|reply)|post a comment|add a comment|join the (?:conversation|"
    r"discussion)|"
    r"comentarios|comentários|deja un(?:a respuesta| comentario)|deixe (?:um comentário|uma resposta)|"
    r"commentaires?|laisser un commentaire|"
    r"kommentare?|schreibe einen kommentar|commenti|lascia un commento|reacties|комментарии|добавить (?:отзыв|"
    r"комментарий)|отзывы|"
    r"оставить комментарий|コメント|コメントを残す|"
    r"评论|发表评论|留言|댓글|komentar|tinggalkan (?:balasan|komentar))\W*(?:\(?\d+\)?)?\W*$",
    re.I,
)
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}|^\W*\d+\W*$")
_SMALL_TALK = re.compile(
    r"^\W*(?:(?:close|print|share|email|e-mail|tweet|pin|like|save|advertisement|loading|play|pause|photos?|video|"
    r"gallery)\W*$|"
    r"(?:last )?(?:updated|published|posted|modified)\b|\(?(?:additional |with )?(?:reporting|editing|writing) by|"
    r"more ap\b|filed under|tags?\b|topics?:|labels?:|source:|via:?\b|by [A-Z][\w.'-]+ [A-Z][\w.'-]+$|"
    r"(?:reading time|tempo de leitura|lesezeit|temps de lecture)|\d+ min(?:ute)?s? read)",
    re.I,
)
_SMALL = frozenset(["small", "span", "em", "i", "font", "cite", "p"])
_SENTENCE_END = re.compile(r"[.!?…。！？:»”\"')]\s*$")
_CAPTIONED = frozenset(["p", "div", "span", "small", "cite", "em", "dd"])
_MOST_CAPTIONS = 0.4
_LONGEST_SIGN = 200  # characters of a line that may be a promotion


def prune(root: Node, headline: str) -> None:
    """Drops them."""
    made = running.part(root)
    if made:
        running.score(root)
    attach_captions(root)
    _drop_headline(root, headline)
    running.score(root)
    blocks = _blocks(root)
    texts = {id(node): text_of(node, 400) for node in blocks if node.own <= _LONGEST_SIGN}
    _drop_dek(blocks)
    _cut_comments(blocks, texts)
    _drop_promotions(blocks, texts)
    _drop_ends(blocks, texts)
    _drop_empty_headings(root)
    for node in made:
        node.parent = None  # no circle is left for the collector


def _blocks(root: Node) -> list[Node]:
    """The elements with text of their own, in order; none in code or in tables of data, which stay whole."""
    found: list[Node] = []
    stack = list(root.elements())[::-1]
    while stack:
        node = stack.pop()
        if node.tag == "pre" or (node.tag == "table" and not tables.is_layout(node)):
            continue
        if node.own and not node.is_inline:
            found.append(node)
        stack.extend(list(node.elements())[::-1])
    return found


def attach_captions(root: Node) -> None:
    """A caption becomes the text of its image; where there is no image that could be shown, it goes.

    Captions that are most of the text are the text, and stay.
    """
    captions = [node for node in walk(root) if _is_caption(node)]
    if sum(node.size for node in captions) > _MOST_CAPTIONS * root.size:
        return
    for node in captions:
        image = _image_of(node)
        if image is not None:
            text = text_of(node, 1200)
            image.attrs["data-caption"] = f"{image.attrs.get('data-caption', '')} {text}".strip()
        node.is_dropped = True


def _is_caption(node: Node) -> bool:
    if node.size > 1200 or node.tag in HEADINGS:
        return False
    if node.tag == "figcaption" or _is_beneath_picture(node):
        return True
    return node.tag in _CAPTIONED and bool(_CAPTION.search(node.names()))


def _is_beneath_picture(node: Node) -> bool:
    """Whether a few small words fill, with a picture before them, a block of their own."""
    above = node.parent
    if (
        node.tag not in _SMALL
        or above is None
        or not 0 < node.size <= 160
        or above.size != node.size
        or not above.inner
    ):
        return False
    first = next(above.elements())
    return first is not node and any(inner.tag == "img" for inner in walk(first))


def _image_of(caption: Node) -> Node | None:
    above = caption.parent
    for _ in range(4):
        if above is None or above.size > caption.size + 60:
            return None
        found = next((node for node in walk(above) if node.tag == "img"), None)
        if found is not None:
            return found
        above = above.parent
    return None


def _drop_headline(root: Node, headline: str) -> None:
    """The headline is the page's title: in the text it is dropped, where it stands before the text."""
    wanted = key(headline)
    is_first = True
    for node in list(walk(root)):
        if node.own >= running.LEAST and node.tag not in HEADINGS and not node.is_inline:
            is_first = False
        if node.tag in HEADINGS and node.size < 300:
            said = key(text_of(node, 300))
            if (node.tag == "h1" and is_first) or (
                len(said) > 10 and wanted and (said == wanted or (is_first and said in wanted))
            ):
                node.is_dropped = True
                is_first = is_first and node.tag != "h1"


def _drop_dek(blocks: list[Node]) -> None:
    """The line under the headline, which names itself so, where it stands before the text."""
    for node in blocks[:10]:
        if node.is_dropped:
            continue
        above = node.parent
        if _DEK.search(node.names()) or (above is not None and above.size == node.size and _DEK.search(above.names())):
            node.is_dropped = True
        elif node.own >= 2 * running.LEAST and node.tag not in HEADINGS:
            return


def _cut_comments(blocks: list[Node], texts: dict[int, str]) -> None:
    """From the heading of the comments on, nothing is the article's."""
    total = sum(node.own for node in blocks) or 1
    before = 0
    is_cut = False
    for node in blocks:
        before += node.own
        if not is_cut and before > total * 0.4 and node.own < 60 and _COMMENTS.match(texts.get(id(node), "x")):
            is_cut = True
        if is_cut:
            node.is_dropped = True


def _drop_promotions(blocks: list[Node], texts: dict[int, str]) -> None:
    """Lines that ask to read, watch or buy something else, and the links that follow them."""
    is_after_sign = False
    for node in blocks:
        if node.is_dropped:
            continue
        text = texts.get(id(node)) or (text_of(node, 400) if node.own_linked * 2 > node.own else "")
        if not text or text.startswith(("http://", "https://", "www.")):
            is_after_sign = False
        elif _PROMO.match(text) and (node.own_linked or node.tag in HEADINGS or node.own < running.LEAST):
            node.is_dropped = is_after_sign = True
        elif is_after_sign and node.own_linked and (node.tag == "li" or _is_all_link(node)):
            node.is_dropped = True
        elif _is_all_link(node):
            node.is_dropped = _is_headline(node, text)
        else:
            is_after_sign = False


def _is_all_link(node: Node) -> bool:
    return node.own_linked >= 0.8 * node.own


def _is_headline(node: Node, text: str) -> bool:
    """Whether a linked line shouts the headline of another article."""
    if node.tag in HEADINGS or node.tag in ("li", "td", "th", "dd", "dt"):
        return False
    return node.own >= 20 and text.isupper() and not _SENTENCE_END.search(text)


def _drop_ends(blocks: list[Node], texts: dict[int, str]) -> None:
    """Short lines before the first and after the last running text: dates, names, links."""
    left = [node for node in blocks if not node.is_dropped]
    for node in left[-8:]:
        if _is_small_talk(texts.get(id(node)) or text_of(node, 100)):
            node.is_dropped = True
    left = [node for node in left if not node.is_dropped]
    long = [
        place
        for place, node in enumerate(left)
        if node.own - 2 * node.own_linked >= 2 * running.LEAST and node.tag not in HEADINGS
    ]
    if not long:
        return
    for node in left[: long[0]]:
        text = texts.get(id(node), "x" * 300)
        if _is_small_talk(text) or (
            len(text) < 80 and (_DATE.search(text) or node.own_linked * 2 > node.own) and not _SENTENCE_END.search(text)
        ):
            node.is_dropped = True
    for node in left[long[-1] + 1 :]:
        text = texts.get(id(node), "")
        if text and (node.own_linked * 2 > node.own or _is_small_talk(text)):
            node.is_dropped = True


def _is_small_talk(text: str) -> bool:
    return bool(_SMALL_TALK.match(text))


def _drop_empty_headings(root: Node) -> None:
    """A heading whose part was dropped says nothing."""
    pending: list[Node] = []
    seen_dropped = False
    for parent in walk(root):
        pending = []
        seen_dropped = False
        for kid in parent.kids:
            if isinstance(kid, str):
                if kid.strip():
                    pending, seen_dropped = [], False
            elif kid.tag in HEADINGS and not kid.is_dropped:
                if pending and seen_dropped:
                    pending[-1].is_dropped = True
                pending, seen_dropped = [kid], False
            elif kid.is_dropped:
                seen_dropped = seen_dropped or bool(kid.size)
            elif kid.size:
                pending, seen_dropped = [], False
        if pending and seen_dropped:
            pending[-1].is_dropped = True
