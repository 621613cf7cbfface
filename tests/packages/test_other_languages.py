"""Sequelize and ActiveRecord: they connect, create their tables and work with them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.packages.running import ENVIRONMENTS, HERE, run

RUBY_PACKAGES = "require 'active_record'; require 'pg'"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_sequelize(server: AntumbraServer) -> None:
    folder = ENVIRONMENTS / "sequelize"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "sequelize.json", folder / "package.json")
    run(["npm", "install", "--no-audit", "--no-fund", "--silent"], folder)
    shutil.copy(HERE / "clients" / "sequelize_client.js", folder / "client.js")
    run(["node", "client.js", str(server.port)], folder)


@pytest.mark.long
def test_activerecord(server: AntumbraServer) -> None:
    ruby = shutil.which("ruby")
    if ruby is None or subprocess.run([ruby, "-e", RUBY_PACKAGES], capture_output=True, check=False).returncode:
        pytest.skip("there is no ActiveRecord: apt-get install ruby-activerecord ruby-pg")
    run([ruby, str(HERE / "clients" / "activerecord_client.rb"), str(server.port)])
