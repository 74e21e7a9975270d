"""Sphinx configuration: guides in Markdown, figures in SVG, the API from the docstrings.

Pages need no network: formulas are MathML, scripts and styles come with the site.
"""

from __future__ import annotations

import html
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx_codeautolink.extension.backref import SummaryNode

import evalstats

project = "evalstats"
author = "the evalstats developers"
copyright = f"2026, {author}. BSD-3-Clause"
version = release = evalstats.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_codeautolink",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
# One backtick in a docstring is a name of ours.
default_role = "py:obj"
# Options begin with two hyphens.
smartquotes = False
html_theme = "furo"
html_title = f"evalstats {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = True
# What is typed is copied, and neither prompts nor what was printed.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.highlight-text):not(.highlight-none) > div.highlight > pre"
# The blocks of a page are one session, and the page of a name lists the pages that use it.
codeautolink_concat_default = True
codeautolink_autodoc_inject = True
# Names are documented where they are imported from, not where they are written.
codeautolink_inventory_map = {
    f"{found.__module__}.{found.__qualname__}{member}": f"evalstats.{name}{member}"
    for name, found in ((name, getattr(evalstats, name)) for name in evalstats.__all__)
    if hasattr(found, "__qualname__")
    for member in ("", *(f".{x}" for x in dir(found) if inspect.isclass(found)))
}
autodoc_typehints = "none"
autosummary_generate = True
# The frameworks of `evalstats.integrations` are not needed to describe it.
autodoc_mock_imports = ["inspect_ai", "lightning", "torch", "torchmetrics", "transformers"]
autodoc_member_order = "bysource"
nitpicky = False
# Several classes have an attribute of one name, which an "any" reference cannot tell apart.
suppress_warnings = ["ref.python"]


def leave_out_of_search(app: Any, tree: nodes.document) -> None:
    """Leave pages of other packages' names and of inner modules out of the search."""
    inner = r"api/evalstats\.(?:[a-z_]+\.|bleu_)"
    if re.match(inner, app.env.docname) and ".integrations." not in app.env.docname:
        app.env.metadata[app.env.docname]["nosearch"] = True


def name_uses(app: Any, tree: nodes.document, docname: str) -> None:
    """Give the list of the pages that use a name a heading that is no link."""
    for summary in tree.findall(SummaryNode):
        summary.children[:] = [nodes.Text("Pages that use it")]


