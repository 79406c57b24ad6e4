"""What the languages share: running tools, the table of paths, and bodies of functions."""

import shutil
import subprocess


class Missing(Exception):
    """A tool that this machine does not have."""


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Missing(tool)


def write_table(table, file):
    lines = [f"{p.count} {p.size} {len(p.steps)} {' '.join(map(str, p.steps))}\n" for p in table]
    file.write_text("".join(lines))


def run_under_heaptrack(folder, table, out):
    write_table(table, folder / "table")
    run(["heaptrack", "-o", str(out), str(folder / "prog"), str(folder / "table")], cwd=folder)
    return next(out.parent.glob(out.name + "*"))


class Language:
    """A program as source text of one language: the bodies of its functions are nested conditions."""
    comment = "//"
    indent = "  "
    end_if = "}"
    named = True  # profiles hold the names of functions
    helpers = {}  # by flavour: the program's own function, or file, that a site has allocate for it

    def body(self, program, steps, depth, out):
        pad = self.indent * depth
        for step in steps:
            if step.kind == "comment":
                out.append(f"{pad}{self.comment} what comes next depends on the order of arrival")
            elif step.kind == "site":
                self.conditional(pad, self.at(step.uid), [self.site(program, step)], out)
            elif step.kind == "helper":
                asked = self.any_of([self.here(uid) for uid in step.covers])
                self.conditional(pad, asked, [self.call(program, step)], out)
            elif step.body:
                out.append(pad + self.open_if(self.at(step.uid)))
                self.body(program, step.body, depth + 1, out)
                if self.end_if:
                    out.append(pad + self.end_if)
            else:
                self.conditional(pad, self.at(step.uid), [self.call(program, step)], out)

    def conditional(self, pad, asked, lines, out):
        out.append(pad + self.open_if(asked))
        out.extend(pad + self.indent + line for line in lines)
        if self.end_if:
            out.append(pad + self.end_if)

    def any_of(self, conditions):
        return " || ".join(conditions)

    def at(self, uid):
        return f"at({uid})"

    def here(self, uid):
        return f"is({uid})"

    def open_if(self, asked):
        return f"if ({asked}) {{"

    def real_size(self, size, flavour):
        return size

    def arguments(self, folder):
        """What snapdiff is told beside the profile."""
        return []
