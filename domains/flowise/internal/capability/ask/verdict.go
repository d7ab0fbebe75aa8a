package ask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Result holds the outcomes of the trials of one case.
type Result struct {
	Case     Case      `json:"case"`
	Outcomes []Outcome `json:"outcomes"`
}

// Judged is a case with the judgement of its trials.
type Judged struct {
	Name   string `json:"name"`
	Domain string `json:"domain,omitempty"`
	Kind   string `json:"kind"`
	// Passed counts the passed trials; OK means that all passed.
	Passed    int      `json:"passed"`
	Trials    int      `json:"trials"`
	OK        bool     `json:"ok"`
	LatencyMS int64    `json:"latency_ms"`
	Problems  []string `json:"problems"`
}

// Judgements judges every case. A case passes if all of its trials do (pass^k).
func Judgements(results []Result) []Judged {
	out := make([]Judged, 0, len(results))
	for _, r := range results {
		j := Judged{Name: r.Case.Name, Domain: r.Case.Domain, Kind: r.Case.Kind, Trials: len(r.Outcomes), Problems: []string{}}
		for _, o := range r.Outcomes {
			problems := Judge(r.Case, o)
			if len(problems) == 0 {
				j.Passed++
			}
			for _, p := range problems {
				if !slices.Contains(j.Problems, p) {
					j.Problems = append(j.Problems, p)
				}
			}
			j.LatencyMS = max(j.LatencyMS, o.LatencyMS)
		}
		j.OK = j.Trials > 0 && j.Passed == j.Trials
		out = append(out, j)
	}
	return out
}

// Statuses of a verdict.
const (
	Done    = "DONE"
	Iterate = "ITERATE"
)

// Verdict says whether a flow is done, or what to fix.
type Verdict struct {
	Status   string        `json:"status"`
	Category flow.Category `json:"category,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Fix      string        `json:"fix,omitempty"`
	// Playbook lists the steps that usually fix this category.
	Playbook []string `json:"playbook,omitempty"`
}

// Conclude returns the verdict. The first failure decides; server failures come before failed
// assertions.
func Conclude(judged []Judged) Verdict {
	var worst *Judged
	category := flow.Category("")
	for i := range judged {
		if judged[i].OK {
			continue
		}
		c := categoryOf(judged[i])
		if worst == nil || rank(c) < rank(category) {
			worst, category = &judged[i], c
		}
	}
	if worst == nil {
		if len(judged) == 0 {
			return testVerdict(flow.Incomplete, "nothing was tested")
		}
		return Verdict{Status: Done}
	}
	reason := "it was not tried"
	if len(worst.Problems) > 0 {
		reason = worst.Problems[0]
	}
	return testVerdict(category, fmt.Sprintf("%s (%d of %d trials passed): %s", worst.Name, worst.Passed, worst.Trials, reason))
}

func testVerdict(c flow.Category, reason string) Verdict {
	steps := Playbook(c)
	return Verdict{Status: Iterate, Category: c, Reason: reason, Fix: steps[0], Playbook: steps}
}

// rank orders categories by what must be fixed first.
func rank(c flow.Category) int {
	return slices.Index([]flow.Category{flow.Credential, flow.Structure, flow.Incomplete, flow.Logic}, c)
}

// categoryOf derives the category from Flowise's error message.
func categoryOf(j Judged) flow.Category {
	text := strings.ToLower(strings.Join(j.Problems, "\n"))
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case unreachable(text):
		return flow.Logic
	case has("credential", "api key", "unauthorized", "401"):
		return flow.Credential
	case has("not found", "not deployed", "nothing was tested"):
		if has("ending nodes") {
			return flow.Structure
		}
		return flow.Incomplete
	case has("cannot read properties", "ending node", "expected a runnable", "is not a function", "is not iterable"):
		return flow.Structure
	default:
		return flow.Logic
	}
}

// unreachable reports whether an error message says that a dependency of the flow did not answer.
func unreachable(text string) bool {
	return slices.ContainsFunc([]string{"connection error", "econnrefused", "enotfound", "etimedout", "econnreset", "socket hang up", "fetch failed", "no answer within"}, func(words string) bool {
		return strings.Contains(strings.ToLower(text), words)
	})
}

// Advice describes the fix of a failure for people; Playbook describes it as ops.
func Advice(c flow.Category, reason string) string {
	switch {
	case unreachable(reason):
		return "see whether its model and what its tools call can be reached from the Flowise server, and whether their keys are good"
	case c == flow.Credential:
		return "choose a credential for it here (\"use the credential … in the chatflow …\"), or renew its key in Flowise"
	case c == flow.Structure:
		return "ask why the chatflow does not answer: that names the node and what mends it"
	case c == flow.Incomplete:
		return "see whether the chatflow is the one that is meant, and whether all of it is filled in"
	default:
		return "change its prompt, its condition or its model where the answer is wrong, and test it again"
	}
}

// Playbook returns the steps that usually fix a category of failure.
func Playbook(c flow.Category) []string {
	switch c {
	case flow.Credential:
		return []string{
			"bind an existing credential of the right type with BindCredential",
			"check with check_credentials that one exists; a chatflow reads data.credential, a component of an agent flow its own FLOWISE_CREDENTIAL_ID",
			"if the provider refuses the key, the secret itself is wrong: a person must renew it in Flowise",
		}
	case flow.Structure:
		return []string{
			"run validate_flow and follow the fix of each error before writing again",
			"a chatflow needs an ending node (chain, agent or ending custom function) that every other node leads to",
			"make connections with Connect, so that the edge and the input both exist",
		}
	case flow.Incomplete:
		return []string{
			"make sure that the chatflow exists and is the one that is meant",
			"fill in the parameters that validate_flow calls missing",
		}
	case flow.Logic:
		return []string{
			"change only the node whose output is wrong, such as its prompt, condition or model, with SetParam",
			"compare the answer with the assertion that failed, and test again",
		}
	default:
		return []string{"look at the findings of validate_flow"}
	}
}
