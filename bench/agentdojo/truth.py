"""What a task's ground truth says: the calls, which of them can be made together, and which values come from results."""

import ast
import inspect
import json
import operator
import re
import textwrap
from dataclasses import dataclass, field

from agentdojo.functions_runtime import FunctionsRuntime

from domain import as_text, facts_of, is_read


@dataclass(frozen=True)
class Call:
    name: str
    args: dict
    defaults: dict = field(default_factory=dict)  # what the function takes where nothing is given

    def matches(self, name, args):
        """Whether an action is this call: values as text, since a schema may turn 5 into 5.0; what is not given is left out
        or the function's default."""
        return name == self.name and self.has({k: args.get(k) for k in {**self.args, **args}})

    def has(self, args):
        """Whether these values are among the call's."""
        return all(_plain({k: v}) == _plain({k: self.args[k]}) if k in self.args else v in (None, [], "", self.defaults.get(k)) for k, v in args.items())


def _plain(value):
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if v not in (None, [])}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(float(value))
    return str(value)


def calls_of(suite, task, environment):
    defaults = {f.name: {k: p["default"] for k, p in f.parameters.model_json_schema().get("properties", {}).items() if "default" in p} for f in suite.tools}
    return [Call(c.function, json.loads(json.dumps(dict(c.args), default=str)), defaults.get(c.function, {})) for c in task.ground_truth(environment)]


def answer_of(task, texts):
    """The answer of the ground truth, with the calculation of each number in it that is worked out: the one that the task's
    own judge has, and for a time between two others those."""
    answer = re.sub(r"(?<=\d)\.(?=https?:)", ". ", task.GROUND_TRUTH_OUTPUT or "")  # "2.https://…" is no address
    workings = _workings(task) | _between(answer, texts)
    for said, working in workings.items():
        answer = re.sub(rf"(?<![\w.,:]){re.escape(said)}(?![\w:]|[.,]\d)", f"{said} ({working} = {said})", answer, count=1)
    return answer


def _workings(task):
    """What the code that judges a task computes of constants: value as text → calculation."""
    known, out = {}, {}
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(type(task).utility)))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            calculation = _calculation(node.value, known)
            if calculation and " " in calculation[0]:
                known[node.targets[0].id] = (f"({calculation[0]})", calculation[1])
                out[str(calculation[1])] = calculation[0]
    return out


OPERATORS = {ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul)}


def _calculation(node, known):
    """A calculation with constants as text, and what it comes to; None if it is none."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and len(node.args) == 1:
        return _calculation(node.args[0], known)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return str(node.value), node.value
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return None
    left, right = _calculation(node.left, known), _calculation(node.right, known)
    sign, apply = OPERATORS[type(node.op)]
    return (f"{left[0]} {sign} {right[0]}", apply(left[1], right[1])) if left and right else None


def _between(answer, texts):
    """For a time in the answer that no result has: the two times of results, one after the other, that it lies between."""
    out, times = {}, sorted({t for text in texts for t in re.findall(r"(?<=t)\d\d:\d\d(?=:\d\d)", text)})
    for said in re.findall(r"(?<![\w:])\d{1,2}:\d\d(?![\w:])", answer):
        if said.rjust(5, "0") in times:
            continue
        for earlier, later in zip(times, times[1:]):
            if _minutes(later) - _minutes(earlier) == _minutes(said):
                out.setdefault(said, f"{later} - {earlier}")
    return out


def _minutes(clock):
    hour, minute = clock.split(":")
    return 60 * int(hour) + int(minute)


class Truth:
    """The calls of a task, in order; for each, the calls whose results hold its values, and where they hold them."""

    def __init__(self, suite, task, environment):
        self.calls, self.prompt = calls_of(suite, task, environment), task.PROMPT.lower()
        self.runtime, self.environment = FunctionsRuntime(suite.tools), environment.model_copy(deep=True)
        self.texts, self.facts, self.after = [], [], []
        for n, call in enumerate(self.calls):
            self.after.append(self._after(n, call))
            value, _ = self.runtime.run_function(self.environment, call.name, dict(call.args))
            self.texts.append(as_text(value).lower())
            self.facts.append(facts_of(value))

    def _after(self, n, call):
        """A call comes after the ones whose results hold its values, and a write after all reads before it. A value that
        neither the prompt nor a result holds is worked out of all reads before it."""
        reads = [i for i in range(n) if is_read(self.calls[i].name)]
        after = set() if is_read(call.name) else set(reads)
        for value in _leaves(call.args):
            if not _says(self.prompt, value):
                holding = [i for i in range(n) if _says(self.texts[i], value)]
                after |= set(holding[:1] or reads)
        return after

    def rounds(self):
        """The calls in rounds, each of which needs no results but those of the rounds before it."""
        level = []
        for after in self.after:
            level.append(1 + max((level[i] for i in after), default=-1))
        return [[c for c, at in zip(self.calls, level) if at == n] for n in range(max(level, default=-1) + 1)]

    def plan(self, tool):
        """The calls as the steps of one plan, with references in the place of values that a result holds as they are;
        None where a value must be read out of a text or worked out, which a plan cannot say."""
        steps = []
        for n, call in enumerate(self.calls):
            try:
                params = {name: self._param(n, value) for name, value in call.args.items()}
            except LookupError:
                return None
            steps.append({"id": f"s{n}", "tool": tool(call.name), "params": params, "depends_on": [f"s{i}" for i in sorted(self.after[n])]})
        return steps

    def _param(self, n, value):
        unsaid = [v for v in _leaves(value) if not _says(self.prompt, v)]
        reads = [i for i in range(n) if is_read(self.calls[i].name)]
        if not unsaid or not reads:
            return value
        for i in reads:
            path = _path(self.facts[i], value)
            if path is not None:
                return "${steps.s%d.facts%s}" % (i, path)
        raise LookupError(value)


def _says(text, value):
    """Whether a text holds a value as a word or words of its own: "24" does not stand in "2024"."""
    return re.search(rf"(?<![\w]){re.escape(value)}(?![\w])", text) is not None


def _path(facts, value):
    """Where facts hold a value as it is."""
    if facts == value and not isinstance(value, bool):
        return ""
    children = facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ()
    for key, child in children:
        path = _path(child, value)
        if path is not None:
            return (f"[{key}]" if isinstance(key, int) else f".{key}") + path
    return None


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value).lower()
