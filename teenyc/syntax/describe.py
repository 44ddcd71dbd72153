"""Tokens and characters in the words of reports."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from unicodedata import name as unicode_name

from teenyc.syntax.tables import END
from teenyc.syntax.tokens import KEYWORDS, Token

_LONGEST = 40


def describe(token: Token) -> str:
    """A token as reports name it."""
    if token.kind == END and not token.text:
        return "the end"
    text = " ".join(token.text.split()) or token.kind
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1].rstrip() + "…"
    return f"keyword `{text}`" if text in KEYWORDS and text != "_" else f"`{text}`"


def unknown_character(character: str) -> dict[str, str]:
    """The facts of `UnknownCharacter`: the character if it can be seen, its number and name, what to write instead."""
    point = f"U+{ord(character):04X}"
    name = unicode_name(character, "").lower()
    shown = character if character.isprintable() and not character.isspace() else ""
    replacement = _LOOKALIKES.get(character, "")
    instead = _instead(character)
    return {"character": shown, "point": f"{point} {name}".rstrip(), "instead": instead, "replacement": replacement}


def _instead(character: str) -> str:
    if character in _LOOKALIKES:
        return f"`{_LOOKALIKES[character]}`"
    if character.isspace() or character in "\ufeff\u200b\u200c\u200d\u2060":
        return "a plain space, or nothing"
    if character == "\\":
        return "nothing: a statement goes on in the next line by itself"
    if character in "'`´‘’“”«»„":
        return 'strings with `"`'
    return _WORDS.get(character, "")


_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "²": "`x * x`",
        "³": "`x * x * x`",
        "√": "`sqrt(x)`",
        "∞": "`f32::INFINITY`",
        "∑": "`sum(x)`",
        "¬": "`!`",
        "∧": "`&`",
        "∨": "`|`",
        "⊕": "`^`",
        "±": "both cases",
        "°": "radians",
        "½": "`0.5`",
        "¼": "`0.25`",
    }
)
"""Signs of mathematics, and what is written for them."""


_LOOKALIKES: Mapping[str, str] = MappingProxyType(
    {
        "−": "-",
        "–": "-",
        "—": "-",
        "×": "*",
        "·": "*",
        "∗": "*",
        "÷": "/",
        "∕": "/",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "，": ",",
        "：": ":",
        "（": "(",
        "）": ")",
        "［": "[",
        "］": "]",
        "｛": "{",
        "｝": "}",
        "＝": "=",
        "＋": "+",
        "→": "->",
        "⇒": "=>",
        "…": "..",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "⁃": "-",
        "﹣": "-",
        "－": "-",
        "∙": "*",
        "•": "*",
        "＊": "*",
        "／": "/",
        "⁄": "/",
        "＜": "<",
        "＞": ">",
        "≪": "<<",
        "≫": ">>",
        "≡": "==",
        "！": "!",
        "；": ";",
        "\u037e": ";",
        "。": ".",
        "．": ".",
        "、": ",",
        "‚": ",",
        "＆": "&",
        "｜": "|",
        "％": "%",
        "＾": "^",
        "＃": "#",
        "＿": "_",
        "〈": "<",
        "〉": ">",
        "⟨": "<",
        "⟩": ">",
        "【": "[",
        "】": "]",
    }
)
"""Characters that are taken for those of the language, typed by habit or pasted from a text."""
