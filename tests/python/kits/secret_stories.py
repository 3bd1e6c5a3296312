"""SSB lines full of secrets, in a network with a key of its own."""

import json
from base64 import b64encode
from hashlib import sha256
from itertools import count

from fixtures.ssb.author import Author, box, to_line, to_uri
from group_kit import NULL, add, epoch_init, exclude, feed, place, root_init
from leaks import in_hex, other_alphabet, spellings

PASSPHRASE = "correct horse battery staple"
NETWORK_KEY = sha256(b"the key of a network").digest()


class SecretLog:
    """Lines full of secrets: each secret in base64 by name, the names of stored ones, and message ids by name."""

    def __init__(self):
        self.lines, self.secrets, self.stored, self.ids = [], {}, set(), {}
        self.author = Author.from_seed("secrets", hmac_key=NETWORK_KEY)
        self.clock = count(1_600_000_000_000)

    def key(self, name, is_stored=True):
        """Make a secret of 32 bytes with different spellings in the two alphabets of base64."""
        for number in count():
            raw = sha256(f"{name} {number}".encode()).digest()
            spelt = b64encode(raw).decode()
            if {"+", "/"} < {*spelt}:
                break
        assert name not in self.secrets
        self.secrets[name] = spelt
        if is_stored:
            self.stored.add(name)
        return spelt

    def say(self, name, content):
        """Publish a message with this content."""
        message = self.author.publish(content, next(self.clock))
        self.ids[name] = message["key"]
        self.lines.append(to_line(message))
        return message

    def sign(self, content):
        """Sign a message of a high sequence, without publishing it."""
        return self.author.publish(content, next(self.clock), sequence=99)

    def place(self, root, *previous):
        """Make a place in a tangle from names of messages; other strings stay as they are."""
        root, *previous = (to_uri(self.ids[one]) if one in self.ids else one for one in (root, *previous))
        return place(root, *previous)


def tell_of_places(log):
    """Add secrets in all places of messages, valid or not."""
    root_key = log.key("root")
    log.say("root", root_init(root_key))
    root = log.place("root", "root")
    key = log.key("epoch")
    log.say("epoch", epoch_init(key, root, root))
    log.say("add", add(key, root, log.place("epoch", "epoch"), [feed("a")], oldSecrets=[root_key, log.key("old")]))

    key = log.key("text")
    text = f"the key is {key}, " + ", ".join(spellings(key)) + "".join(f"x{each}y" for each in spellings(key))
    log.say("text", add(key, root, root, [feed("a")], text=text))
    key = log.key("version 1")
    recps = ["%cloak.cloaked", log.author.feed_id]
    old = {"type": "group/add-member", "version": "v1", "groupKey": key, "root": log.ids["root"], "recps": recps}
    log.say("version 1", old)
    key = log.key("po-box")
    log.say("po-box", {"type": "group/po-box", "keys": {"poBoxId": "ssb:identity/po-box/x", "key": key, "scheme": "x"}})
    key = log.key("names")
    log.say("names", {"type": "group/other", "secret": key} | {spelt: {spelt: 1} for spelt in spellings(key)})
    key = log.key("tangles")
    tangles = {
        key: NULL,
        in_hex(key): place(key, key, other_alphabet(key)),
        other_alphabet(key): 7,
        "members": place(other_alphabet(key), in_hex(key), f"%{key}.sha256"),
        "group": place(f"%{key}.sha256", f"ssb:message/classic/{other_alphabet(key)}"),
    }
    log.say("tangles", {"type": "group/add-member", "secret": key, "tangles": tangles})
    key = log.key("legacy")
    log.say("legacy", {"type": "group/other", "secret": key, "root": key, "branch": [in_hex(key)]})


def tell_of_fields(log):
    """Add valid messages with secrets in other fields."""
    root = log.place("root", "root")
    key = log.key("free tangle")
    tangles = {
        "group": root,
        "members": log.place("root", "root", key, in_hex(key)),
        key: NULL,
        f"x{key}": place(key, key),
    }
    log.say("free tangle", add(key, root, root, [feed("free")], tangles=tangles))
    key = log.key("feeds")
    as_feeds = [f"ssb:feed/bendybutt-v1/{other_alphabet(key)}", key, f"@{key}.ed25519", in_hex(key)]
    log.say("feeds", exclude(root, root, [feed("a"), *as_feeds]))
    key = log.key("added")
    log.say("added", add(key, root, root, [f"ssb:feed/bendybutt-v1/{other_alphabet(key)}"]))
    key = log.key("previous")
    log.say("previous", epoch_init(key, root, log.place("root", "root", key, in_hex(key), other_alphabet(key))))
    key = log.key("ids")
    as_id = f"ssb:message/classic/{other_alphabet(key)}"
    recps = [f"ssb:identity/group/{other_alphabet(key)}", f"ssb:feed/bendybutt-v1/{other_alphabet(key)}"]
    log.say("ids", epoch_init(key, place(as_id, as_id), log.place("root", "root"), recps=recps))
    log.say("ids of epoch", epoch_init(key, place(as_id, as_id), place(as_id, as_id), recps=recps))
    log.say("ids of add", add(key, place(as_id, as_id), place(as_id, as_id), recps[1:], recps=recps))

    # Values of secret fields are hidden, whatever their form.
    key, other = log.key("beside junk"), log.key("in junk")
    junk = [key, PASSPHRASE, 7, None, [other], {"a": other}, key]
    log.say("beside junk", add(key, root, root, [feed("a")], oldSecrets=junk))
    log.say("passphrase", root_init(PASSPHRASE))
    log.say("no string", {"type": "group/init", "secret": {PASSPHRASE: PASSPHRASE}, "groupKey": [[PASSPHRASE]]})


