"""What an HTML parser finds in a page or a fragment."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "wbr"}


class Markup(HTMLParser):
    """Tags, attributes, texts by tag, cells by row; a tag that does not fit fails."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.rows = [], [], [], {}, []
        self.cells = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.texts.setdefault(tag, [])
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1
            self.cells.append("")
        if tag == "br":
            self.texts[self.open[-1]][-1] += "\n"
        if tag not in VOID:
            self.open.append(tag)
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        # Also that of what is around, so that a cell has the text of its parts.
        for tag in set(self.open):
            self.texts[tag][-1] += data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data
