"""A child's environment is built from nothing: no secret of ours is in it, whatever its name (PAINS.md A32.2)."""

from __future__ import annotations

import os

import pytest

from loopx_engine.errors import Fault
from loopx_engine.places.environment import TAG_NAME, acts_on_loader, check_environment, child_environment

SECRETS = {
    name: f"secret-of-{name}"
    for name in (
        "LOOPX_KEYS", "LOOPX_HOME", "LOOPX_LEDGER", "LOOPX_PASSPHRASE_FD", "LOOPX_TOKEN", "LOOPX_SOCKET", "LOOPX_TAG",
        "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET", "GH_TOKEN",
        "GITHUB_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "NPM_TOKEN", "PGPASSWORD", "DATABASE_URL", "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "GIT_ASKPASS", "GIT_CONFIG_COUNT", "PYTHONPATH", "PYTHONSTARTUP",
        "NODE_OPTIONS", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "HTTPS_PROXY", "Lc_all",
    )
}  # fmt: skip
PERSON = {"HOME": "/home/ana", "USER": "ana", "LOGNAME": "ana", "PATH": "/usr/bin:/bin", "LC_TIME": "de_DE.UTF-8"}
PERSON |= {"LANG": "de_DE.UTF-8", "TZ": "Europe/Berlin", "TMPDIR": "/data/tmp", "SHELL": "/bin/zsh", "TERM": "xterm"}


@pytest.mark.parametrize("made", [child_environment({}, inherit=SECRETS | PERSON), check_environment(SECRETS | PERSON)])
def test_no_secret_is_handed_to_a_child_by_name_or_value(made: dict[str, str]) -> None:
    assert not set(made) & set(SECRETS)
    assert not set(made.values()) & set(SECRETS.values())


def test_a_turn_gets_what_makes_programs_behave_as_for_the_person() -> None:
    made = child_environment({}, inherit=SECRETS | PERSON)
    assert made.items() >= PERSON.items()


def test_what_is_handed_in_comes_on_top() -> None:
    made = child_environment({TAG_NAME: "t-1", "LOOPX_TOKEN": "x", "LANG": "C"}, inherit=PERSON)
    assert (made[TAG_NAME], made["LOOPX_TOKEN"], made["LANG"]) == ("t-1", "x", "C")


@pytest.mark.parametrize("name", ["LOOPX_KEYS", "LOOPX_HOME", "LOOPX_LEDGER", "LOOPX_PASSPHRASE_FD", "LD_PRELOAD"])
def test_no_child_environment_can_be_made_to_name_keys_ledger_or_a_library(name: str) -> None:
    with pytest.raises(Fault) as refused:
        child_environment({name: "value-not-told"}, inherit=PERSON)
    assert refused.value.code == "forbidden_environment"
    assert name in refused.value.message
    assert "value-not-told" not in refused.value.message


def test_our_own_environment_is_what_is_inherited_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (SECRETS | PERSON).items():
        monkeypatch.setenv(name, value)
    assert child_environment({}) == child_environment({}, inherit=os.environ)
    assert not set(child_environment({})) & set(SECRETS)
    assert not set(check_environment()) & set(SECRETS)


def test_a_checks_language_and_zone_do_not_depend_on_who_started_the_engine() -> None:
    berlin = check_environment(PERSON)
    tokyo = check_environment(
        PERSON | {"LANG": "ja_JP.UTF-8", "LC_ALL": "ja_JP.UTF-8", "TZ": "Asia/Tokyo", "TERM": "tmux"}
    )
    assert berlin == tokyo
    assert (berlin["LANG"], berlin["LC_ALL"], berlin["TZ"], berlin["TMPDIR"]) == ("C.UTF-8", "C.UTF-8", "UTC", "/tmp")
    assert check_environment(PERSON) == berlin


@pytest.mark.parametrize("path", [".:/usr/bin", ":/usr/bin", "/usr/bin:", "bin:/usr/bin", "/usr/bin::/usr/bin:../x"])
def test_a_program_of_the_place_is_never_found_by_a_relative_path_entry(path: str) -> None:
    assert child_environment({}, inherit={"PATH": path})["PATH"] == "/usr/bin"
    assert check_environment({"PATH": path})["PATH"] == "/usr/bin"


@pytest.mark.parametrize("path", [{}, {"PATH": ""}, {"PATH": "."}])
def test_without_a_path_the_systems_own_folders_are_searched(path: dict[str, str]) -> None:
    assert "/usr/bin" in child_environment({}, inherit=path)["PATH"].split(":")


def test_what_acts_on_the_loader_is_known() -> None:
    assert all(acts_on_loader(name) for name in ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GLIBC_TUNABLES"))
    assert not any(acts_on_loader(name) for name in ("PATH", "LANG", "OLD_LD_PRELOAD", "LDFLAGS"))
