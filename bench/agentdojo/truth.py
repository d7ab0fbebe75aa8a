"""What a task's ground truth says: the calls, and which of them can be made together."""

import json
from dataclasses import dataclass

from agentdojo.functions_runtime import FunctionsRuntime

from domain import as_text, is_read


@dataclass(frozen=True)
class Call:
    name: str
    args: dict

    def matches(self, name, args):
        """Whether an action is this call: values as text, since a schema may turn 5 into 5.0; what is not given is left out."""
        if name != self.name:
            return False
        return _plain({k: args.get(k) for k in self.args}) == _plain(self.args) and all(v in (None, [], "") for k, v in args.items() if k not in self.args)


def _plain(value):
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if v not in (None, [])}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(float(value))
    return str(value)


def calls_of(task, environment):
    return [Call(c.function, json.loads(json.dumps(dict(c.args), default=str))) for c in task.ground_truth(environment)]


def rounds_of(suite, calls, prompt, environment):
    """Orders calls into rounds: a call comes after the ones whose results hold its values, and a write after all reads
    that the ground truth makes before it. A value that neither the prompt nor a result holds is worked out of all reads
    before it."""
    environment = environment.model_copy(deep=True)
    runtime, said = FunctionsRuntime(suite.tools), prompt.lower()
    results, level = [], []
    for n, call in enumerate(calls):
        reads = [i for i in range(n) if is_read(calls[i].name)]
        after = set(reads) if not is_read(call.name) else set()
        for value in _leaves(call.args):
            if value in said:
                continue
            holding = [i for i in range(n) if value in results[i]]
            after |= set(holding[:1] or reads)
        level.append(1 + max((level[i] for i in after), default=-1))
        value, _ = runtime.run_function(environment, call.name, dict(call.args))
        results.append(as_text(value).lower())
    return [[c for c, at in zip(calls, level) if at == round_] for round_ in range(max(level, default=-1) + 1)]


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value).lower()