def inline_figures(app: Any, tree: nodes.document, docname: str) -> None:
    """Put SVG figures into the page, where their colours follow the theme."""
    if app.builder.format != "html":
        return
    for image in list(tree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".svg":
            text = path.read_text(encoding="utf-8")
            svg = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg ") :], flags=re.S)
            described = nodes.make_id(image["alt"])
            svg = svg.replace("<svg ", f'<svg role="img" aria-labelledby="{described}" ', 1)
            svg = svg.replace(">", f'><title id="{described}">{image["alt"]}</title>', 1)
            svg = _with_ids_of(path.stem, svg)
            image.replace_self(
                nodes.raw("", f'<div class="drawn" tabindex="0">{svg}</div>', format="html")
            )


def _with_ids_of(name: str, svg: str) -> str:
    """Put a figure's name before its ids, which figures of a page share, and drop unused ones."""
    refers = r'(href="#|url\(#|aria-labelledby=")([^")]+)'
    used = {found for _, found in re.findall(refers, svg)}
    drawn = used & set(re.findall(r'\bid="([^"]+)"', svg))
    svg = re.sub(r' id="([^"]+)"', lambda x: f' id="{name}-{x[1]}"' if x[1] in drawn else "", svg)
    return re.sub(refers, lambda x: x[1] + (f"{name}-{x[2]}" if x[2] in drawn else x[2]), svg)


def mathml(latex: str, display: str = "inline") -> str:
    """Return a formula as MathML, "inline" or a "block" of its own, which browsers draw."""
    from latex2mathml.converter import convert

    return str(convert(latex, display=display))


def _inline_formula(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _formula(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def _is_linked(node: nodes.Node) -> bool:
    """Return whether a node is part of a link, or of a heading, which is one in the contents."""
    links = (nodes.title, nodes.reference, addnodes.pending_xref, addnodes.download_reference)
    return node.parent is not None and (isinstance(node.parent, links) or _is_linked(node.parent))


def link_names(app: Any, tree: nodes.document) -> None:
    """Lead from a public name in the prose of a guide to its page: `es.compare(...)`, `Monitor`."""
    if app.env.docname.startswith("api"):
        return
    for literal in list(tree.findall(nodes.literal)):
        match = re.match(r"es\.(\w+)|([A-Z]\w+)(?=\(|$)", literal.astext())
        name = match and (match[1] or match[2])
        if name not in evalstats.__all__ or _is_linked(literal):
            continue
        target = {"refdomain": "py", "reftype": "obj", "reftarget": f"evalstats.{name}"}
        link = addnodes.pending_xref("", literal.deepcopy(), **target, refexplicit=True)
        link["refdoc"] = app.env.docname
        literal.replace_self(link)


def keep_options_whole(app: Any, tree: nodes.document) -> None:
    """Mark the options of the command line, `--groups`, and its commands, which do not break."""
    for literal in tree.findall(nodes.literal):
        is_cell = isinstance(literal.parent.parent, nodes.entry)
        said = r"--?[a-z]|evalstats \w+$"
        if re.match(said, literal.astext()) and (is_cell or " " not in literal.astext()):
            literal["classes"].append("option")


def anchor_options(app: Any, tree: nodes.document) -> None:
    """Let a link lead to an option of the command line: `command-line.html#option-groups`."""
    if app.env.docname != "command-line":
        return
    known = set()
    for entry in tree.findall(nodes.entry):
        for literal in entry.findall(nodes.literal):
            match = re.match(r"--([a-z-]+)", literal.astext())
            if match and match[1] not in known:
                known.add(match[1])
                literal["ids"].append(f"option-{match[1]}")


def parameters(docstring: str) -> dict[str, list[str]]:
    """Return the lines of each parameter of a NumPy docstring: its type, and what it is."""
    described: dict[str, list[str]] = {}
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", docstring, re.M | re.S)
    for line in section[1].splitlines() if section else ():
        if line and not line.startswith(" "):
            described[line.partition(" :")[0]] = entry = []
        entry.append(line)
    return described


def _renamed(known: dict[str, list[str]], old: str, new: str) -> list[str]:
    if old not in known:
        return []
    first, *others = known[old]
    return [first.replace(old, new, 1), *(x.replace(f"`{new}`", f"`{old}`") for x in others)]


def repeat_parameters(app: Any, what: str, name: str, obj: Any, options: Any, lines: Any) -> None:
    """Put what an argument is in the place of "As in `estimate`", which has it."""
    for i in range(len(lines) - 1, 0, -1):
        match = re.match(r" +As in `(\w+)`", lines[i])
        if not (match and hasattr(evalstats, match[1]) and re.match(r"\w+(, \w+)+$", lines[i - 1])):
            continue
        of_other = (inspect.getdoc(getattr(evalstats, match[1])) or "").splitlines()
        # What that has of a third is said there.
        repeat_parameters(app, what, name, obj, options, of_other)
        known = parameters("\n".join(of_other))
        asked = lines[i - 1].split(", ")
        # What is `metric` there may be `metrics` here.
        repeated = [known.get(x) or _renamed(known, x.rstrip("s"), x) for x in asked]
        if all(repeated):
            lines[i - 1 : i + 1] = [line for entry in repeated for line in entry]


def link_pages(app: Any, what: str, name: str, obj: Any, options: Any, lines: Any) -> None:
    """Lead from the guide that a docstring names, "docs/method.md", to its page."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"`*docs/([\w-]+)\.md`*", r":doc:`/\1`", line)


def finish_page(app: Any, page: str, template: str, context: Any, tree: Any) -> None:
    """Say what the page is about, and let a keyboard scroll what is wider than it."""
    tags = re.sub(r'<meta name="viewport"[^>]*>\s*', "", context.get("metatags", ""))
    if tree and (first := next(iter(tree.findall(nodes.paragraph)), None)):
        about = html.escape(" ".join(first.astext().split())[:200])
        tags += f'<meta name="description" content="{about}" />'
    context["metatags"] = tags
    body = context.get("body", "").replace("<pre>", '<pre tabindex="0">')
    # An empty corner of a table is not a heading.
    body = re.sub(r'<th( class="head[^>]*)><p></p></th>', r"<td\1></td>", body)
    context["body"] = body.replace(
        '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
    )
    if "furo_navigation_tree" in context:
        captions = context["furo_navigation_tree"]
        context["furo_navigation_tree"] = captions.replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )


def close_examples(app: Any, tree: nodes.document) -> None:
    """Drop what only doctest needs: the empty line at the end of an example, and its options."""
    examples = (nodes.literal_block, nodes.doctest_block)
    for block in tree.findall(lambda node: isinstance(node, examples)):
        text = re.sub(r" *# doctest: .*", "", block.astext()).rstrip("\n")
        if block.get("language") == "python" and text.startswith(">>>"):
            block["language"] = "pycon"
        block.children[:] = [nodes.Text(text)]
        block.rawsource = text


def keep_names_together(app: Any, what: str, name: str, obj: Any, options: Any, lines: Any) -> None:
    """Join the names of attributes that share a description, which would be taken for a type."""
    for i, line in enumerate(lines):
        if match := re.match(r":(?:ivar|vartype) [^:]*,[^:]*:", line):
            kind, _, names = match[0].partition(" ")
            lines[i] = f"{kind} {names.replace(', ', ',' + chr(0x200B))}" + line[match.end() :]


def state_returns() -> None:
    """Say what public functions and methods return, so that `es.compare(...).power()` links.

    Their annotations name types that are imported for a type checker only.
    """
    for name in evalstats.__all__:
        found = getattr(evalstats, name)
        members = vars(found).values() if inspect.isclass(found) else ()
        for function in filter(inspect.isfunction, (found, *members)):
            returned = function.__annotations__.get("return")
            if returned in evalstats.__all__:
                function.__annotations__ = {"return": getattr(evalstats, returned)}


def write_markdown(app: Any, error: Exception | None) -> None:
    """Put every page beside its HTML as Markdown, and list them in `llms.txt` for assistants."""
    if error is not None or app.builder.format != "html":
        return
    listed = []
    for name in sorted(app.env.found_docs):
        source = Path(app.srcdir, f"{name}.md")
        if source.is_file():
            text = re.sub(
                r"^```\{include\} (\S+)\n(?::.*\n)?```",
                lambda match, page=source: (page.parent / match[1]).read_text("utf-8"),
                source.read_text("utf-8"),
                flags=re.M,
            )
            Path(app.outdir, f"{name}.md").write_text(text, "utf-8")
            title = app.env.titles[name].astext()
            listed.append(f"- [{title}]({name}.md)")
    about = (
        "# evalstats\n\n> Confidence intervals and p-values for the scores of generated text.\n\n"
        "Begin with [the guide for assistants](assistants.md): what to ask, which command to run, "
        "and what may be concluded.\n\n## Pages\n\n"
    )
    Path(app.outdir, "llms.txt").write_text(about + "\n".join(listed) + "\n", "utf-8")


def setup(app: Any) -> None:
    """Register the changes of pages."""
    state_returns()
    app.add_html_math_renderer("mathml", (_inline_formula, None), (_formula, None))
    # Before and after napoleon, whose priority is 500.
    app.connect("autodoc-process-docstring", repeat_parameters, priority=400)
    app.connect("autodoc-process-docstring", keep_names_together, priority=600)
    app.connect("autodoc-process-docstring", link_pages, priority=601)
    # Before code is looked through for names.
    app.connect("doctree-read", close_examples, priority=100)
    app.connect("doctree-read", link_names)
    # After the metadata are collected.
    app.connect("doctree-read", leave_out_of_search, priority=900)
    app.connect("doctree-read", anchor_options)
    app.connect("doctree-read", keep_options_whole)
    app.connect("doctree-resolved", inline_figures)
    # After the lists are made.
    app.connect("doctree-resolved", name_uses, priority=900)
    # After the theme, which makes the navigation.
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", write_markdown)
