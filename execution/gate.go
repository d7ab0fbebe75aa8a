package execution

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution/runstate"
)

// openGate requests approval for exactly this action. If it was approved before and has changed,
// the gate shows the difference; revoked is the reason if a key was revoked.
func openGate(t *activation, action contracts.Action, hash, revoked string) {
	p := t.n.policy
	i := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Action: &action, ActionSHA256: hash, Evidence: t.row.Evidence,
		Prompt: contracts.CleanSummary(gateview.Mark(t.n.Spec.AfterReading) + approvalPrompt(t)), Reason: p.Reason, AfterReading: t.n.Spec.AfterReading,
		Roles: p.Approval.Roles, Quorum: p.Approval.Quorum, Review: p.Eyes(), FourEyes: p.Eyes().Rank() > 0,
		Requesters: requesters(t.run.Run.Plan.Owner, runstate.Contributors(t.run, t.n.Node)), Initiator: t.run.Run.Plan.Owner.Subject(), RequestedAt: requestedAt(t),
		Options: []contracts.InterruptOption{
			{ID: string(contracts.DecisionApprove), Label: "Approve"},
			{ID: string(contracts.DecisionReject), Label: "Reject"},
			{ID: string(contracts.DecisionEdit), Label: "Edit the parameters"},
		},
	}
	describeChanges(t, &i)
	if !matchesPinned(t) && !p.ApprovalRequired {
		i.Reason = "the capability has changed since the plan was made"
	}
	i.Reason = cmp.Or(revoked, i.Reason)
	schedule(&i, p.Approval, t.now())
	i.Warning = t.env().poolWarning(i)
	t.row.Step, t.row.ApprovedSHA256 = runstate.StepGate, ""
	t.ask(i, contracts.NodeAwaitingApproval)
	watchExpiry(t.timers, t.n)
}

// schedule sets the reviewers of a gate and its reminder, escalation and expiry. Expiry counts from
// the time when the gate can be decided.
func schedule(i *contracts.Interrupt, p contracts.ApprovalPolicy, now time.Time) {
	after := func(seconds int) *time.Time { return new(now.Add(time.Duration(seconds) * time.Second)) }
	i.Reviewers, i.RemindS, i.ExpiresAt = p.People, p.RemindS, after(p.WaitS+p.ExpiresS)
	if p.WaitS > 0 {
		i.DecidableAt = after(p.WaitS)
	}
	if p.EscalateS > 0 {
		i.EscalateAt, i.EscalateTo = after(p.EscalateS), p.EscalateTo
	}
}

// describeChanges adds the difference from the previous action to a gate: from that of the same
// node, or of the round whose look-ups were out of date.
func describeChanges(t *activation, i *contracts.Interrupt) {
	before, stale := t.n.Gate, ""
	if round := runstate.Before(t.run, t.n.Node); before == nil && round != nil && round.Row.Error != nil {
		before, stale = round.Gate, round.Row.Error.Message+" "
	}
	if before == nil || before.Action == nil {
		return
	}
	i.Difference = Difference(*before.Action, *i.Action)
	if t.row.Edited == nil || before.Status == contracts.InterruptApproved {
		i.Reason = "stale_approval: what was approved is no longer what would run. " + stale + i.Reason
	}
}

// watchExpiry sets a timer for the expiry of the node's interrupt.
func watchExpiry(on *timers, n *node) {
	if n.Gate != nil && n.Gate.ExpiresAt != nil && runstate.Awaits(n.State()) {
		on.add(timer{at: *n.Gate.ExpiresAt, node: n})
	}
}

