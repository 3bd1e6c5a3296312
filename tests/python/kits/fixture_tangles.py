"""Members of tangles by a literal reading of the links of committed fixtures."""


def grow(links, root, refused=()):
    """Return the depth of each member by a direct fixpoint; `links` lists each message's previous messages."""
    depth = {root: 0} if root in links else {}
    while True:
        more = {
            name: 1 + max(depth[p] for p in previous)
            for name, previous in links.items()
            if name not in depth and name not in refused and previous and all(p in depth for p in previous)
        }
        if not more:
            return depth
        depth |= more


def message_id(link):
    """Return the message id of a link, which may be a URI."""
    if link.startswith("ssb:message/"):
        return "%" + link.rsplit("/", 1)[1].replace("-", "+").replace("_", "/") + ".sha256"
    return link
