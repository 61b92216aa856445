"""What kind of page this is: one article, or anything else (documentation, questions, lists, forums).

How the content is then found is not known here.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from sift.render.html.furniture import HEADINGS
from sift.render.html.tree import Node, Tree, walk

_GENERATORS = re.compile(
    r"sphinx|docutils|docbook|asciidoc|mediawiki|mkdocs|docusaurus|javadoc|doxygen|pdoc|vitepress|vuepress|gitbook|"
    r"mdbook|rustdoc|dita|pandoc|org-?mode|latex2html|texinfo|makeinfo|groff|yelp|antora|starlight|typedoc|jsdoc|phpbb|"
    r"discourse|vbulletin|xenforo|mybb|smf",
    re.I,
)
_PLACES = re.compile(
    r" (?:markdown-body|mw-content-text|rst-content|sphinxsidebar|theme-doc-markdown|md-content|apicontent|manpage|"
    r"sect1|refentry|rustdoc|javadoc|answers|itemlist|topic-posts|phpbb|documentwrapper|docstring) "
)
_WORDS = re.compile(
    r"\b(?:documentation|docs|reference|manual|man ?pages?|api|readme|wiki|user guide|javadoc|changelog|faq|forums?)\b",
    re.I,
)
_ARTICLES = re.compile(
    r'"@type"\s*:\s*\[?\s*"(?:News|Blog|Report|Opinion|Analysis|Review|Scholarly|Satirical|Live)?(?:Article|BlogPosting|Posting)"'
)
_QUESTIONS = re.compile(
    r'"@type"\s*:\s*\[?\s*"(?:QAPage|Question|DiscussionForumPosting|FAQPage|TechArticle|APIReference|SoftwareSourceCode)"'
)
_POSTS = re.compile(
    r"(?:^|[\s_-])(?:answer|post|message|reply|topic-post|forum-post|comment-body|postbody|athing)(?:$|[\s_-])"
)
_PROSE = 500  # characters of running text


def is_article(tree: Tree, order: list[Node], url: str) -> bool:
    """Whether the page is one article. `order` has been scored."""
    return _for_articles(tree, order) > _for_documents(tree, order, url)


def _for_documents(tree: Tree, order: list[Node], url: str) -> float:
    metas = {(meta.get("name") or meta.get("property") or "").lower(): meta.get("content", "") for meta in tree.metas}
    points = 0.0
    if _GENERATORS.search(metas.get("generator", "")):
        points += 3
    tags = Counter(node.tag for node in order)
    points += min(2, tags["pre"]) + (tags["code"] >= 8) + (tags["dt"] >= 5) + (tags["th"] >= 4)
    points += 3 * any(_is_place(node.names()) for node in order if node.attrs)
    points += min(2, len({word.lower() for word in _WORDS.findall(f"{tree.title} {url}")}))
    if any(_QUESTIONS.search(text) for text in tree.json_ld) or any(
        "answer" in node.attrs.get("itemprop", "").lower() for node in order
    ):
        points += 4
    return points + min(2, _anchored(order)) + 3 * (_posts(order) >= 3)


@lru_cache(2048)
def _is_place(names: str) -> bool:
    return bool(_PLACES.search(names))


def _anchored(order: list[Node]) -> int:
    """How many headings link to themselves, as those of manuals do."""
    headings = [node for node in order if node.tag in HEADINGS]
    return sum(any(_leads_here(kid) for kid in walk(heading)) for heading in headings[:50])


def _leads_here(node: Node) -> bool:
    return node.tag == "a" and len(node.attrs.get("href", "")) > 1 and node.attrs["href"].startswith("#")


def _posts(order: list[Node]) -> int:
    """How many elements of one class are posts of a discussion that is most of the page."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for node in order:
        if node.good < 60 or not (names := node.attrs.get("class", "")):
            continue
        if _POSTS.search(names.lower()):
            counts[names] += 1
            sizes[names] += int(node.good)
    most = order[0].good
    return max((count for names, count in counts.items() if sizes[names] >= 0.6 * most), default=0)


def _for_articles(tree: Tree, order: list[Node]) -> float:
    metas = {(meta.get("property") or meta.get("name") or "").lower(): meta.get("content", "") for meta in tree.metas}
    points = 0.0
    points += 2 * (metas.get("og:type", "").lower() == "article")
    points += 2 * any(name in metas for name in ("article:published_time", "article:author", "parsely-pub-date"))
    points += 3 * any(_ARTICLES.search(text) for text in tree.json_ld)
    points += 2 * any("articlebody" in node.attrs.get("itemprop", "").lower() for node in order)
    body = order[0]
    if body.good >= _PROSE and body.good >= 0.3 * body.size:
        points += 1
    elif body.good < _PROSE:
        points -= 1
    return points
