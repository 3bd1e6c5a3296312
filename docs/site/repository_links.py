"""Hook of MkDocs: links from pages to other files of the repository lead to copies of these files within the site.

A copy has the name `source/<path>.txt`, because browsers show text files and download others. After the build the hook
checks that no page loads anything from elsewhere.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(\]\()(?!\w+:|#|/)([^)\s#]+)((?:#[^)\s]*)?\))")
#: What a page loads: scripts, styles, pictures and frames with an address of another host.
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>|url\([\"']?(?:https?:)?//"
)
#: Files of the documentation that are no pages.
NOT_IN_SITE = (".ipynb", ".py")


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add a copy of every repository file that a page links to."""
    wanted = set()
    for page in files.documentation_pages():
        for link in LINK.finditer(page.content_string):
            path = _outside(page.src_uri, link[2])
            if path is not None:
                wanted.add(path)
    for path in sorted(wanted):
        files.append(File.generated(config, _copy_of(path), content=_text(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to repository files lead to their copies."""

    def replaced(link: re.Match[str]) -> str:
        path = _outside(page.file.src_uri, link[2])
        if path is None:
            return link[0]
        return f"{link[1]}{posixpath.relpath(_copy_of(path), posixpath.dirname(page.file.src_uri))})"

    return LINK.sub(replaced, markdown)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Check that the site loads its own files only.

    Raises:
        ValueError: A page or stylesheet loads a file from another host.
    """
    site = Path(config.site_dir)
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        loaded = LOADED.search(path.read_text())
        if loaded:
            raise ValueError(
                f"{path.relative_to(site)} loads from elsewhere: {loaded[0]}; bundle that file in docs/site"
            )


def _outside(page: str, link: str) -> str | None:
    """Return the path in the repository of a link's target, or None for a target within the site."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    if path.startswith("docs/") and not path.endswith(NOT_IN_SITE) and not (ROOT / path).is_dir():
        return None
    if not (ROOT / path).exists():
        raise FileNotFoundError(f"docs/{page} links to {link}, which is not in the repository: mend the link")
    return path


def _copy_of(path: str) -> str:
    return f"source/{path}.txt"


def _text(path: str) -> str:
    """Return the content of a file, or the names in a folder."""
    target = ROOT / path
    if target.is_dir():
        return "\n".join(sorted(each.name for each in target.iterdir())) + "\n"
    return target.read_text()
