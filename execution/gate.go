package execution

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// openGate asks for the approval of exactly this action. One that was approved
// before and differs now is shown with the difference.
func (l *loop) openGate(n *node, action contracts.Action, hash string) {
	p := n.policy
	i := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Action: &action, ActionSHA256: hash, Evidence: n.rec.Evidence,
		Prompt: l.approvalPrompt(n), Reason: p.Reason,
		Roles: p.Approval.Roles, Quorum: p.Approval.Quorum, FourEyes: p.Approval.FourEyes,
		Requesters: requesters(l.stored.Plan.Owner, n.rec.Editors),
		ExpiresAt:  new(l.r.cfg.Now().Add(time.Duration(p.Approval.ExpiresS) * time.Second)),
		Options: []contracts.InterruptOption{
			{ID: string(contracts.DecisionApprove), Label: "Approve"},
			{ID: string(contracts.DecisionReject), Label: "Reject"},
			{ID: string(contracts.DecisionEdit), Label: "Edit the parameters"},
		},
	}
	if before := l.approvedBefore(n); before != nil {
		i.Difference = Difference(*before, action)
		if n.rec.Edited == nil || n.gate.Status == contracts.InterruptApproved {
			i.Reason = "stale_approval: what was approved is no longer what would run. " + i.Reason
		}
	}
	if !l.sameAsPlanned(n) && !p.ApprovalRequired {
		i.Reason = "the capability has changed since the plan was made"
	}
	n.rec.Step, n.rec.ApprovedSHA256 = StepGate, ""
	l.openInterrupt(n, i, contracts.NodeAwaitingApproval)
	l.watchExpiry(n)
}

func (l *loop) approvedBefore(n *node) *contracts.Action {
	if n.gate == nil {
		return nil
	}
	return n.gate.Action
}

// approvalPrompt says in one line what will be done with what; a value that was
// chosen from a list is shown by its label. It is for people: what is approved
// is the action and its hash.
func (l *loop) approvalPrompt(n *node) string {
	labels := map[string]string{}
	for _, e := range n.rec.Evidence {
		if step, ok := strings.CutSuffix(e.Path, ".label"); ok {
			labels[step+".value"] = asText(e.Value)
		}
	}
	given := contracts.Interrupt{Action: &contracts.Action{Parameters: n.rec.Params}}
	if n.rec.Edited == nil {
		given.Evidence = n.v.spec.Evidence
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.rec.Params)) {
		text := cmp.Or(given.Label(name), paramText(n.rec.Params[name]))
		if planned, ok := n.v.spec.Params[name].(string); ok {
			if label, ok := labels[strings.TrimSuffix(strings.TrimPrefix(planned, "${"), "}")]; ok {
				text = label
			}
		}
		text = asPart(text)
		if n.entry.Capability.Metadata.ParameterSpecs[name].PII {
			text = "•••" // prompts travel further than gates; the gate shows it
		}
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+text)
	}
	prompt := "Approve " + n.v.spec.Tool + "?"
	if len(parts) > 0 {
		prompt += " " + strings.Join(parts, "; ")
	}
	return contracts.CleanSummary(prompt)
}

// asPart keeps a text from looking like more than one part of a prompt, and from
// pushing the others out of it.
func asPart(text string) string {
	if strings.Contains(text, ";") {
		text = strconv.Quote(text)
	}
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return text
}

