package goal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Branch is one case of a condition with its answer.
type Branch struct {
	Says  []string `json:"says,omitempty" description:"Words of which what people say has one"`
	Case  string   `json:"case,omitempty" description:"The case in words, where a model has to tell"`
	Reply string   `json:"reply" description:"What it answers then"`
}

// Words describes the branch for people.
func (b Branch) Words() string {
	if len(b.Says) > 0 {
		return fmt.Sprintf("answers %q where somebody says %s", b.Reply, strings.Join(b.Says, " or "))
	}
	return fmt.Sprintf("answers %q if %s", b.Reply, b.Case)
}

// The start of a condition, and the words for every other case.
var (
	conditional = regexp.MustCompile(`(?i)\b(?:if|when|whenever|in case|se|quando|si|cuando|wenn|falls|lorsque)\s`)
	otherwise   = regexp.MustCompile(`(?i)\b(?:otherwise|or else|if not|in (?:all|any) other cases?|senão|caso contrário|si no|de lo contrario|sonst|andernfalls|sinon|altrimenti|to everything else)\b`)
	clauseEnd   = regexp.MustCompile(`[.;]`)
	caseEnd     = regexp.MustCompile(`(?i),|\bthen\b|\bit (?:must|should|shall)\b|\b(?:must|should|shall|repl\w+|answers?|says? only|responde|antwortet|répond|risponde)\b`)
)

// conditions reads the cases with a special answer. The answer is quoted next to a word for
// answering; words to match are quoted too. A case without such words is decided by a model. It
// reports whether every condition of the sentence was read.
func (r reader) conditions(g *Goal) (all bool) {
	masked := quoted.ReplaceAllStringFunc(r.text, func(q string) string { return strings.Repeat("_", len(q)) })
	starts := conditional.FindAllStringIndex(masked, 8)
	rest := otherwise.FindStringIndex(masked)
	if said := quoted.FindAllStringIndex(beforeRest(r.text, rest), -1); len(said) > 0 && !quoted.MatchString(r.text[rest[1]:]) && strings.TrimSpace(r.text[said[len(said)-1][1]:rest[0]]) == "" {
		// "… and "No" otherwise"
		last := said[len(said)-1]
		g.Otherwise, rest = firstGroup(quoted, r.text[last[0]:]), []int{last[0], rest[1]}
	}
	all = true
	read := 0 // end of the part already read
	for i, at := range starts {
		if rest != nil && at[0] >= rest[0] && at[0] < rest[1] {
			continue // "if not"
		}
		end := len(masked)
		for _, next := range []int{following(starts, i), beginning(rest, at[0]), indexFrom(clauseEnd, masked, at[1])} {
			if next > at[1] && next < end {
				end = next
			}
		}
		before := r.text[max(read, strings.LastIndexAny(masked[:at[0]], ".;")+1):at[0]]
		b, ok := branch(before, r.text[at[1]:end])
		if !ok {
			all = false
			continue
		}
		read = end
		g.Branches = append(g.Branches, b)
	}
	switch {
	case len(g.Branches) == 0:
		g.Otherwise = ""
	case rest != nil && g.Otherwise == "":
		g.Otherwise, _ = answer(r.text[rest[1]:])
	}
	return all
}

// beforeRest returns the text before the words for every other case, or "".
func beforeRest(text string, rest []int) string {
	if rest == nil {
		return ""
	}
	return text[:rest[0]]
}

func following(starts [][]int, i int) int {
	if i+1 < len(starts) {
		return starts[i+1][0]
	}
	return -1
}

func beginning(at []int, after int) int {
	if at == nil || at[0] <= after {
		return -1
	}
	return at[0]
}

func indexFrom(re *regexp.Regexp, text string, from int) int {
	if at := re.FindStringIndex(text[from:]); at != nil {
		return from + at[0]
	}
	return -1
}

// branch reads one condition from the text after its keyword and an answer directly before it.
func branch(before, clause string) (Branch, bool) {
	spans := quoted.FindAllStringIndex(clause, -1)
	inner, at := answer(clause)
	outer := ""
	if last := quoted.FindAllStringIndex(before, -1); len(last) > 0 && len(tokens(before[last[len(last)-1][1]:])) < 3 {
		outer, _ = answer(before)
	}
	words := clause
	b := Branch{Reply: outer}
	if inner != "" && (len(spans) > 1 || outer == "") {
		b.Reply, words = inner, clause[:at]
	}
	for _, m := range quoted.FindAllString(words, 8) {
		b.Says = append(b.Says, firstGroup(quoted, m))
	}
	if len(b.Says) == 0 {
		if end := caseEnd.FindStringIndex(words); end != nil {
			words = words[:end[0]]
		}
		b.Case = strings.Trim(words, " ,")
	}
	return b, b.Reply != "" && (b.Case != "" || len(b.Says) > 0)
}

