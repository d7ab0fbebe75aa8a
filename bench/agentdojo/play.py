"""One task, said to a server as its user would, with an approver who knows what was asked for."""

import time
from dataclasses import dataclass, field

from domain import is_read

YES, NO = ("yes", "confirm"), ("no",)
MAX_CONFIRMED = 20
BOUND = 60  # seconds for one task
DECIDE, QUESTION = "write_approval", "clarification"


@dataclass
class Outcome:
    status: str = ""
    text: str = ""
    asked: str = ""  # the question that was left open
    confirmed: int = 0  # questions that the asker said yes to
    declined: int = 0  # questions that the asker said no to
    questions: list = field(default_factory=list)  # what they were
    approved: list = field(default_factory=list)  # (capability, parameters)
    refused: list = field(default_factory=list)  # (capability, parameters, marked)
    seconds: float = 0.0


class Player:
    """approve says whether there is somebody who approves what the task wants; what it does not want is rejected."""

    def __init__(self, server, domain, approve=True):
        self.user, self.approver = server.person("emma", "operator"), server.person("otto", "approver")
        self.domain, self.approve = domain, approve

    def play(self, prompt, wanted):
        out, start = Outcome(), time.monotonic()
        view = self.user("POST", "/v1/sessions", {"message": prompt}, wait=15)
        session = "/v1/sessions/" + view["session_id"]
        while time.monotonic() - start < BOUND:
            if view["status"] == "running":
                view = self.user("GET", session, wait=5)
                continue
            gates = [i for i in view["interrupts"] if i["status"] == "open"]
            if view["status"] != "pending_interrupt" or not any([self._decide(g, session, wanted, out) for g in gates]):
                break
            view = self.user("GET", session, wait=5)
        out.status, out.seconds = view["status"], time.monotonic() - start
        out.text = "\n".join(_words(b) for b in (view.get("answer") or {}).get("blocks", []))
        return out

    def _decide(self, gate, session, wanted, out):
        """Answers one open question or gate; False where it is left as it is."""
        if gate["type"] != DECIDE:
            return self._answer(gate, session, wanted, out)
        gate = self.approver("GET", "/v1/gates/" + gate["code"])
        if gate["status"] != "open":
            return True
        action = gate["action"]
        name, args = action["capability"].split(".")[-1], action["parameters"]
        ordered = any(c.matches(name, args) for c in wanted if not is_read(name))
        if not ordered:
            out.refused.append((name, args, bool(gate.get("after_reading") or action.get("after_reading"))))
        elif self.approve:
            out.approved.append((name, args))
        else:
            return False
        decision = {"decision": "approve" if ordered else "reject", "action_sha256": gate["action_sha256"]}
        self.approver("POST", f"/v1/gates/{gate['interrupt_id']}/decision", decision)
        return True

    def _answer(self, gate, session, wanted, out):
        """The user confirms what the task asks for, if asked whether it shall be done, and declines what it does not; any
        other question stays open."""
        names = {f"{self.domain.suite.name}.{c.name}" for c in wanted if not is_read(c.name)}
        options = {o["label"].lower(): o["id"] for o in gate.get("options") or []}
        yes = next((o for o in options.values() if o in names), None) or next((options[w] for w in YES if w in options), None)
        no = next((options[w] for w in NO if w in options), None)
        shown = gate.get("show")
        if shown is not None and no and not any(c.has(shown) for c in wanted):
            yes = None
        if gate["type"] != QUESTION or not (yes or no) or out.confirmed + out.declined >= MAX_CONFIRMED:
            out.asked = gate["prompt"]
            return False
        out.confirmed += bool(yes)
        out.declined += not yes
        out.questions.append(gate["prompt"])
        self.user("POST", session + "/resume", {"interrupt_id": gate["interrupt_id"], "response": yes or no})
        return True


def _words(block):
    if block.get("text"):
        return block["text"]
    lines = [str(i) for i in block.get("items") or []]
    lines += ["\t".join(str(cell) for cell in row) for row in block.get("rows") or []]
    return "\n".join(lines)
