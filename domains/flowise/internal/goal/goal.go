// Package goal reads the features of a chatflow from a sentence and determines the nodes that
// implement them. It needs no model: it recognizes features by keywords and by the labels of the
// node definitions, and completes a flow by the anchors that its nodes require. It does no I/O, and
// it lists what it could not read.
package goal

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Document is a source for answers: an address, or files of a kind.
type Document struct {
	Kind    string `json:"kind" description:"Kind of node that loads it, such as pdfFile"`
	Address string `json:"address,omitempty" description:"Address of a page; files are uploaded in Flowise"`
}

// Features are the features of a flow, in a form that a person can edit.
type Features struct {
	Model        string     `json:"model_kind,omitempty" description:"Kind of node of the chat model, such as chatOpenAI"`
	ModelName    string     `json:"model_name,omitempty" description:"Name of the model, such as gpt-4o-mini"`
	Memory       *bool      `json:"memory,omitempty" description:"Whether it remembers the conversation"`
	Documents    []Document `json:"documents,omitempty" description:"What it answers from"`
	Store        string     `json:"store,omitempty" description:"Kind of node of the vector store"`
	Tools        []string   `json:"tools,omitempty" description:"Kinds of nodes of its tools"`
	APIs         []string   `json:"apis,omitempty" description:"Addresses that it calls"`
	Post         bool       `json:"post,omitempty" description:"It sends to these addresses rather than reads them"`
	Moderation   string     `json:"moderation,omitempty" description:"Kind of node that checks what people say"`
	Reply        string     `json:"reply,omitempty" description:"What it always answers"`
	Branches     []Branch   `json:"branches,omitempty" description:"Cases in which it answers something else"`
	Otherwise    string     `json:"otherwise,omitempty" description:"What it answers in every other case, where that is fixed"`
	Form         []string   `json:"form,omitempty" description:"What a form asks for before it begins"`
	Agent        bool       `json:"agent,omitempty" description:"It decides by itself which tools to use"`
	Instructions string     `json:"instructions,omitempty" description:"How the model is told to behave"`
}

// Goal is the result of reading a sentence.
type Goal struct {
	Text string `json:"goal"`
	// Update means that an existing flow is to be changed; Target is its name.
	Update bool   `json:"-"`
	Target string `json:"-"`
	Name   string `json:"name"`
	Features
	// Unread lists what the sentence asks for but no node was found for.
	Unread []string `json:"unread,omitempty"`
}

//go:embed cues.json defaults.json
var data embed.FS

func load[T any](name string) T {
	var out T
	raw, err := data.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return out // a test decodes them
	}
	return out
}

// cues are the words that ask for a feature. defaults are the kinds of nodes to use if several fit
// and none is named.
var (
	cues     = load[map[string][]string]("cues.json")
	defaults = load[map[string]string]("defaults.json")
)

var (
	quoted  = regexp.MustCompile(`"([^"]{1,400})"|“([^”]{1,400})”|«([^»]{1,400})»`)
	address = regexp.MustCompile(`(?:https?://|\bwww\.)[^\s"'<>)\]]+[^\s"'<>)\].,;:!?]`)
	named   = regexp.MustCompile(`\b(?i:called|named|chamad[oa]|llamad[oa]|namens|genannt|appelée?|nommée?|chiamat[oa])\s+(?:"([^"]+)"|“([^”]+)”|((?:\p{Lu}[\p{L}\d-]*)(?:\s+\p{Lu}[\p{L}\d-]*){0,4}))`)
	ofFlow  = regexp.MustCompile(`\b(?i:the|my|our|o|a|el|la|den|die|das|le|il)\s+(?:(?i:existing\s+)?(?i:chatflow|flow|bot|fluxo|flujo)\s+)?(?:"([^"]+)"|((?:\p{Lu}[\p{L}\d-]*)(?:\s+\p{Lu}[\p{L}\d-]*){0,4}))`)
	models  = regexp.MustCompile(`(?i)\b(gpt-[\w.-]*\w|o[134](?:-mini)?|claude-[\w.-]*\w|gemini-[\w.-]*\w|llama-?\d[\w.:-]*\w|mistral-[\w.-]*\w|deepseek-[\w.-]*\w|command-r[\w.-]*)\b`)
	asksFor = regexp.MustCompile(`(?i)\b(?:asks?(?:\s+\p{L}+){0,4}?\s+for|form for|with (?:the )?fields?|pede|pide|fragt nach|demande|chiede)\s+([^.;]+)`)
)

