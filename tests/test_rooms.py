"""The house's own rules: imports point down, files stay readable, nobody but the wire opens sockets."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "sift"
FLOOR = {
    "config": 0,
    "target": 0,
    "errors": 0,
    "clock": 0,
    "home": 0,
    "logs": 0,
    "metrics": 0,
    "guard": 1,
    "gate": 1,
    "auth": 1,
    "workers": 1,
    "datadir": 1,
    "process": 1,
    "fetch": 2,
    "render": 2,
    "digest": 2,
    "dcache": 2,
    "pipeline": 3,
    "batch": 4,
    "api": 5,
    "ops": 5,
    "server": 6,
    "client": 6,
    "cli": 6,
}
MODULES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
MOST_LINES = 420


def room_of(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imported_rooms(module: Path) -> Iterator[str]:
    """The rooms that a module imports, at its top or anywhere inside."""
    for node in ast.walk(ast.parse((ROOT / module).read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "sift" and len(parts) > 1 and parts[1] in FLOOR:
                yield parts[1]


@pytest.mark.parametrize("module", [m for m in MODULES if m.name != "__init__.py" or len(m.parts) > 1], ids=str)
def test_imports_point_down(module: Path) -> None:
    room = room_of(module)
    doors = {"cli": {"client", "server", "config", "errors"}}
    for other in set(imported_rooms(module)) - {room}:
        same_ground = FLOOR[room] == FLOOR[other] == 0
        assert FLOOR[other] < FLOOR[room] or same_ground or other in doors.get(room, ()), f"{module} imports {other}"


def test_every_room_has_a_floor() -> None:
    assert {room_of(module) for module in MODULES} - {"__init__"} <= set(FLOOR)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_is_read_at_one_sitting(module: Path) -> None:
    assert len((ROOT / module).read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_says_on_its_first_line_what_it_is(module: Path) -> None:
    docstring = ast.get_docstring(ast.parse((ROOT / module).read_text()))

    assert docstring
    assert docstring.splitlines()[0].endswith((".", ":"))