// approvalPrompt describes in one line what will be done. A value that was chosen from a list is
// shown by its label. It is for people; the approval is bound to the action and its hash.
func approvalPrompt(t *activation) string {
	spec, row := &t.n.Spec, t.row
	labels := map[string]string{}
	for _, e := range row.Evidence {
		if step, ok := strings.CutSuffix(e.Path, ".label"); ok {
			labels[step+".value"] = asText(e.Value)
		}
	}
	if item, is := spec.Item.(map[string]any); is && item["label"] != nil {
		labels["item.value"] = asText(item["label"])
	}
	given := contracts.Interrupt{Action: &contracts.Action{Parameters: row.Params}}
	if row.Edited == nil {
		given.Evidence = spec.Evidence
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(row.Params)) {
		label := given.Label(name)
		if planned, ok := spec.Params[name].(string); ok {
			label = cmp.Or(labels[strings.TrimSuffix(strings.TrimPrefix(planned, "${"), "}")], label)
		}
		text := asPart(cmp.Or(label, paramText(row.Params[name])))
		switch {
		case label == "" && (gateview.IsDigest(row.Params[name]) || gateview.IsArtifact(row.Params[name])), row.Params[name] == "" && label != "":
			continue // not readable for a person
		case t.n.entry.Capability.Metadata.ParameterSpecs[name].PII:
			text = "•••" // prompts are shown more widely than gates; the gate shows it
		}
		parts = append(parts, gateview.ParameterWords(name)+": "+text)
	}
	return contracts.CleanSummary(strings.TrimSpace(gateview.AsksFor(spec.Tool) + " " + strings.Join(parts, "; ")))
}

// maxPart limits a value in a prompt, including its quotation marks.
const maxPart = 80

// asPart quotes and shortens a value, so that it cannot look like several parts of a prompt or push
// other parts out of it.
func asPart(text string) string {
	written := func(text string) string {
		if strings.Contains(text, ";") {
			return strconv.Quote(text)
		}
		return text
	}
	out, runes := written(text), []rune(text)
	for most := min(len(runes), maxPart-1); utf8.RuneCountInString(out) > maxPart; most-- {
		out = written(string(runes[:most]) + "…")
	}
	return out
}

func requestedAt(t *activation) *time.Time {
	if at := t.run.Run.CreatedAt; !at.IsZero() {
		return &at
	}
	return nil
}

// answerWarning warns the person who answers a question of a node that they cannot approve the
// action that the answer shapes.
func answerWarning(t *activation) string {
	if !t.run.ServesReviewed(t.n.Node) {
		return ""
	}
	return "Whoever answers this has a part in what will be done, and cannot approve it."
}