// Read reads a goal. The definitions are the available kinds of nodes.
func Read(text string, defs flow.Definitions) Goal {
	g := Goal{Text: strings.Join(strings.Fields(text), " ")}
	r := reader{text: g.Text, words: " " + strings.Join(tokens(address.ReplaceAllString(g.Text, " ")), " ") + " ", defs: defs}
	g.Name = firstGroup(named, g.Text)
	r.target(&g)
	branched := r.conditions(&g)
	if len(g.Branches) == 0 {
		r.replies(&g)
	}
	r.kinds(&g)
	r.places(&g)
	r.memory(&g)
	if m := asksFor.FindStringSubmatch(g.Text); r.cue("form") && m != nil {
		g.Form = listed(m[1])
	}
	g.Agent = r.cue("agent") || len(g.Tools)+len(g.APIs) > 0
	if g.Reply == "" && !g.Update {
		g.Instructions = g.Text
	}
	for cue := range cues {
		if what, is := strings.CutPrefix(cue, "unread:"); is && r.cue(cue) && (what != aCondition || !branched || len(g.Branches) == 0) {
			g.Unread = append(g.Unread, what)
		}
	}
	slices.Sort(g.Unread)
	if g.Name == "" && !g.Update {
		g.Name = g.title()
	}
	return g
}

// aCondition is how Goal.Unread names a condition that was not read.
const aCondition = "a condition"

// reader holds the sentence being read; words are those outside of addresses.
type reader struct {
	text, words string
	defs        flow.Definitions
}

// cue reports whether the sentence contains words for a feature.
func (r reader) cue(feature string) bool {
	return slices.ContainsFunc(cues[feature], func(phrase string) bool {
		stem, open := strings.CutSuffix(phrase, "*")
		p := " " + strings.Join(tokens(stem), " ")
		if !open {
			p += " "
		}
		return strings.Contains(r.words, p)
	})
}

// target determines whether a flow is to be changed, and which.
func (r reader) target(g *Goal) {
	if !r.cue("further") && (r.cue("create") || !r.cue("update")) {
		return
	}
	if g.Target = firstGroup(ofFlow, g.Text); g.Target != "" {
		g.Update = true
	}
}

// replies reads a fixed answer: quoted text after a word for answering.
func (r reader) replies(g *Goal) {
	at := quoted.FindStringSubmatchIndex(r.text)
	for at != nil {
		before := tokens(r.text[:at[0]])
		last := reader{words: " " + strings.Join(before[max(0, len(before)-4):], " ") + " "}
		if last.cue("reply") {
			g.Reply = firstGroup(quoted, r.text[at[0]:])
			return
		}
		next := quoted.FindStringSubmatchIndex(r.text[at[1]:])
		if next == nil {
			return
		}
		for i := range next {
			if next[i] >= 0 {
				next[i] += at[1]
			}
		}
		at = next
	}
}

// kinds finds the named nodes: model, store, tools, moderation.
func (r reader) kinds(g *Goal) {
	if kinds := r.find(1, "Chat Models"); len(kinds) > 0 {
		g.Model = kinds[0].Name
	}
	if g.ModelName = strings.ToLower(models.FindString(r.text)); g.ModelName != "" && g.Model == "" {
		g.Model = r.modelOf(g.ModelName)
	}
	if kinds := r.find(1, "Vector Stores"); len(kinds) > 0 {
		g.Store = kinds[0].Name
	}
	for _, def := range r.find(5, "Tools") {
		g.Tools = append(g.Tools, def.Name)
	}
	if r.cue("web_search") && !slices.ContainsFunc(g.Tools, func(t string) bool { return strings.Contains(strings.ToLower(t), "ser") }) {
		g.Tools = append(g.Tools, defaults["web_search"])
	}
	if r.cue("moderation") {
		g.Moderation = defaults["Moderation"]
	}
}

// families maps the prefix of a model's name to the label of its kind of node.
var families = map[string]string{"gpt": "OpenAI", "o1": "OpenAI", "o3": "OpenAI", "o4": "OpenAI", "claude": "Anthropic Claude", "gemini": "Google Gemini", "llama": "Ollama", "command": "Cohere"}

func (r reader) modelOf(name string) string {
	head, _, _ := strings.Cut(name, "-")
	family := strings.TrimRight(head, "0123456789.:")
	label := cmp.Or(families[head], families[family], family)
	if kinds := edit.Kinds(r.defs, label, "Chat Models"); len(kinds) > 0 {
		return kinds[0].Def.Name
	}
	return ""
}

