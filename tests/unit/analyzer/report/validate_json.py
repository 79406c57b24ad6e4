"""Validates JSON documents (or the lines of .jsonl files) against a JSON Schema.

usage: validate_json.py SCHEMA FILE...

Standard library only: knows the keywords that the schemas beside the report module use, and stops at any other.
"""
import json
import sys

ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "format"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, root, where):
    """The list of what is wrong."""
    wrong = []
    for keyword, rule in schema.items():
        if keyword in ANNOTATIONS or keyword in ("additionalProperties",):
            continue
        if keyword == "$ref":
            target = root
            for part in rule[2:].split("/"):
                target = target[part]
            wrong += check(value, target, root, where)
        elif keyword == "type":
            names = rule if isinstance(rule, list) else [rule]
            if not any(is_type(value, name) for name in names):
                wrong.append("%s: %r is no %s" % (where, value if not isinstance(value, (dict, list)) else type(value).__name__, "/".join(names)))
        elif keyword == "const":
            if value != rule:
                wrong.append("%s: %r, expected %r" % (where, value, rule))
        elif keyword == "enum":
            if value not in rule:
                wrong.append("%s: %r is none of %r" % (where, value, rule))
        elif keyword == "anyOf":
            tries = [check(value, one, root, where) for one in rule]
            if all(tries):
                wrong += min(tries, key=len)
        elif keyword == "required":
            if isinstance(value, dict):
                wrong += ["%s: %s is missing" % (where, name) for name in rule if name not in value]
        elif keyword == "properties":
            if isinstance(value, dict):
                extra = schema.get("additionalProperties", True)
                for name, one in value.items():
                    if name in rule:
                        wrong += check(one, rule[name], root, where + "." + name)
                    elif extra is False:
                        wrong.append("%s: %s is unknown" % (where, name))
        elif keyword == "items":
            if isinstance(value, list):
                for i, one in enumerate(value):
                    wrong += check(one, rule, root, "%s[%d]" % (where, i))
        elif keyword in ("minItems", "maxItems"):
            if isinstance(value, list) and (len(value) < rule if keyword == "minItems" else len(value) > rule):
                wrong.append("%s: %d items, %s %d" % (where, len(value), keyword, rule))
        elif keyword in ("minimum", "maximum"):
            if is_type(value, "number") and (value < rule if keyword == "minimum" else value > rule):
                wrong.append("%s: %r, %s %r" % (where, value, keyword, rule))
        else:
            sys.exit("schema keyword %s is not known here" % keyword)
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) and isinstance(value, dict):
        for name, one in value.items():
            if name not in schema.get("properties", {}):
                wrong += check(one, extra, root, where + "." + name)
    return wrong


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        sys.exit("a key occurs twice: %r" % keys)
    return dict(pairs)


def conservation(document):
    """rows + others + unattributed + filtered = total, in every table of the document."""
    if "overall" in document:
        return sum((conservation(one) for one in document["steps"] + [document["overall"]]), [])
    if "rows" not in document or isinstance(document["others"], int):
        return []
    if "pinned" in document["others"]:
        parts = sum(r["pinned"]["current"] for r in document["rows"]) + document["others"]["pinned"]
        whole = document["pinned"]["current"]
        if whole != sum(s["pinned"] for s in document["segments"]):
            return ["segments do not add up to what is pinned, %d" % whole]
    elif "growth" in document["others"]:
        parts = sum(r["growth"] for r in document["rows"]) + document["others"]["growth"]
        parts += document["unattributed"]["growth"] + document["filtered"]["growth"]
        whole = document["total"]["growth"]
    else:
        parts = sum(r.get("value", r.get("flat")) for r in document["rows"]) + document["others"]["value"]
        parts += document["unattributed"] + document["filtered"]
        whole = document["total"]
    return [] if parts == whole else ["rows add up to %d, total is %d" % (parts, whole)]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    bad = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        texts = text.splitlines() if path.endswith(".jsonl") else [text]
        for number, one in enumerate(texts, 1):
            document = json.loads(one, object_pairs_hook=no_duplicates)
            for message in check(document, schema, schema, "$") + conservation(document):
                print("%s:%d: %s" % (path, number, message))
                bad += 1
    print("%d documents wrong in %d files" % (bad, len(sys.argv) - 2))
    sys.exit(1 if bad else 0)


main()