// requesters returns all who requested an action or contributed to it.
func requesters(owner contracts.Principal, editors []string) []string {
	var out []string
	for _, who := range append([]string{owner.ID, owner.OnBehalfOf}, editors...) {
		if who != "" && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	return out
}

// codeAlphabet has no characters that people confuse.
const codeAlphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

// NewCode returns the random short code of a gate.
func NewCode() string {
	random := rand.Text()
	code := make([]byte, 5)
	for i := range code {
		code[i] = codeAlphabet[(int(random[2*i])*32+int(random[2*i+1]))%len(codeAlphabet)]
	}
	return string(code)
}

// answerCall handles the decision about a call: of its gate, or of a question during the call.
func answerCall(t *activation, last contracts.InterruptDecided) {
	gate := t.n.Gate
	switch {
	case gate.Type == contracts.InterruptWriteApproval:
		takeDecision(t, last)
	case gate.Status != contracts.InterruptAnswered:
		t.end(contracts.NodeCancelled)
	case gate.Type == contracts.InterruptOutcomeUnknown:
		takeSettlement(t, last)
	case gate.Type == contracts.InterruptBudgetExceeded:
		takeNewLimit(t, last)
	case t.row.Step == runstate.StepInput:
		takeInput(t, last)
	case gate.Response == contracts.AnswerCancelNode:
		t.end(contracts.NodeCancelled)
	default:
		t.row.Step, t.row.Rechecked = runstate.StepNone, false
		t.again()
	}
}

func takeDecision(t *activation, last contracts.InterruptDecided) {
	switch gate := t.n.Gate; {
	case gate.Status == contracts.InterruptApproved:
		t.row.ApprovedSHA256, t.row.Step = gate.ActionSHA256, runstate.StepApproved
		t.again()
	case gate.Status != contracts.InterruptSuperseded:
		reject(t, last)
	case last.Decision != contracts.DecisionEdit:
		t.end(contracts.NodeCancelled)
	default:
		t.row.Edited, t.row.Step = gate.Action.Edit(last.EditedParams), runstate.StepNone
		t.row.Input = nil // it was given for other parameters
		noteContributor(t, last)
		t.again()
	}
}

// reject ends a node with a structured rejection that later nodes and the answer can read.
func reject(t *activation, last contracts.InterruptDecided) {
	expired := t.n.Gate.Status == contracts.InterruptExpired
	text := "rejected by " + last.DecidedBy
	if expired {
		text = "the approval expired"
	}
	if c := strings.TrimSpace(last.Comment); c != "" && !expired {
		text += ": " + c
	}
	t.row.Error = &contracts.ToolError{
		Type: "rejected", Message: contracts.CleanSummary(text), Effect: contracts.EffectNone,
		Detail: map[string]any{"gate_id": t.n.Gate.InterruptID, "decided_by": last.DecidedBy, "comment": last.Comment},
	}
	t.end(contracts.NodeRejected)
}

// noteContributor records that the node uses somebody's input.
func noteContributor(t *activation, d contracts.InterruptDecided) {
	if !slices.Contains(t.row.Editors, d.DecidedBy) {
		t.row.Editors = slices.Concat(t.row.Editors, []string{d.DecidedBy})
	}
}

// settlement describes a write that was settled as not applied: the attempt, and who settled it.
func settlement(t *activation, d contracts.InterruptDecided) string {
	text := "attempt " + t.row.Key(t.run.Run.ID)
	if i := t.n.Intent; i != nil {
		text += " of " + i.CreatedAt.UTC().Format(time.RFC3339)
	}
	text += ": settled as " + contracts.AnswerNotApplied + " by " + d.DecidedBy + " at " + d.DecidedAt.UTC().Format(time.RFC3339)
	if d.Comment != "" {
		text += ", " + strconv.Quote(d.Comment)
	}
	if t.row.Error != nil {
		text += "; it was not answered: " + t.row.Error.Message
	}
	return contracts.CleanSummary(text)
}

// takeSettlement handles a person's answer about an unknown outcome.
func takeSettlement(t *activation, last contracts.InterruptDecided) {
	tried := settlement(t, last)
	if t.n.Gate.Response != contracts.AnswerRepeatLookup {
		t.take(runstate.IntentSettled{Node: t.n.ID()})
	}
	switch t.n.Gate.Response {
	case contracts.AnswerApplied:
		t.row.Result = &Result{Summary: contracts.CleanSummary("settled as applied by " + last.DecidedBy), Facts: map[string]any{}}
		noteContributor(t, last)
		beginVerify(t)
	case contracts.AnswerNotApplied:
		// It is repeated under a new key, and only with a new approval, which shows how it was
		// settled.
		noteContributor(t, last)
		t.row.Settled = append(slices.Clip(t.row.Settled), tried)
		t.row.Step, t.row.ApprovedSHA256, t.row.Error, t.row.Doubtful = runstate.StepNone, "", nil, false
		t.abortWrite()
		t.again()
	default:
		t.row.Step, t.row.Tries = runstate.StepReconcile, 0
		t.again()
	}
}

// askAboutChange asks a person what to do about a capability that is missing.
func askAboutChange(t *activation) {
	if t.n.handler.mayHaveEffect(t.n) {
		outcomeUnknown(t, "the capability is no longer registered")
		return
	}
	t.row.Step = runstate.StepChanged
	t.ask(contracts.Interrupt{
		Type: contracts.InterruptCapabilityChanged, Reason: "the capability is gone", Roles: []string{"operator"},
		Prompt: t.n.Spec.Tool + " is no longer offered by " + cmp.Or(t.n.Spec.Instance, "its domain") + ".",
		Options: []contracts.InterruptOption{
			{ID: contracts.AnswerRetry, Label: "Try again after a refresh"},
			{ID: contracts.AnswerCancelNode, Label: "Cancel this step"},
		},
	}, contracts.NodeAwaitingInput)
}
