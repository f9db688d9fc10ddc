"""What README and docs/ say is checked against what there is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import yaml

from retrokit.cli import main
from retrokit.cli.app import COMMANDS
from retrokit.integration import Integration

REPO = Path(__file__).parent.parent
README = REPO / "README.md"
DOCS = sorted((REPO / "docs").rglob("*.md"))
PAGES = [README, REPO / "CHANGELOG.md", *DOCS, *sorted(REPO.glob("[!.]*/README.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
COMMON = {"--json", "--help"}
HelpOf = Callable[[str], set[str]]


def name_of(path: Path) -> str:
    return str(path.relative_to(REPO))


def blocks(path: Path, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return [body for tag, body in FENCE.findall(path.read_text("utf-8")) if tag == language]


def prose(path: Path) -> str:
    """Return a page without its fenced blocks."""
    return FENCE.sub("", path.read_text("utf-8"))


def code(path: Path) -> list[str]:
    """Return each line of code a page shows: of fenced blocks, and code spans."""
    text = re.sub(r"\\\n\s*", " ", path.read_text("utf-8"))
    fenced = [line for _, body in FENCE.findall(text) for line in body.splitlines()]
    return fenced + SPAN.findall(FENCE.sub("", text))


def calls(path: Path) -> list[tuple[str, str]]:
    """Return each ``retrokit COMMAND …`` a page shows, as command and rest of the line."""
    pattern = re.compile(r"(?:^|[\s/])retrokit ([a-z][a-z-]*)(.*)")
    return [match.groups() for line in code(path) if (match := pattern.search(line))]


@pytest.fixture
def help_of(capsys: pytest.CaptureFixture[str]) -> HelpOf:
    def ask(command: str) -> set[str]:
        assert main([command, "--help"]) == 0
        return set(re.findall(r"^\s+(--[a-z][a-z-]*)", capsys.readouterr().out, re.MULTILINE))

    return cache(ask)


def test_readme_shows_every_command_and_no_other() -> None:
    assert {command for command, _ in calls(README)} == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_calls_are_of_commands_with_their_options(page: Path, help_of: HelpOf) -> None:
    wrong = []
    for command, rest in calls(page):
        if command not in COMMANDS:
            wrong.append(command)
            continue
        wrong += [f"{command} {option}" for option in OPTION.findall(rest)
                  if option not in help_of(command)]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize("command", [c for c in COMMANDS if (REPO / f"docs/{c}.md").is_file()])
def test_page_of_a_command_names_its_options(command: str, help_of: HelpOf) -> None:
    named = {
        option for line in code(REPO / f"docs/{command}.md") for option in OPTION.findall(line)
    }
    assert named | COMMON == help_of(command) | COMMON


def test_readme_names_only_options_that_some_command_has(help_of: HelpOf) -> None:
    known = {option for command in COMMANDS for option in help_of(command)} | {"--version"}
    named = {option for span in SPAN.findall(prose(README)) for option in OPTION.findall(span)}
    assert named <= known


def anchors(path: Path) -> set[str]:
    """Return the anchors a page has, as GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    text = SPAN.sub("", prose(page))
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text):
        if re.match(r"https?://", link):
            continue
        target, _, anchor = link.partition("#")
        path = page.parent / target if target else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            dead.append(link)
    assert dead == []


def test_every_page_is_reached_from_the_index() -> None:
    index = REPO / "docs/index.md"
    linked = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)", prose(index))}
    assert [name_of(page) for page in DOCS if page != index and page.resolve() not in linked] == []


def test_media_are_small_and_shown() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    media = [path for path in (REPO / "docs/media").iterdir() if path.is_file()]
    assert media
    assert [path.name for path in media if path.name not in text] == []
    assert [path.name for path in media if path.stat().st_size > 200_000] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_can_be_read(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page, "python")):
        compile(block, f"{name_of(page)} block {number}", "exec")
    for block in blocks(page, "yaml"):
        keys = yaml.safe_load(block)
        if {"game", "system", "core"} & keys.keys():  # a whole integration, not a part of one
            (tmp_path / "game.yaml").write_text(block, "utf-8")
            assert Integration.load(tmp_path / "game.yaml").game == keys["game"]


def test_environment_variables_of_the_code_are_those_of_the_readme() -> None:
    pattern = re.compile(r"\b(RETROKIT_[A-Z]+|NO_COLOR)\b")
    source = "".join(path.read_text("utf-8") for path in (REPO / "retrokit").rglob("*.py"))
    read = set(re.findall(r'environ(?:\.get\(|\[)"(RETROKIT_[A-Z]+|NO_COLOR)"', source))
    assert set(pattern.findall(README.read_text("utf-8"))) == read


def test_readme_names_real_extras_and_targets() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {
        extra
        for line in code(README)
        for listed in re.findall(r"(?:retrokit|\.)\[([a-z,]+)\]", line)
        for extra in listed.split(",")
    }
    assert extras <= project["optional-dependencies"].keys()
    targets = set(re.findall(r"^([a-z]+):", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE))
    used = {target for line in code(README) for target in re.findall(r"^make ([a-z]+)", line)}
    assert {"demo", "test"} <= used <= targets


def test_architecture_names_every_module() -> None:
    text = (REPO / "docs/architecture.md").read_text("utf-8")
    package = REPO / "retrokit"
    modules = [*package.glob("*.py"), *package.glob("discovery/*.py")]
    wanted = {path.name for path in modules if path.name != "__init__.py"}
    wanted |= {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert sorted(name for name in wanted if f"`{name}" not in text) == []