// places splits addresses into pages to read and APIs to call, and finds the kinds of files.
func (r reader) places(g *Goal) {
	serves := r.cue("api")
	for _, found := range address.FindAllString(r.text, 5) {
		if strings.HasPrefix(found, "www.") {
			found = "https://" + found
		}
		if serves {
			g.APIs = append(g.APIs, found)
			continue
		}
		g.Documents = append(g.Documents, Document{Kind: defaults["address"], Address: found})
	}
	g.Post = len(g.APIs) > 0 && r.cue("post")
	for _, def := range r.find(3, "Document Loaders") {
		if len(g.Documents) == 0 || len(edit.Words(def.Label)) > 0 && !slices.ContainsFunc(g.Documents, func(d Document) bool { return d.Kind == def.Name }) {
			g.Documents = append(g.Documents, Document{Kind: def.Name})
		}
	}
	switch {
	case len(g.Documents)+len(g.Form)+len(g.APIs) > 0:
	case (reader{words: audience.ReplaceAllString(r.words, " ")}).cue("page"):
		g.Documents = append(g.Documents, Document{Kind: defaults["address"]})
	case r.cue("documents"):
		g.Documents = append(g.Documents, Document{})
	}
}

// audience matches for whom or where something is built, which is not a page to answer from: "a bot
// for our website".
var audience = regexp.MustCompile(`\s(?:for|on|para|für|pour|per)(?:\s\S+){1,2}`)

// LacksPage reports whether answers shall come from a page without a known address.
func (f Features) LacksPage() bool {
	return f.Reply == "" && slices.ContainsFunc(f.Documents, func(d Document) bool { return d.Kind == defaults["address"] && d.Address == "" })
}

func (r reader) memory(g *Goal) {
	switch {
	case r.cue("no_memory"):
		g.Memory = new(false)
	case r.cue("memory"):
		g.Memory = new(true)
	}
}

// generic are words of labels that do not distinguish kinds.
var generic = map[string]bool{
	"the": true, "a": true, "ai": true, "api": true, "agent": true, "as": true, "to": true, "with": true, "by": true, "of": true, "for": true, "in": true, "file": true, "files": true, "folder": true,
	"tool": true, "tools": true, "node": true, "model": true, "custom": true, "chat": true, "web": true, "search": true, "store": true, "vector": true, "memory": true, "document": true,
	"loader": true, "text": true, "plain": true, "get": true, "post": true, "put": true, "delete": true, "requests": true, "chain": true, "retriever": true, "flow": true, "chatflow": true, "json": false,
	"current": true, "date": false, "time": false, "code": true, "page": true, "website": true, "browser": true, "lines": true, "database": true, "directory": true, "cloud": true, "open": true, "source": true, "collection": true, "mcp": true, "toolkit": true, "documents": true,
}

// find returns the kinds of a category that the sentence names by words of their labels, closest
// first. Of kinds with the same matching words, it returns only the one with the fewest other
// words.
func (r reader) find(most int, category string) []*knowledge.Definition {
	type hit struct {
		def   *knowledge.Definition
		words []string
		rest  int
	}
	var hits []hit
	for _, name := range r.defs.Names() {
		def, _ := r.defs.Node(name)
		if def == nil || !strings.HasPrefix(def.Category, category) || outdated(def) {
			continue
		}
		h := hit{def: def}
		for _, w := range edit.Words(def.Label) {
			switch {
			case generic[w] || len(w) < 3:
			case strings.Contains(r.words, " "+w+" ") || strings.Contains(r.words, " "+w+"s "):
				h.words = append(h.words, w)
			default:
				h.rest++
			}
		}
		if whole := strings.ToLower(strings.Join(edit.Words(def.Label), "")); len(h.words) == 0 && len(whole) > 4 && strings.Contains(r.words, " "+whole+" ") {
			h.words, h.rest = []string{whole}, 0
		}
		if len(h.words) > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), cmp.Compare(a.rest, b.rest), cmp.Compare(len(a.def.Label), len(b.def.Label)))
	})
	var out []*knowledge.Definition
	taken := map[string]bool{}
	for _, h := range hits {
		if slices.ContainsFunc(h.words, func(w string) bool { return taken[w] }) {
			continue
		}
		for _, w := range h.words {
			taken[w] = true
		}
		if out = append(out, h.def); len(out) == most {
			break
		}
	}
	return out
}

// outdated reports whether a kind is not used for new flows: it is deprecated, or belongs to a
// framework that is incompatible with the other nodes.
func outdated(def *knowledge.Definition) bool {
	return def.Badge == "DEPRECATING" || strings.Contains(strings.ToLower(def.Name), "llamaindex")
}

// title returns a name for an unnamed flow.
func (g Goal) title() string {
	switch {
	case g.Reply != "":
		return "Fixed reply"
	case g.Agent:
		return "Agent"
	case len(g.Documents) > 0:
		return "Document assistant"
	}
	return "Assistant"
}

