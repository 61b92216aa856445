"""Targets as text: the canonical form that makes two submits equal, and the options as the store keeps them.

A field that equals its literal default is left out, so that saying a default changes nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from sift.target import Caller, Target

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Target)}
_ON_THE_WIRE = {"max_age_s": "max_age"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_IN_PYTHON = {wire: name for name, wire in _ON_THE_WIRE.items()}


def canonical(targets: Iterable[Target]) -> bytes:
    """The targets as sorted compact JSON, URLs as written, in UTF-8."""
    return _json([{"url": target.url} | _said(target) for target in targets]).encode("utf-8", "surrogatepass")


def idem_key(caller: Caller, targets: Iterable[Target]) -> str:
    """Equal for the same caller and targets; hex, and nothing of them can be read from it."""
    return hashlib.sha256(caller.name.encode() + b"\0" + canonical(targets)).hexdigest()


def options_text(target: Target) -> str:
    """All of a target but its URL, as JSON; `target_of` is the way back."""
    return _json(_said(target))


def target_of(url: str, options: str) -> Target:
    """The target that was stored as `url` and `options`."""
    said = json.loads(options)
    return Target(url, **{_IN_PYTHON.get(name, name): value for name, value in said.items()})


def _said(target: Target) -> dict[str, Any]:
    said = {name: getattr(target, name) for name in _DEFAULTS if name != "url"}
    return {_ON_THE_WIRE.get(name, name): _number(value) for name, value in said.items() if value != _DEFAULTS[name]}


def _number(value: Any) -> Any:
    """`60.0` and `60` are one number, and have one spelling."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _json(value: Any) -> str:
    return _ENCODER.encode(value)
