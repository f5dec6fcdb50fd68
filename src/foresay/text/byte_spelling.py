"""How the library spells a byte as a visible character: the table of GPT-2's byte-level BPE.

Printable bytes stand for themselves; the others are U+0100, U+0101, ... in their order.
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_HIDDEN = [byte for byte in range(256) if byte not in _PRINTABLE]

SPELLING = [chr(byte) if byte in _PRINTABLE else chr(0x100 + _HIDDEN.index(byte)) for byte in range(256)]
_BYTES = {spelt: byte for byte, spelt in enumerate(SPELLING)}


def unspell(piece: str) -> bytes:
    """The bytes a spelt piece stands for; KeyError when it is no spelling."""
    return bytes(_BYTES[character] for character in piece)


def show(content: bytes) -> str:
    """Bytes for a person: text where they are whole characters, <0xE4> where not."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in content)
