"""What a box shows, as a list of layers: the deeper path wins, and nothing an agent can write makes more visible."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loopx_engine.errors import Refused
from loopx_engine.places.visible import Layer, Mounts, layers


@pytest.fixture
def ana(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own below `tmp_path`, which is what HOME names."""
    home = tmp_path / "home" / "ana"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def states(mounts: Mounts, **environment: str) -> dict[str, str]:
    return {layer.path: layer.state for layer in layers(mounts, environment)}


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def repository(path: Path) -> Path:
    """The least that is a git repository's data."""
    folder(path / "objects" / "info")
    folder(path / "refs")
    (path / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return path


def worktree(place: Path, common: Path, *, back: Path | None = None) -> Path:
    """Links `place` with `common` as `git worktree add` does; `back` is the place the repository believes in."""
    data = folder(common / "worktrees" / "g-1")
    (place / ".git").write_text(f"gitdir: {data}\n", encoding="utf-8")
    (data / "gitdir").write_text(f"{back or place}/.git\n", encoding="utf-8")
    (data / "commondir").write_text("../..\n", encoding="utf-8")
    return data


def test_parents_come_before_what_lies_in_them(ana: Path) -> None:
    place = folder(ana / "p" / "deep" / "place")
    found = layers(Mounts(place, hidden=(folder(place / "k"),), writable=(folder(place / "k" / "w"),)), {})
    paths = [layer.path for layer in found]
    assert all(not str(a).startswith(f"{b}/") for n, a in enumerate(paths) for b in paths[n + 1 :])


def test_home_is_an_empty_folder_with_toolchains(ana: Path) -> None:
    folder(ana / ".cargo" / "bin")
    folder(ana / ".ssh")
    found = states(Mounts(folder(ana / "place")))
    assert found[str(ana)] == "empty"
    assert found[str(ana / ".cargo" / "bin")] == "read_only"
    assert found[str(ana / "place")] == "writable"
    assert str(ana / ".ssh") not in found


def test_secrets_stay_hidden_where_the_place_is_the_whole_home(ana: Path) -> None:
    folder(ana / ".ssh")
    (ana / ".netrc").touch()
    found = states(Mounts(ana))
    assert (found[str(ana)], found[str(ana / ".ssh")], found[str(ana / ".netrc")]) == ("writable", "hidden", "hidden")


def test_deeper_path_wins_and_on_one_path_hidden_wins(ana: Path) -> None:
    place = folder(ana / "place")
    inner, again = folder(place / "keys"), folder(place / "keys" / "shown")
    found = states(Mounts(place, writable=(again,), read_only=(inner,), hidden=(inner, place.parent)))
    assert (found[str(place)], found[str(inner)], found[str(again)]) == ("writable", "hidden", "writable")


def test_hidden_file_and_missing_paths(ana: Path) -> None:
    place = folder(ana / "place")
    (place / "ledger.db").touch()
    found = states(Mounts(place, read_only=(ana / "gone",), hidden=(place / "ledger.db", ana / "nothing")))
    assert found[str(place / "ledger.db")] == "hidden"
    assert not {str(ana / "gone"), str(ana / "nothing")} & set(found)


def test_place_that_is_hidden_and_keys_that_cannot_be_hidden_are_refused(ana: Path) -> None:
    place = folder(ana / "place")
    for mounts in (
        Mounts(place, hidden=(place,)),
        Mounts(place, hidden=(Path("/"),)),
        Mounts(place, hidden=(Path("/etc"),)),
    ):
        with pytest.raises(Refused) as refused:
            layers(mounts, {})
        assert refused.value.code == "place_hidden"


@pytest.mark.parametrize("home", ["/", "/usr", "relative", "", "/nonexistent"])
def test_home_that_is_no_home_never_empties_the_system(ana: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    place = folder(ana / "place")
    monkeypatch.setenv("HOME", home)
    found = states(Mounts(place), HOME=home)
    assert not {"/", "/usr", "/etc", "/nonexistent"} & set(found)
    assert found[str(place)] == "writable"


def test_own_temporary_folder_is_empty_and_there(ana: Path) -> None:
    own = folder(ana / "tmp")
    place = folder(own / "place")
    found = states(Mounts(place), TMPDIR=str(own))
    assert (found[str(own)], found[str(place)]) == ("empty", "writable")
    assert str(folder(place / "tmp")) not in states(Mounts(place), TMPDIR=str(place / "tmp"))


def test_links_in_a_hidden_folder_are_made_again(ana: Path, tmp_path: Path) -> None:
    real = folder(ana.parent / "bo" / "place")
    (ana / "way").symlink_to(real.parent)
    found = layers(Mounts(ana / "way" / "place"), {})
    assert Layer(str(ana / "way"), "link", str(real.parent)) in found
    assert Layer(str(real), "writable") in found


def test_running_loopx_is_read_only_even_in_the_place(ana: Path) -> None:
    package = Path(__file__).resolve().parents[2] / "loopx_engine"
    assert states(Mounts(package.parent))[str(package)] == "read_only"


def test_socket_is_shown_in_a_hidden_folder(ana: Path) -> None:
    home = folder(ana / "loopx")
    place = folder(home / "places" / "g-1")
    (home / "t.sock").touch()
    found = states(Mounts(place, hidden=(home,), socket=home / "t.sock"))
    assert found[str(home / "t.sock")] == "writable"


def test_worktree_shows_its_repository_and_what_that_borrows_read_only(ana: Path) -> None:
    place = folder(ana / "places" / "g-1")
    common, lender = repository(ana / "project" / ".git"), repository(ana / "lender")
    (common / "objects" / "info" / "alternates").write_text(f"# lent\n{lender}/objects\n", encoding="utf-8")
    worktree(place, common)
    found = states(Mounts(place))
    assert {found[str(path)] for path in (place / ".git", common, lender / "objects")} == {"read_only"}
    assert str(lender) not in found


def test_repository_that_does_not_name_the_place_is_not_shown(ana: Path) -> None:
    place, other = folder(ana / "places" / "g-1"), folder(ana / "places" / "g-2")
    common = repository(ana / "private" / ".git")
    worktree(place, common, back=other)
    assert str(common) not in states(Mounts(place))


@pytest.mark.parametrize(
    "text", ["gitdir: {ssh}\n", "gitdir: ../.ssh\n", "gitdir:\n", "gitdir: \0\n", "{ssh}\n", "\udcff"]
)
def test_git_file_that_an_agent_wrote_opens_nothing(ana: Path, text: str) -> None:
    place, ssh = folder(ana / "place"), folder(ana / ".ssh")
    before = set(states(Mounts(place)))
    (place / ".git").write_text(text.format(ssh=ssh), encoding="utf-8", errors="surrogateescape")
    assert set(states(Mounts(place))) - before == {str(place / ".git")}


def test_git_pipe_that_an_agent_made_holds_nobody(ana: Path) -> None:
    os.mkfifo(folder(ana / "place") / ".git")
    assert states(Mounts(ana / "place"))[str(ana / "place" / ".git")] == "read_only"


def test_git_folder_and_link_that_an_agent_made_open_nothing(ana: Path) -> None:
    place, ssh = folder(ana / "place"), folder(ana / ".ssh")
    before = set(states(Mounts(place)))
    repository(place / ".git")
    (place / ".git" / "objects" / "info" / "alternates").write_text(f"{ssh}\n", encoding="utf-8")
    (place / ".git" / "commondir").write_text(f"{ssh}\n", encoding="utf-8")
    assert set(states(Mounts(place))) - before == {str(place / ".git")}
    linked = folder(ana / "linked")
    (linked / ".git").symlink_to(ssh)
    assert not {str(ssh), str(linked / ".git")} & set(states(Mounts(linked)))


def test_borrowed_objects_that_are_no_objects_are_not_shown(ana: Path) -> None:
    place, ssh = folder(ana / "place"), folder(ana / ".ssh")
    common = repository(ana / "project" / ".git")
    (common / "objects" / "info" / "alternates").write_text(f"{ssh}\n../../..\n", encoding="utf-8")
    worktree(place, common)
    assert not {str(ssh), str(ana / "project")} & set(states(Mounts(place)))


def test_submodule_shows_the_repository_that_names_it(ana: Path) -> None:
    place = folder(ana / "project" / "sub")
    data = repository(ana / "project" / ".git" / "modules" / "sub")
    (place / ".git").write_text("gitdir: ../.git/modules/sub\n", encoding="utf-8")
    assert str(data) not in states(Mounts(place))
    (data / "config").write_text("[core]\n\tworktree = ../../../sub\n", encoding="utf-8")
    assert states(Mounts(place))[str(data)] == "read_only"
