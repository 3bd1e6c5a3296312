"""Records: the kernel alone, and the models of records in a first build and in a night of 1 %.

The made log has 9,000 records of 10 messages, and one of 10,000, the largest that is reduced. Four people edit each
record; a third of the messages follow an earlier tip, so branches are open and merged all the time. The fields have all
three strategies, and the root of each record names its writers.
"""

import json
import random
import shutil
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from bench import builds, logs
from bench.report import Goal, at_most, say
from bench.turns import in_turns
from dbt_tangles.algorithms.record.record_batches import INPUT_SCHEMA, reduce_record_batches
from fixtures.ssb.author import Author, to_line

NAME = "records"
RECORDS, MEMBERS, LARGEST = 9_000, 10, 10_000
PEOPLE = 200
FIELDS = {"title": "overwrite", "body": "overwrite", "tags": "simple_set", "editors": "complex_set"}
TYPES = [{"tangle_name": "page", "writers": "root_field", "writers_field": "editors", "reducer": FIELDS}]
SELECTED = ("build", "--select", "+records", "+record_fields", "--exclude-resource-type", "unit_test")
#: The builds: the name of each, and the fraction of the log that it reads.
NIGHTS = (("everything", 0.99), ("1 % more", 1.0), ("nothing new", 1.0))
#: The models that only records and restricted writers need.
MODELS = (
    *("int_tangle_writer_roots", "int_tangle_writers", "int_record_messages"),
    *("int_records", "records", "record_fields"),
)
#: Limits in seconds: of the kernel on the whole log (CPU), and of these models together (clock).
KERNEL_GOAL, MODELS_GOAL = 5.0, 5.0


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Build night after night, then measure the kernel; return the figures and the goals."""
    judged = options.scale == 1
    log, growing = made_log(options.scale), logs.FOLDER / "growing-records.jsonl"
    results: list[dict] = []
    goals: list[Goal] = []
    for night, share in NIGHTS:
        shutil.copyfile(logs.head(log, share), growing)
        built = builds.build(
            NAME, growing, {"tangle_types": TYPES}, SELECTED, is_first=not results, engine=options.engine
        )
        models = seconds_of_models(options.engine)
        told = {"part": "build", "night": night, "models_s": round(sum(models.values()), 1), "models": models}
        results.append(told | built)
        goals.append(at_most(f"{night}: seconds of the models", MODELS_GOAL, results[-1]["models_s"], judged))
        if night == "everything":
            results.append(kernel_alone(options))
            goals.append(at_most("kernel, CPU seconds", KERNEL_GOAL, results[-1]["cpu_s"], judged))
    return results, goals


def kernel_alone(options: Namespace) -> dict:
    """Measure the kernel on the input that the first build made."""
    warehouse = builds.folder_of(NAME, options.engine) / "warehouse" / "tangles.db"
    table = pq.read_table(sorted((warehouse / "int_record_messages").glob("*.parquet")), columns=INPUT_SCHEMA.names)
    (spent,) = in_turns(options.repeats, partial(count_rows, table.cast(INPUT_SCHEMA)))
    result = {"part": "kernel", "messages": len(table), "records": count_rows(table.cast(INPUT_SCHEMA))}
    say(f"records: the kernel takes {spent:.2f} CPU seconds for {len(table):,} messages")
    return result | {"cpu_s": round(spent, 2)}


def count_rows(table) -> int:
    """Run the kernel; return the number of records."""
    return sum(len(batch) for batch in reduce_record_batches(iter(table.to_batches())))


def seconds_of_models(engine: str) -> dict[str, float]:
    """Return the seconds on the clock of each model of records in the last build."""
    nodes = json.loads((builds.folder_of(NAME, engine) / "target" / "run_results.json").read_text())["results"]
    took = {node["unique_id"]: node["execution_time"] for node in nodes}
    return {name: round(took[f"model.tangles.{name}"], 2) for name in MODELS}


def made_log(scale: float) -> Path:
    """Make the signed log, unless it exists already."""
    path = logs.FOLDER / f"records-{scale:g}.jsonl"
    if not path.exists():
        say(f"signing the messages of {path.name}")
        unfinished = path.with_name(f"unfinished-{path.name}")
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as out:
            out.writelines(signed_lines(scale))
        unfinished.rename(path)
    return path


def signed_lines(scale: float) -> Iterator[bytes]:
    """Publish the messages of all records in turns; the same scale gives the same lines."""
    chosen = random.Random(43)
    people = [Author.from_seed(f"bench records {number}") for number in range(PEOPLE)]
    sizes = [max(int(LARGEST * scale), 1), *[MEMBERS] * max(int(RECORDS * scale), 1)]
    turns = [record for record, size in enumerate(sizes) for _ in range(size)]
    chosen.shuffle(turns)
    pages: dict[int, Page] = {}
    for place, record in enumerate(turns):
        page = pages.setdefault(record, Page(chosen.sample(people, 4)))
        message = page.publish(chosen, 1_700_000_000_000 + place)
        yield to_line(message) + b"\n"


class Page:
    """A record that grows: its editors, root and tips."""

    def __init__(self, editors: list[Author]):
        """Begin a record that these people may edit."""
        self.editors = editors
        self.tips: list[str] = []
        self.root: str | None = None

    def publish(self, chosen: random.Random, time: int) -> dict:
        """Publish the next message: it follows all tips, or one of them."""
        author = chosen.choice(self.editors)
        previous = self.tips if chosen.random() < 0.67 else [chosen.choice(self.tips)] if self.tips else []
        links = {"root": self.root, "previous": list(previous) if self.root else None}
        content = {"type": "page", **self._fields(chosen, time, len(previous) > 1), "tangles": {"page": links}}
        message = author.publish(content, asserted_at=time, received_at=time)
        self.root = self.root or message["key"]
        self.tips = [*(tip for tip in self.tips if tip not in previous), message["key"]]
        return message

    def _fields(self, chosen: random.Random, time: int, is_merge: bool) -> dict:
        if self.root is None:
            return {"title": {"set": "new"}, "editors": {each.feed_id: {str(time): 1} for each in self.editors}}
        fields: dict = {"title": {"set": f"title {time}"}, "body": {"set": "words " * 20}} if is_merge else {}
        field = chosen.choice([*FIELDS, None])
        if field in ("title", "body"):
            fields[field] = {"set": f"{field} {chosen.randrange(3)}"}
        elif field == "tags":
            fields[field] = {f"tag {chosen.randrange(9)}": chosen.choice([1, -1])}
        elif field == "editors":
            fields[field] = {chosen.choice(self.editors).feed_id: {str(time): chosen.choice([1, -1])}}
        return fields
