#!/usr/bin/env python3
"""Texts and comments use the words of the field.

Checked are the string literals of the C++ sources (messages, help, manual pages, reports are made of them), their
comments, and every Markdown page. Each pattern has the word to use instead.

    check_words.py [ROOT]      prints FILE:LINE: TEXT: WORD, use INSTEAD; exit 1 if there is any
"""
import re
import sys
from pathlib import Path

WORDS = (
    (r"peel(s|ed|ing)?", "decompress"),
    (r"(begins?|began|begun|starts?|started) anew", "restarted, reset"),
    (r"anew", "again"),
    (r"mend(s|ed|ing)?", "fix, repair"),
    (r"(is|are) told", "is recorded, is said"),
    (r"(can|cannot|could) be told", "is known"),
    (r"(does not|do not|nothing) tells?", "does not record, does not say"),
    (r"t(ell|ells|old|elling) (\w+ ){0,3}apart", "distinguish, separate"),
    (r"not told", "not recorded"),
    (r"that (is|are) none", "invalid"),
    (r"(is|are) none of", "is not among"),
    (r"(bytes|text|records|data) behind", "after"),
    (r"stands? (in|below|first|twice|beside) ", "is in, is listed"),
    (r"taken at (its|their) word", "treated as complete"),
    (r"found again", "matched"),
    (r"came and went", "was allocated and freed"),
    (r"climbs", "grows, rises, +125 KiB per snapshot"),
    (r"wanders", "no significant trend"),
    (r"(its|their) own scatter", "no significant trend"),
    (r"leave the house", "safe to share"),
    (r"hints, no proofs?", "heuristics"),
    (r"spine", "critical path"),
    (r"likeness", "similarity"),
    (r"(its|their|the|only|is a) doors?", "public header"),
    (r"(the|its|one|a|this|each) room(?! for)", "module"),
)
PATTERN = re.compile("|".join(rf"(?P<w{i}>\b{word}\b)" for i, (word, _) in enumerate(WORDS)), re.IGNORECASE)
LITERAL = re.compile(r'R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"^\s*#.*$", re.MULTILINE)


def found_in(text: str):
    for match in PATTERN.finditer(text):
        number = next(i for i in range(len(WORDS)) if match.group(f"w{i}"))
        yield match.start(), match.group(), WORDS[number][1]


def literals(source: str):
    """(offset, text) of each run of string literals with nothing but blanks between them, as one text."""
    quoted = LITERAL.sub(lambda m: m.group().replace("//", "\0\0").replace("/*", "\0\0"), source)
    blank = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), quoted)
    blank = INCLUDE.sub(lambda m: " " * len(m.group()), blank)
    start, end, text = 0, None, ""
    for match in LITERAL.finditer(blank):
        part = match.group(1) if match.group(1) is not None else match.group(2)
        if end is not None and not blank[end : match.start()].strip():
            text += part
        else:
            if text:
                yield start, text
            start, text = match.start(), part
        end = match.end()
    if text:
        yield start, text


def checked(path: Path):
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        for offset, word, instead in found_in(source):
            yield offset, word, instead
        return
    for start, text in literals(source):
        # A word of code (a metric, a column, a group of Graphviz) is no text.
        for _, word, instead in found_in(text.replace("\\n", "  ")) if " " in text else ():
            yield start, word, instead
    quoted = LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)
    for comment in COMMENT.finditer(quoted):
        for offset, word, instead in found_in(comment.group()):
            yield comment.start() + offset, word, instead


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = [root / "README.md"]
    for folder in ("include", "formats", "analyzer"):
        files += sorted(p for p in (root / folder).rglob("*") if p.suffix in (".cpp", ".hpp", ".md"))
    files += sorted((root / "examples").rglob("*.md"))
    count = 0
    for path in files:
        source = path.read_text(encoding="utf-8")
        for offset, word, instead in checked(path):
            count += 1
            print(f"{path.relative_to(root)}:{source.count(chr(10), 0, offset) + 1}: {word!r}, use: {instead}")
    if not files or len(files) < 100:
        print(f"{len(files)} files found: is {root} the root?")
        return 1
    print(f"{len(files)} files, {count} words")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