// requesters are all who asked for an action or had a hand in it.
func requesters(owner contracts.Principal, editors []string) []string {
	var out []string
	for _, who := range append([]string{owner.ID, owner.OnBehalfOf}, editors...) {
		if who != "" && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	return out
}

// openInterrupt puts a question to a person and commits it at once.
func (l *loop) openInterrupt(n *node, i contracts.Interrupt, s contracts.NodeState) {
	i.InterruptID, i.Code, i.Status = NewID("gate"), NewCode(), contracts.InterruptOpen
	i.SessionID, i.RunID, i.NodeID = l.stored.SessionID, l.stored.ID, n.rec.NodeID
	i.BranchID, i.ToolName, i.CreatedAt = n.v.spec.BranchID, n.v.spec.Tool, l.r.cfg.Now()
	if n.v.spec.Policy != nil {
		i.RiskLevel = n.policy.RiskLevel
	}
	n.gate, n.rec.GateID = &i, i.InterruptID
	n.rec.WaitingSince = time.Time{}
	l.begun(n)
	l.setState(n, s)
	l.pending.Gates = append(l.pending.Gates, i)
	l.emitFor(n, contracts.Event{Type: contracts.EventInterrupt, Status: string(i.Type), Summary: i.Prompt})
	l.passOn(n)
}

// codeAlphabet has no letters or digits that people take for one another.
const codeAlphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

// NewCode makes the short code that stands for one gate and its hash.
func NewCode() string {
	random := rand.Text()
	code := make([]byte, 5)
	for i := range code {
		code[i] = codeAlphabet[(int(random[2*i])*32+int(random[2*i+1]))%len(codeAlphabet)]
	}
	return string(code)
}

func (l *loop) watchExpiry(n *node) {
	if n.gate != nil && n.gate.ExpiresAt != nil && n.v.state == contracts.NodeAwaitingApproval {
		l.timers.add(*n.gate.ExpiresAt, n)
	}
}

// errNotYet says that the store's clock has not reached the expiry.
var errNotYet = errors.New("not expired yet")

// expireGate ends a gate by time: the same compare-and-set as a decision, so
// that exactly one of them wins.
func (l *loop) expireGate(n *node) {
	if n.gate == nil || n.gate.ExpiresAt == nil || l.r.cfg.Now().Before(*n.gate.ExpiresAt) {
		return
	}
	if !l.flush() {
		l.timers.add(l.r.cfg.Now().Add(time.Second), n)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), 10*time.Second)
	defer cancel()
	_, err := l.r.store.UpdateInterrupt(ctx, n.rec.GateID, func(i *contracts.Interrupt, now time.Time) error {
		if now.Before(*i.ExpiresAt) {
			return errNotYet
		}
		i.Status = contracts.InterruptExpired
		i.Decisions = append(i.Decisions, contracts.InterruptDecided{
			Decision: contracts.DecisionReject, DecidedBy: "system", DecidedAt: now, Comment: "expired", ActionSHA256: i.ActionSHA256,
		})
		return nil
	})
	if err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
		l.timers.add(l.r.cfg.Now().Add(time.Second), n)
		return
	}
	l.readSignals()
}

// supersedeGate closes the question of a node that no longer needs an answer;
// if somebody decided it at this moment, that is on record and changes nothing.
func (l *loop) supersedeGate(n *node) {
	if n.gate == nil || n.gate.Status != contracts.InterruptOpen || !l.flush() {
		return
	}
	err := l.supersede(n.rec.GateID)
	for contracts.CodeOf(err) == contracts.CodeUnavailable && l.pause() {
		err = l.supersede(n.rec.GateID)
	}
	if err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
		l.r.cfg.Logger.WarnContext(l.ctx, "gate is left open", slog.String("run_id", l.stored.ID), slog.String("node_id", n.rec.NodeID), slog.Any("error", err))
	}
	n.gate.Status = contracts.InterruptSuperseded
}

func (l *loop) supersede(gateID string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), 10*time.Second)
	defer cancel()
	_, err := l.r.store.UpdateInterrupt(ctx, gateID, func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = contracts.InterruptSuperseded
		return nil
	})
	return err
}

// consumeGate takes what was decided on a node's question into the run: the
// ledger entry, the event, and what follows.
func (l *loop) consumeGate(n *node) {
	if n.gate == nil || n.gate.Status == contracts.InterruptOpen || !awaits(n.v.state) {
		return
	}
	last := lastDecision(n.gate)
	kind := contracts.LedgerDecision
	if n.gate.Type == contracts.InterruptOutcomeUnknown {
		kind = contracts.LedgerSettled
	}
	l.record(n, contracts.LedgerEntry{Kind: kind, ActionSHA256: n.gate.ActionSHA256, Actor: last.DecidedBy}, decisionPayload(n.gate))
	l.emitFor(n, contracts.Event{
		Type: contracts.EventInterruptResolved, Status: string(n.gate.Status),
		Summary: string(last.Decision) + " by " + last.DecidedBy,
	})
	if n.gate.Type == contracts.InterruptWriteApproval {
		l.decided(n, last)
		return
	}
	l.answered(n, last)
}

func awaits(s contracts.NodeState) bool {
	return s == contracts.NodeAwaitingApproval || s == contracts.NodeAwaitingInput || s == contracts.NodeOutcomeUnknown
}

func lastDecision(i *contracts.Interrupt) contracts.InterruptDecided {
	if len(i.Decisions) == 0 {
		return contracts.InterruptDecided{DecidedBy: "system"}
	}
	return i.Decisions[len(i.Decisions)-1]
}

func decisionPayload(i *contracts.Interrupt) any {
	return struct {
		InterruptID string                       `json:"interrupt_id"`
		Type        contracts.InterruptType      `json:"type"`
		Status      contracts.InterruptStatus    `json:"status"`
		Decisions   []contracts.InterruptDecided `json:"decisions,omitempty"`
		Response    any                          `json:"response,omitempty"`
	}{i.InterruptID, i.Type, i.Status, i.Decisions, i.Response}
}

