"""The classes that Spark's JVM loads beside Spark: our functions and pipelines, and an archive.

There are two places. Set-up makes one beside the installed packages, for all data folders: our
classes in a jar, and an archive of all parsed classes that Spark loads (application class data
sharing, JEP 350), which halves the time of a start. Without it each data folder compiles our
classes for itself. An archive holds for one Java and for one class path, by name and time of
change; the JVM checks that and starts without the archive otherwise.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from py4j.java_gateway import JavaGateway

# In the order of their compilation: each knows those before it.
NAMES = ("spark_functions", "spark_rows", "spark_prepared", "spark_pipelines")
SOURCES = tuple(Path(__file__).with_name(f"{name}.java") for name in NAMES)
ARCHIVE_NAME = "classes.jsa"


@dataclass(frozen=True, slots=True)
class SparkClasses:
    """Entries of the JVM's class path, in its order, and JVM options.

    Attributes:
        functions: a jar, or a folder, which must exist when the JVM starts.
        configuration: SPARK_CONF_DIR, which is in the class path too.
    """

    functions: Path
    configuration: Path
    options: tuple[str, ...] = ()

    @property
    def are_packed(self) -> bool:
        """True when our functions are compiled, and in a jar."""
        return self.functions.suffix == ".jar"


def shared_folder() -> Path:
    """Return the folder that set-up makes for all servers of this installation.

    Its name has our digest.
    """
    return Path(sys.prefix).resolve() / "share" / "antumbra" / f"spark-{sources_digest()}"


def spark_classes(own: Path) -> SparkClasses:
    """Return what set-up has made, or else the folder below `own`, where the functions are compiled
    at the first start.
    """
    shared = shared_folder()
    if (shared / ARCHIVE_NAME).exists():
        return archived_classes(shared)
    return own_classes(own)


def own_classes(folder: Path) -> SparkClasses:
    """Return the class path of a data folder, without an archive."""
    return SparkClasses(folder / "classes", folder / "configuration")


def archived_classes(folder: Path) -> SparkClasses:
    """Return the class path that belongs to the archive in `folder`.

    A JVM that can't use the archive does without it, and says nothing.
    """
    options = (
        f"-XX:SharedArchiveFile={folder / ARCHIVE_NAME}",
        "-Xshare:auto",
        "-Xlog:cds=off",
        "-Xlog:cds+dynamic=off",
    )
    return SparkClasses(folder / "functions.jar", folder / "configuration", options)


def compile_classes(gateway: JavaGateway, classes: SparkClasses) -> None:
    """Compile our Java with Spark's own compiler, unless a jar has it or these texts were compiled
    there.
    """
    if classes.are_packed:
        return
    stamp = classes.functions / f"{sources_digest()}.compiled"
    if classes_are_whole(stamp):
        return
    write_classes(stamp, compiled(gateway))


def compiled(gateway: JavaGateway) -> dict[str, bytes]:
    """Return the class files of our Java sources by their paths in a folder or a jar."""
    found: dict[str, bytes] = {}
    before = None
    for source in SOURCES:
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        if before is not None:
            compiler.setParentClassLoader(before.getClassLoader())
        compiler.cook(source.read_text())
        before = compiler
        classes = compiler.getBytecodes()
        # An array, since the end of a Java iterator is an exception that PySpark would convert
        # before there is a session.
        names = classes.keySet().toArray()
        for name in (names[index] for index in range(len(names))):
            found[name.replace(".", "/") + ".class"] = bytes(classes[name])
    return found


def write_classes(stamp: Path, classes: Mapping[str, bytes]) -> None:
    """Write files beside `stamp`, and their digests into it, without a sync.

    A file that a power loss spoils is compiled again.
    """
    for name, code in classes.items():
        target = stamp.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(code)
    stamp.write_text("".join(f"{digest(code)} {name}\n" for name, code in classes.items()))


def classes_are_whole(stamp: Path) -> bool:
    """Tell whether the files that `stamp` lists are as they were written."""
    try:
        lines = stamp.read_text(errors="replace").splitlines()
        listed = [line.split(" ", 1) for line in lines]
        return bool(listed) and all(digest((stamp.parent / name).read_bytes()) == told for told, name in listed)
    except (OSError, ValueError):
        return False


def sources_digest() -> str:
    """Return a digest of our Java sources."""
    return digest(b"".join(source.read_bytes() for source in SOURCES))[:16]


def digest(data: bytes) -> str:
    """Return a checksum as text."""
    return hashlib.sha256(data).hexdigest()
