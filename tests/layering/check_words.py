#!/usr/bin/env python3
"""Texts and comments use the words of the field.

Checked are the string literals of the C++ sources (messages, help, manual pages, reports are made of them), their
comments, and every Markdown page. Each pattern has the word to use instead.

    check_words.py [ROOT]          prints FILE:LINE: TEXT: WORD, use INSTEAD; exit 1 if there is any
    check_words.py --forms [ROOT]  counts sentence forms that hide the subject; exit 1 if a form has more places than
                                   english_forms.txt allows. That file's numbers only fall: --update writes the present ones
    check_words.py --list FORM [ROOT]  prints the places of one form
    check_words.py --self-test     planted sentences must be found
"""
import argparse
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
# Forms that make the reader search for the subject, by name: what matches, an example, the sentence to write instead.
FORMS = {
    "what-subject": (r"(?:^|[.:] |///? ?<? ?)(?:What|That which) [a-z]", "/// What two lines share is one.", "/// Two lines share one row."),
    "those-subject": (r"(?:^|[.:] |///? ?<? ?)(?:Those|One of|So (?:many|few|much)|Of (?:several|many|two|both)) [a-z]", "// Of several the last.", "// The last row wins."),
    "is-no": (r"\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z]+", "// This is no budget.", "// invalid budget"),
    "is-of": (r"\b(?:is|are) of (?:a|an|the|one|another|both|each)\b", "// It is of another build.", "// It belongs to another build."),
    "each-others": (r"\beach other's\b", "// They are each other's.", "// The two lines match."),
    "as-many": (r"\b(?:as|so) many\b", "// It holds as many.", "// Both hold ten objects."),
    "goes-on": (r"\b(?:goes|went|go|going) on\b", "// The series goes on.", "// The series continues."),
    "nobody": (r"\bnobody\b", "// Nobody knows.", "// The value is unknown."),
    "in-place-of": (r"\b(?:in|at) (?:one|another|whose|which|that) (?:place|time)s?\b", "// In one place.", "// In terms.cpp."),
}
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


def texts(path: Path):
    """(offset, text) of each comment line, each run of literals, each line of a page."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        for line in re.finditer(r"[^\n]+", re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m.group()), source, flags=re.DOTALL)):
            yield line.start(), line.group().lstrip("-*#| ")
        return
    for start, text in literals(source):
        if " " in text:
            yield start, text
    quoted = LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)
    for comment in COMMENT.finditer(quoted):
        yield comment.start(), comment.group()


def form_places(root: Path, files, form: str):
    pattern = re.compile(FORMS[form][0], 0 if form.endswith("-subject") else re.IGNORECASE)
    for path in files:
        source = path.read_text(encoding="utf-8")
        for offset, text in texts(path):
            for match in pattern.finditer(text):
                yield f"{path.relative_to(root)}:{source.count(chr(10), 0, offset) + 1}: {text[max(0, match.start() - 30):match.end() + 40].strip()}"


def check_forms(root: Path, files, update: bool) -> int:
    allowed_file = Path(__file__).with_name("english_forms.txt")
    now = {form: sum(1 for _ in form_places(root, files, form)) for form in FORMS}
    if update:
        allowed_file.write_text("".join(f"{form} {count}\n" for form, count in now.items()), encoding="utf-8")
    allowed = {line.split()[0]: int(line.split()[1]) for line in allowed_file.read_text(encoding="utf-8").splitlines()}
    failed = 0
    for form, count in now.items():
        print(f"{form}: {count} places, {allowed.get(form, 0)} allowed")
        if count > allowed.get(form, 0):
            failed = 1
            print(f"  not {FORMS[form][1]!r} but {FORMS[form][2]!r}; check_words.py --list {form} has the places")
    return failed


def self_test() -> int:
    failed = 0
    for form, (pattern, example, better) in FORMS.items():
        found = [bool(re.search(pattern, text, 0 if form.endswith("-subject") else re.IGNORECASE)) for text in (example, better)]
        if found != [True, False]:
            failed = 1
            print(f"{form}: found in {example!r}, {better!r}: {found}")
    print(f"{len(FORMS)} forms")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Words and sentence forms of comments, messages and pages.")
    parser.add_argument("root", nargs="?", default=".")
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--list", choices=FORMS)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    root = Path(arguments.root)
    files = [root / "README.md"]
    for folder in ("include", "formats", "analyzer"):
        files += sorted(p for p in (root / folder).rglob("*") if p.suffix in (".cpp", ".hpp", ".md"))
    files += sorted((root / "examples").rglob("*.md"))
    if arguments.list:
        print("\n".join(form_places(root, files, arguments.list)))
        return 0
    if arguments.forms or arguments.update:
        return check_forms(root, files, arguments.update)
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
