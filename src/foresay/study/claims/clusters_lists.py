"""Word lists of the claim on clusters: words that are alike, and words of one topic, for each text. None is in two."""

from __future__ import annotations

ALIKE, TOPICS = "like words", "topics"
WIKIPEDIA, REFERENCE = "Wikipedia", "Python reference"
LISTS: dict[str, dict[str, dict[str, str]]] = {
    WIKIPEDIA: {
        ALIKE: {
            "days": "monday tuesday wednesday thursday friday saturday sunday",
            "months": "january february march april june july august september october november december",
            "numbers": "two three four five six seven eight nine ten eleven twelve",
            "colours": "red blue green yellow black white brown purple orange grey pink",
            "countries": "france germany italy spain poland russia china japan india brazil canada mexico",
            "kin": "father mother brother sister son daughter uncle aunt wife husband cousin",
            "animals": "dog cat horse cow sheep pig wolf bear lion tiger elephant",
            "metals": "gold silver copper iron zinc tin lead nickel aluminium steel",
            "languages": "english french german spanish italian russian chinese japanese arabic latin",
            "body": "head arm leg hand foot eye ear nose mouth neck shoulder",
        },
        TOPICS: {
            "sport": "team season coach goal league match scored player tournament championship",
            "music": "album song guitar band recorded singer drums concert orchestra piano",
            "war": "army battle soldiers troops attack infantry fought regiment enemy invasion",
            "medicine": "patients disease treatment hospital symptoms surgery drug clinical cancer therapy",
            "law": "court judge trial convicted lawyer guilty jury prison sentence crime",
            "religion": "church bishop priest god faith prayer holy saint worship monastery",
            "computing": "software computer users data program server files code internet interface",
            "railways": "train station railway trains passenger locomotive platform tracks freight tram",
            "politics": "election party votes parliament candidate minister elected coalition senate democratic",
            "space": "planet star orbit moon stars galaxy earth telescope solar astronomers",
        },
    },
    REFERENCE: {
        ALIKE: {
            "exceptions": "typeerror attributeerror valueerror syntaxerror runtimeerror keyerror indexerror",
            "types": "int float complex str bytes list tuple dict set bool bytearray",
            "numbers": "zero one two three four",
            "statements": "return break continue raise import yield pass del assert try",
            "methods": "getitem getattr getattribute setattr init repr hash len iter",
            "arithmetic": "addition division multiplication modulo power shift floor unary",
        },
        TOPICS: {
            "debugger": "pdb breakpoint debugger traceback frame stack command prompt",
            "formatting": "format width precision fill padding presentation align digits",
            "matching": "pattern patterns match subject wildcard star guard capture",
            "classes": "class metaclass bases subclass inheritance mro instance descriptor",
            "names": "namespace scope global local binding nonlocal variables block",
            "characters": "string unicode ascii lowercase uppercase letter whitespace substring",
        },
    },
}