// answer returns the last text quoted next to a word for answering, and its position.
func answer(text string) (reply string, at int) {
	for _, span := range slices.Backward(quoted.FindAllStringIndex(text, -1)) {
		before, after := tokens(text[:span[0]]), tokens(text[span[1]:])
		near := slices.Concat(before[max(0, len(before)-3):], after[:min(1, len(after))])
		if (reader{words: " " + strings.Join(near, " ") + " "}).cue("answer") {
			return firstGroup(quoted, text[span[0]:]), span[0]
		}
	}
	return "", 0
}

// branches adds the nodes that decide the cases of a condition and answer them. It returns the node
// and output for every other case.
func (b *builder) branches(last string) (string, string, error) {
	said := slices.DeleteFunc(slices.Clone(b.f.Branches), func(c Branch) bool { return len(c.Says) == 0 })
	told := slices.DeleteFunc(slices.Clone(b.f.Branches), func(c Branch) bool { return len(c.Says) > 0 })
	output := ""
	if len(said) > 0 {
		var cases []map[string]string
		for _, c := range said {
			cases = append(cases, map[string]string{"type": "string", "value1": "{{ question }}", "operation": "regex", "value2": anyOf(c.Says)})
		}
		id := b.add("conditionAgentflow", map[string]json.RawMessage{"conditions": raw(cases)})
		b.join(last, output, id)
		b.answers(id, said)
		last, output = id, fmt.Sprint(len(said))
	}
	if len(told) > 0 {
		id, err := b.teller(told)
		if err != nil {
			return "", "", err
		}
		b.join(last, output, id)
		b.answers(id, told)
		last, output = id, fmt.Sprint(len(told))
	}
	return last, output, nil
}

// answers gives each case its fixed answer.
func (b *builder) answers(from string, cases []Branch) {
	for i, c := range cases {
		b.join(from, fmt.Sprint(i), b.add(replyNode, map[string]json.RawMessage{replyParam: raw(c.Reply)}))
	}
}

func (b *builder) join(from, output, to string) {
	b.ops = append(b.ops, &flow.Connect{OpType: flow.OpConnect, SourceNodeID: from, SourceAnchor: output, TargetNodeID: to})
}

// anyOf returns an expression for texts that contain one of the words, also with other
// capitalization, because Flowise's conditions are case-sensitive.
func anyOf(words []string) string {
	var out []string
	for _, w := range words {
		lower := strings.ToLower(w)
		_, first := utf8.DecodeRuneInString(lower)
		for _, form := range []string{w, lower, strings.ToUpper(lower[:first]) + lower[first:], strings.ToUpper(w)} {
			if form = regexp.QuoteMeta(form); !slices.Contains(out, form) {
				out = append(out, form)
			}
		}
	}
	return strings.Join(out, "|")
}

// teller adds the node by which a model decides the case.
func (b *builder) teller(cases []Branch) (string, error) {
	model, err := b.one(&knowledge.Param{Label: "Model", Type: "BaseChatModel"})
	if err != nil {
		return "", err
	}
	chosen, _ := b.Defs.Node(model[0].kind)
	scenarios := make([]map[string]string, 0, len(cases)+1)
	for _, c := range cases {
		scenarios = append(scenarios, map[string]string{"scenario": c.Case})
	}
	params := map[string]json.RawMessage{
		"conditionAgentModel": raw(chosen.Name), "conditionAgentInstructions": raw("Tell which scenario fits what the person says."),
		"conditionAgentInput": raw("{{ question }}"), "conditionAgentScenarios": raw(append(scenarios, map[string]string{"scenario": "anything else"})),
	}
	if b.f.ModelName != "" && chosen.Name == b.f.Model {
		if name := modelParam(chosen); name != "" {
			params["conditionAgentModelConfig"] = raw(map[string]any{name: b.f.ModelName})
		}
	}
	id := b.add("conditionAgentAgentflow", params)
	b.bind(chosen, id, "conditionAgentModel")
	return id, nil
}