// Summary describes what was read.
func (g Goal) Summary() string {
	what := "a new chatflow"
	if g.Update {
		what = fmt.Sprintf("a change of %q", g.Target)
	}
	if f := g.Words(); len(f) > 0 {
		what += ": " + strings.Join(f, ", ")
	}
	if len(g.Unread) > 0 {
		what += "; not built: " + strings.Join(g.Unread, ", ")
	}
	return what
}

// Words describes the features for people.
func (f Features) Words() []string {
	var out []string
	add := func(ok bool, format string, args ...any) {
		if ok {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(f.Reply != "", "always answers %q", f.Reply)
	for _, b := range f.Branches {
		add(true, "%s", b.Words())
	}
	add(f.Otherwise != "", "otherwise answers %q", f.Otherwise)
	add(f.Model != "" || f.ModelName != "", "model %s", cmp.Or(f.ModelName, f.Model))
	for _, d := range f.Documents {
		add(true, "answers from %s", cmp.Or(d.Address, d.Kind, "documents"))
	}
	add(f.Store != "", "kept in %s", f.Store)
	for _, t := range f.Tools {
		add(true, "tool %s", t)
	}
	for _, a := range f.APIs {
		add(true, "calls %s", a)
	}
	add(f.Memory != nil && *f.Memory, "remembers the conversation")
	add(f.Memory != nil && !*f.Memory, "remembers nothing")
	add(f.Moderation != "", "checks what people say")
	add(len(f.Form) > 0, "a form for %s", strings.Join(f.Form, ", "))
	return out
}

// tokens returns the words of a text in lower case, split at punctuation except hyphens.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

func firstGroup(re *regexp.Regexp, text string) string {
	for _, group := range re.FindStringSubmatch(text)[min(1, len(re.FindStringSubmatch(text))):] {
		if group != "" {
			return strings.TrimSpace(group)
		}
	}
	return ""
}

// listed splits "name, email and order number" into its parts.
func listed(text string) []string {
	if at := goesOn.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	var out []string
	for _, part := range betweenFields.Split(text, -1) {
		if part = strings.TrimSpace(beforeField.ReplaceAllString(part, "")); part != "" && len(out) < 12 {
			out = append(out, part)
		}
	}
	return out
}

// Separators between the fields of a form, words before a field, and the point at which the
// sentence continues with what is done with the fields.
var (
	betweenFields = regexp.MustCompile(`\s*,\s*(?:and\s+)?|\s+(?:and|e|y|und|et|&)\s+`)
	beforeField   = regexp.MustCompile(`(?i)^\s*(?:the|a|an|their|his|her|o|os|as|el|la|los|las|le|les|den|die|das)\s+`)
	goesOn        = regexp.MustCompile(`(?i)[,;]?\s+(?:(?:and|e|y|und|et)\s+)?(?:then|afterwards|depois|luego|danach|ensuite)\s|[,;]?\s+(?:and|e|y|und|et)\s+(?:answers?|replies|reply|says?|sends?|tells?|calls?|looks?|explains?|responde|antwortet|répond|risponde)\b`)
)

// Change returns the features to change in an existing flow. The sentence itself is not used as
// instructions for the model.
func (g Goal) Change() Features {
	f := g.Features
	f.Instructions, f.Agent = "", false
	if m := prompted.FindStringSubmatch(g.Text); m != nil {
		f.Instructions = m[1]
	}
	return f
}

// prompted matches instructions for the model.
var prompted = regexp.MustCompile(`(?i)\b(?:so that it|it should|it shall|tell it to|always)\s+(?:also\s+)?(answers? [^.;]+|be [^.;]+|speaks? [^.;]+|says? [^.;]+)`)

// Merge merges later features into f; later ones take precedence.
func Merge(f, later Features) Features {
	f.Model, f.ModelName = cmp.Or(later.Model, f.Model), cmp.Or(later.ModelName, f.ModelName)
	f.Store, f.Moderation, f.Reply = cmp.Or(later.Store, f.Store), cmp.Or(later.Moderation, f.Moderation), cmp.Or(later.Reply, f.Reply)
	f.Memory = cmp.Or(later.Memory, f.Memory)
	for _, tool := range later.Tools {
		if !slices.Contains(f.Tools, tool) {
			f.Tools = append(slices.Clone(f.Tools), tool)
		}
	}
	if len(later.Documents) > 0 {
		f.Documents = later.Documents
	}
	if len(later.APIs) > 0 {
		f.APIs, f.Post = later.APIs, later.Post
	}
	f.Agent = f.Agent || later.Agent
	if later.Instructions != "" && f.Instructions != "" {
		f.Instructions += ". " + later.Instructions
	}
	return f
}
