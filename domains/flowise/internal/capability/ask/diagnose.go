package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Complaint are the parameters of diagnose_chatflow.
type Complaint struct {
	site.FlowRef
	Question string `json:"question,omitempty" max:"20000" description:"What it was asked; a greeting unless given"`
}

// Diagnosis says why a flow does not answer, and how to fix it.
type Diagnosis struct {
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	// Valid means that the graph has no errors, Asked that the flow was asked, Answers that it
	// answered.
	Valid   bool `json:"valid"`
	Asked   bool `json:"asked"`
	Answers bool `json:"answers"`
	// Causes are the faults, likeliest first.
	Causes  []Cause `json:"causes"`
	Verdict string  `json:"verdict"`
}

// Cause is one fault, its place, and how to fix it.
type Cause struct {
	Where    string `json:"where"`
	Category string `json:"category"`
	What     string `json:"what"`
	Fix      string `json:"fix"`
	// Ops fix the fault, if that needs no input; repair_chatflow applies them.
	Ops author.Ops `json:"ops"`
}

// Summary returns the verdict.
func (d Diagnosis) Summary() string {
	return present.Clip(present.Clip(d.Name, 60)+": "+d.Verdict, 290)
}

// maxCauses bounds the reported causes.
const maxCauses = 12

// diagnose validates a flow, and asks it if that is harmless: some faults only appear at run time.
func (k *Asker) diagnose(ctx context.Context, call domainkit.Call, in Complaint) (Diagnosis, error) {
	f, err := k.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Diagnosis{}, err
	}
	report, checked, err := k.author.Check(ctx, call.Instance, f.FlowData, site.KindOf(f.Type))
	if err != nil {
		return Diagnosis{}, err
	}
	out := Diagnosis{ChatflowID: f.ID, Name: present.NameOf(f.Name), Valid: checked.OK, Causes: []Cause{}}
	if checked.OK {
		return k.tryIt(ctx, call, in, out)
	}
	mender, err := k.mender(ctx, call, f)
	if err != nil {
		return Diagnosis{}, err
	}
	mended := 0
	for _, finding := range report.Errors() {
		ops, _ := mender.Mend(finding)
		list, err := author.Encode(ops)
		if err != nil {
			return Diagnosis{}, err
		}
		if len(ops) > 0 {
			mended++
		}
		if len(out.Causes) < maxCauses {
			out.Causes = append(out.Causes, Cause{place(finding), string(finding.Category), present.Clip(finding.Message, 300), present.Clip(finding.Fix, 200), list})
		}
	}
	out.Verdict = verdict(out.Causes[0], len(report.Errors()), mended)
	return out, nil
}

// mender returns the planner of fixes; for an unreadable graph, one without fixes.
func (k *Asker) mender(ctx context.Context, call domainkit.Call, f api.Flow) (*author.Mender, error) {
	target, err := k.author.Target(ctx, call.Instance, f)
	if refusal, refused := errors.AsType[*contracts.ToolError](err); refused && refusal.Type == contracts.ErrPrecondition {
		return &author.Mender{}, nil
	}
	if err != nil {
		return nil, err
	}
	return k.author.Mender(ctx, call, target)
}

// verdict describes the first fault, how many more there are, and how many can be fixed without
// input.
func verdict(first Cause, wrong, mended int) string {
	text := fmt.Sprintf("it cannot answer: %s; %s", first.What, first.Fix)
	if wrong > 1 {
		text += fmt.Sprintf(" (%d more)", wrong-1)
	}
	switch {
	case mended == wrong:
		text += "; \"repair the chatflow\" does it"
	case mended > 0:
		text += fmt.Sprintf("; \"repair the chatflow\" mends %d of %d", mended, wrong)
	}
	return text
}

func place(f flow.Finding) string {
	if f.NodeID != "" {
		return f.NodeID
	}
	return f.Pointer
}

// patience is how long a diagnosis waits for the flow's answer.
const patience = 20 * time.Second

// tryIt asks a flow with a valid graph and reports the result.
func (k *Asker) tryIt(ctx context.Context, call domainkit.Call, in Complaint, out Diagnosis) (Diagnosis, error) {
	question := in.Question
	if question == "" {
		question = "Hello"
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := k.predictChatflow(bounded, call, Inquiry{FlowRef: in.FlowRef, Question: question})
	refusal, refused := errors.AsType[*contracts.ToolError](err)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		out.Asked = true
		why := fmt.Sprintf("it gave no answer within %s", patience)
		fix := Advice(flow.Logic, why)
		out.Causes = append(out.Causes, Cause{"the server", string(flow.Logic), why, fix, author.Ops{}})
		out.Verdict = "its nodes are right, but " + why + "; " + fix
	case err == nil && answer.Facts.Answer != "":
		out.Asked, out.Answers = true, true
		out.Verdict = fmt.Sprintf("nothing is wrong with it, and it answers in %d ms: %s", answer.Facts.LatencyMS, present.Clip(answer.Facts.Answer, 160))
	case err == nil:
		out.Asked = true
		out.Verdict = "nothing is wrong with its nodes, and it answers with nothing; look at its prompt and its model"
	case !refused:
		return out, err
	case refusal.Type == contracts.ErrPrecondition || refusal.Type == site.ErrFormNeeded:
		out.Verdict = "nothing is wrong with its nodes; it was not asked: " + refusal.Message
	default:
		out.Asked = true
		judged := Conclude([]Judged{{Name: "prediction", Trials: 1, Problems: []string{refusal.Message}}})
		out.Causes = append(out.Causes, Cause{"the server", string(judged.Category), present.Clip(refusal.Message, 300), judged.Fix, author.Ops{}})
		out.Verdict = "its nodes are right, but it fails when it is asked: " + refusal.Message
	}
	return out, nil
}
