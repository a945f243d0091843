"""The rows of nouns as they are shown: pydantic models made from the records themselves, so that none is written twice."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

SECRET_FIELDS = frozenset({"token_hash"})


class Shown(BaseModel):
    """What crosses over: every field is named, nothing else is there, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


def object_of(name: str, shape: dict[str, Any]) -> type[Shown]:
    """The model of a JSON object with these fields: a type, or what `maybe` says of one."""
    given: dict[str, Any] = {key: kind if isinstance(kind, tuple) else (kind, ...) for key, kind in shape.items()}
    return create_model(name, __base__=Shown, **given)


def maybe(kind: Any) -> Any:
    """A field that is not always there."""
    return (kind, Field(default=None))


@cache
def row(cls: Any, **more: Any) -> type[Shown]:
    """A record as it is shown: all its fields but hashes of tokens, and `more`."""
    hints = get_type_hints(cls)
    shape = {item.name: hints[item.name] for item in fields(cls) if item.name not in SECRET_FIELDS}
    return object_of(cls.__name__, {**shape, **more})