func (l *loop) decided(n *node, last contracts.InterruptDecided) {
	switch n.gate.Status {
	case contracts.InterruptApproved:
		n.rec.ApprovedSHA256, n.rec.Step = n.gate.ActionSHA256, StepApproved
		l.again(n)
	case contracts.InterruptSuperseded:
		if last.Decision != contracts.DecisionEdit {
			l.end(n, contracts.NodeCancelled)
			return
		}
		n.rec.Edited, n.rec.Step = maps.Clone(last.EditedParams), StepNone
		if !slices.Contains(n.rec.Editors, last.DecidedBy) {
			n.rec.Editors = append(n.rec.Editors, last.DecidedBy)
		}
		l.again(n)
	default:
		l.reject(n, last)
	}
}

// reject ends a node with a structured rejection that later nodes and the
// answer can read.
func (l *loop) reject(n *node, last contracts.InterruptDecided) {
	text := "rejected by " + last.DecidedBy
	if n.gate.Status == contracts.InterruptExpired {
		text = "the approval expired"
	}
	if c := strings.TrimSpace(last.Comment); c != "" && n.gate.Status != contracts.InterruptExpired {
		text += ": " + c
	}
	n.rec.Error = &contracts.ToolError{
		Type: "rejected", Message: contracts.CleanSummary(text), Effect: contracts.EffectNone,
		Detail: map[string]any{"gate_id": n.gate.InterruptID, "decided_by": last.DecidedBy, "comment": last.Comment},
	}
	l.end(n, contracts.NodeRejected)
}

// answered takes the answer to a question that is no approval.
func (l *loop) answered(n *node, last contracts.InterruptDecided) {
	if n.gate.Status != contracts.InterruptAnswered {
		l.end(n, contracts.NodeCancelled)
		return
	}
	switch n.gate.Type {
	case contracts.InterruptOutcomeUnknown:
		l.settled(n, last)
	case contracts.InterruptCapabilityChanged:
		if n.gate.Response == contracts.AnswerCancelNode {
			l.end(n, contracts.NodeCancelled)
			return
		}
		n.rec.Step, n.rec.Rechecked = StepNone, false
		l.again(n)
	default:
		if l.searchAgain(n) {
			return
		}
		n.rec.Result = &Result{Summary: "answered by " + last.DecidedBy, Facts: map[string]any{"value": n.gate.Response}}
		if label := labelOf(n.gate); label != "" {
			n.rec.Result.Facts["label"] = label
		}
		l.end(n, contracts.NodeCompleted)
	}
}

// labelOf is the label of the option that was chosen, if one was.
func labelOf(i *contracts.Interrupt) string {
	for _, o := range i.Options {
		if asText(o.Value) == asText(i.Response) {
			return o.Label
		}
	}
	return ""
}

// settled takes a person's word on an unknown outcome.
func (l *loop) settled(n *node, last contracts.InterruptDecided) {
	if n.intent != nil && n.gate.Response != contracts.AnswerLookAgain {
		l.consume(n.intent, Outcome{Kind: ReplyResult, At: l.r.cfg.Now()})
	}
	switch n.gate.Response {
	case contracts.AnswerApplied:
		n.rec.Result = &Result{Summary: contracts.CleanSummary("settled as applied by " + last.DecidedBy), Facts: map[string]any{}}
		l.beginVerify(n)
	case contracts.AnswerNotApplied:
		// Done anew under a new key, and only with a new approval.
		n.rec.Step, n.rec.ApprovedSHA256, n.rec.Error, n.rec.Doubtful = StepNone, "", nil, false
		l.withdraw(n)
		l.again(n)
	default:
		n.rec.Step, n.rec.Tries = StepReconcile, 0
		l.again(n)
	}
}

func (l *loop) goneText(n *node) string {
	if n.v.spec.Instance == "" {
		return n.v.spec.Tool + " is no longer offered by its domain."
	}
	return n.v.spec.Tool + " is no longer offered for " + n.v.spec.Instance + "."
}

// changed asks what to do about a capability that is no longer there.
func (l *loop) changed(n *node) {
	if l.inDoubt(n) {
		l.outcomeUnknown(n, "the capability is no longer registered")
		return
	}
	n.rec.Step = StepChanged
	l.openInterrupt(n, contracts.Interrupt{
		Type:   contracts.InterruptCapabilityChanged,
		Prompt: l.goneText(n),
		Reason: "the capability is gone", Roles: []string{"operator"},
		Options: []contracts.InterruptOption{
			{ID: contracts.AnswerRetry, Label: "Try again after a refresh"},
			{ID: contracts.AnswerCancelNode, Label: "Cancel this step"},
		},
	}, contracts.NodeAwaitingInput)
	if l.writing == n {
		l.stopWriting()
	}
}