def tell_of_copies(log):
    """Add secrets in losing copies, invalid messages, and decrypted lines of all shapes."""
    root = log.place("root", "root")
    key = log.key("bad signature")
    log.lines.append(to_line(log.sign(root_init(key))).replace(b'"v2"', b'"v1"'))
    key = log.key("bad signature of a good one")
    message = log.sign(add(key, root, root, [feed("a")]))
    message["value"]["timestamp"] += 1
    log.lines.append(to_line(message))

    sealed = log.author.publish(box(b"sealed"), next(log.clock))
    shown = add(log.key("decrypted"), root, root, [feed("new")], text=log.secrets["decrypted"])
    value = sealed["value"]
    meta = {"private": True, "originalContent": value["content"], "unbox": log.key("envelope", False)}
    log.lines.append(to_line(sealed | {"value": value | {"content": shown}, "meta": meta}))
    log.ids["decrypted"] = sealed["key"]
    sealed = log.author.publish(box(b"sealed again"), next(log.clock))
    value = sealed["value"]
    shown = root_init(log.key("decrypted before"), junk=in_hex(log.secrets["decrypted before"]))
    unboxed = {"content": shown, "cyphertext": value["content"], "private": True, "unbox": log.key("unbox", False)}
    log.lines.append(to_line(sealed | {"value": value | unboxed}))
    sealed = log.author.publish(box(b"sealed once more"), next(log.clock))
    value = sealed["value"]
    shown = {"type": "group/po-box", "keys": {"key": log.key("decrypted with meta")}}
    meta = {"private": True, "unbox": log.key("meta unbox", False), "original": {"content": value["content"]}}
    log.lines.append(to_line(sealed | {"value": value | {"content": shown, "meta": meta}}))

    # One message with several claimed contents: one of them counts.
    sealed = log.author.publish(box(b"who knows"), next(log.clock))
    log.ids["rivals"] = sealed["key"]
    for number in range(3):
        shown = add(log.key(f"rival {number}", False), root, root, [feed("rival")], text=f"{number}")
        meta = {"private": True, "originalContent": sealed["value"]["content"]}
        log.lines.append(to_line(sealed | {"value": sealed["value"] | {"content": shown}, "meta": meta}))
    log.lines.append(to_line(sealed))


def tell_of_lines(log):
    """Add secrets in lines without a message or with a reject reason."""
    whole = to_line(log.sign(root_init(log.key("cut off", False))))
    log.lines += [whole[:-30], whole[: whole.index(b"tangles")], whole + b"}", b'"' + whole, b"[" + whole + b"]"]
    log.lines += [json.dumps(root_init(log.key("bare", False))).encode(), log.key("only", False).encode()]
    log.lines.append(b"x" * 3_000_000 + whole)
    key = log.key("said twice")
    before = log.key("said before", False)
    twice = to_line(log.sign(root_init(key))).replace(b'"secret":', b'"secret":"%b","secret":' % before.encode())
    log.lines.append(twice)

    # Stored with a reason, or not.
    key = log.key("too long")
    log.lines.append(to_line(log.sign(root_init(key, text=key * 300))))
    key = log.key("too deep", False)
    log.lines.append(
        to_line(log.sign(root_init(key, text="?"))).replace(b'"?"', b"[" * 3000 + b'"%b"' % key.encode() + b"]" * 3000)
    )
    key = log.key("other format", False)
    value = log.sign(root_init(key))["value"]
    log.lines.append(to_line({"key": "%x", "value": value | {"author": feed("other")}}))
    log.lines.append(to_line({"key": "%y", "value": dict(sorted(value.items()))}))
    log.lines.append(to_line({"value": value | {"extra": key}}))
    log.lines.append(to_line({"value": {"author": "@a", "content": root_init(key)}}))
    log.lines.append(to_line({"seq": 1, "value": {"key": "%z", "value": value, "timestamp": 1}}))
    # A link in an invalid form.
    key = log.key("in previous", False)
    log.lines.append(to_line(log.author.publish({"type": "post"}, 1, previous=root_init(key, text=in_hex(key)))))
    key = log.key("in an array of previous", False)
    log.lines.append(to_line(log.author.publish({"type": "post"}, 1, previous=["x", root_init(key)])))
    key = log.key("in an array of contents", False)
    log.lines.append(to_line(log.author.publish([[root_init(key)]], 1)))


def tell_of_networks(log):
    """Add messages of the network, of the public one and of another one."""
    member = Author.from_seed("member", hmac_key=NETWORK_KEY)
    messages = [member.publish({"type": "post", "text": text}, 1) for text in ("a", "\ud800 é")]
    messages += [Author.from_seed("public").publish({"type": "post", "text": "b"}, 1)]
    messages += [Author.from_seed("member", hmac_key=b"K" * 32).publish({"type": "post", "text": "c"}, 1)]
    log.lines += map(to_line, messages)


def secret_log():
    log = SecretLog()
    tell_of_places(log)
    tell_of_fields(log)
    tell_of_copies(log)
    tell_of_lines(log)
    tell_of_networks(log)
    return log
