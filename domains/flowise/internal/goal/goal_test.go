package goal_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/goal"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

func shipped(t *testing.T) *knowledge.Snapshot {
	t.Helper()
	defs, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return defs
}

// nodes returns the kinds of nodes that an approach adds.
func nodes(a goal.Approach) []string {
	var out []string
	for _, op := range a.Ops {
		if add, is := op.(*flow.AddNode); is {
			out = append(out, add.NodeName)
		}
	}
	slices.Sort(out)
	return out
}

// TestGoals: the flow has what was asked for. The expectations were written before the reader.
func TestGoals(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	have := map[string]string{"openAIApi": "11111111-1111-4111-8111-111111111111"}
	for text, want := range map[string]struct {
		nodes  string
		name   string
		unread string
	}{
		"Build a chatbot that helps new colleagues with their questions":                                   {"bufferMemory chatOpenAI conversationChain", "Assistant", ""},
		`Create a chatflow called "Pizza Bot" that answers from https://pizza.example/menu`:                {"bufferMemory chatOpenAI cheerioWebScraper conversationalRetrievalQAChain memoryVectorStore openAIEmbeddings recursiveCharacterTextSplitter", "Pizza Bot", ""},
		"I need a bot that answers from our PDF manuals and remembers the conversation":                    {"bufferMemory chatOpenAI conversationalRetrievalQAChain memoryVectorStore openAIEmbeddings pdfFile recursiveCharacterTextSplitter", "Document assistant", ""},
		"Build an agent with a calculator and Wikipedia... no, with a calculator and web search":           {"bufferMemory calculator chatOpenAI serper toolAgent", "Agent", ""},
		"Set up a bot named Otto using claude-sonnet-4-0 without memory that answers from PDF files":       {"chatAnthropic conversationalRetrievalQAChain memoryVectorStore openAIEmbeddings pdfFile recursiveCharacterTextSplitter", "Otto", ""},
		"Create a flow with gpt-4o that keeps our handbook in Qdrant":                                      {"bufferMemory chatOpenAI conversationalRetrievalQAChain openAIEmbeddings plainText qdrant recursiveCharacterTextSplitter", "Document assistant", ""},
		`Create a chatflow that replies "We are closed"`:                                                   {"directReplyAgentflow startAgentflow", "Fixed reply", ""},
		"Build an agent that answers from our FAQ at https://acme.example/faq and can use a calculator":    {"bufferMemory calculator chatOpenAI cheerioWebScraper memoryVectorStore openAIEmbeddings recursiveCharacterTextSplitter retrieverTool toolAgent", "Agent", ""},
		"Build a bot that moderates what people say and answers politely":                                  {"bufferMemory chatOpenAI conversationChain inputModerationOpenAI", "Assistant", ""},
		"Build a chatbot that every day tells me the news, and if the user is angry hands over to support": {"bufferMemory chatOpenAI conversationChain", "Assistant", "a condition, a time or an event"},
		"Cria um chatflow que responde a partir dos nossos documentos em PDF":                              {"bufferMemory chatOpenAI conversationalRetrievalQAChain memoryVectorStore openAIEmbeddings pdfFile recursiveCharacterTextSplitter", "Document assistant", ""},
		"Baue einen Bot mit Gemini, der sich an das Gespräch erinnert":                                     {"bufferMemory chatGoogleGenerativeAI conversationChain", "Assistant", ""},
	} {
		g := goal.Read(text, defs)
		if g.Update || g.Name != want.name || strings.Join(g.Unread, ", ") != want.unread {
			t.Errorf("%s:\n  update %v, name %q, unread %q", text, g.Update, g.Name, g.Unread)
		}
		ways, err := goal.Tools{Defs: defs, Have: have}.Approaches(g.Features)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(want.nodes, strings.Join(nodes(ways[0]), " ")); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
		for _, way := range ways {
			valid(t, text, way, defs)
		}
	}
}

// TestAPageWithoutAnAddressIsMissing only if answers come from it.
func TestAPageWithoutAnAddressIsMissing(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	for text, missing := range map[string]bool{
		"build me a bot that answers from our FAQ page, remembers, and uses gpt-4o-mini": true,
		"a bot with gpt-4o-mini that knows our website":                                  true,
		"crée un bot qui répond à partir de notre site web":                              true,
		"baue einen Bot, der aus unserer Webseite antwortet":                             true,
		"build a bot that answers from our FAQ page (www.acme.example/faq)":              false,
		"build a bot that answers from our FAQ at https://acme.example/faq":              false,
		"build a bot that answers from our FAQ in PDF files":                             false,
		"build a bot for our website that answers from our handbook":                     false,
		`build a bot for our website that always replies "We are closed"`:                false,
		`build a bot that always replies "See our web page"`:                             false,
		"build an assistant that always answers in German":                               false,
	} {
		g := goal.Read(text, defs)
		if got := g.LacksPage(); got != missing {
			t.Errorf("%s: missing %v: %+v", text, got, g.Documents)
		}
		if strings.Contains(text, "www.") && g.Documents[0].Address != "https://www.acme.example/faq" {
			t.Errorf("%s: %+v", text, g.Documents)
		}
	}
}

// TestConditions: each case has its answer, every other case continues as the sentence says, and
// unread parts are reported.
func TestConditions(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	have := map[string]string{"openAIApi": "11111111-1111-4111-8111-111111111111"}
	for text, want := range map[string]struct {
		branches  []goal.Branch
		otherwise string
		nodes     string
		unread    string
	}{
		`Build a bot that replies "Write to accounts" if the question mentions "invoice", otherwise it replies "Ask the front desk"`: {
			[]goal.Branch{{Says: []string{"invoice"}, Reply: "Write to accounts"}},
			"Ask the front desk",
			"conditionAgentflow directReplyAgentflow startAgentflow", "",
		},
		`Create a flow called "Gate": if somebody says "delivery" or "parcel", it answers with "Ring twice". If they ask about "keys", answer with "See the janitor". In all other cases it says "Good day"`: {
			[]goal.Branch{{Says: []string{"delivery", "parcel"}, Reply: "Ring twice"}, {Says: []string{"keys"}, Reply: "See the janitor"}},
			"Good day",
			"conditionAgentflow directReplyAgentflow startAgentflow", "",
		},
		`Make a chatbot for our shop; when the customer is furious, reply "A colleague will call you"`: {
			[]goal.Branch{{Case: "the customer is furious", Reply: "A colleague will call you"}},
			"",
			"conditionAgentAgentflow directReplyAgentflow llmAgentflow startAgentflow", "",
		},
		`Build a bot that answers "No" when somebody mentions "discount" and explains our prices politely`: {
			[]goal.Branch{{Says: []string{"discount"}, Reply: "No"}},
			"",
			"conditionAgentflow directReplyAgentflow llmAgentflow startAgentflow", "",
		},
		`Make a bot that answers "Shut" if someone writes "Monday" and "Come in" otherwise`: {
			[]goal.Branch{{Says: []string{"Monday"}, Reply: "Shut"}},
			"Come in",
			"conditionAgentflow directReplyAgentflow startAgentflow", "",
		},
		`Build a bot for guests; if the guest is a member, call the loyalty desk`: {
			nil, "", "bufferMemory chatOpenAI conversationChain", "a condition",
		},
		`Baue einen Bot, der "Bitte warten" antwortet, wenn jemand "Termin" sagt, sonst antwortet er "Guten Tag"`: {
			[]goal.Branch{{Says: []string{"Termin"}, Reply: "Bitte warten"}},
			"Guten Tag",
			"conditionAgentflow directReplyAgentflow startAgentflow", "",
		},
	} {
		g := goal.Read(text, defs)
		if d := cmp.Diff(want.branches, g.Branches); d != "" || g.Otherwise != want.otherwise || strings.Join(g.Unread, ", ") != want.unread {
			t.Errorf("%s: otherwise %q, unread %q (-want +got)\n%s", text, g.Otherwise, g.Unread, d)
			continue
		}
		ways, err := goal.Tools{Defs: defs, Have: have}.Approaches(g.Features)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		replies := slices.DeleteFunc(nodes(ways[0]), func(kind string) bool { return kind != "directReplyAgentflow" })
		fixed := len(want.branches)
		if want.otherwise != "" {
			fixed++
		}
		if d := cmp.Diff(want.nodes, strings.Join(slices.Compact(nodes(ways[0])), " ")); d != "" || len(replies) != fixed {
			t.Errorf("%s: %d replies (-want +got)\n%s", text, len(replies), d)
		}
		for _, way := range ways {
			valid(t, text, way, defs)
		}
	}
}

// TestAConditionFindsItsWordsHoweverTheyAreWritten: Flowise is case-sensitive, people are not, in
// any script.
func TestAConditionFindsItsWordsHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	for word, forms := range map[string][]string{
		"öffnung": {"öffnung", "Öffnung", "ÖFFNUNG"}, "Étage": {"étage", "Étage", "ÉTAGE"}, "c++": {"c++", "C++"}, "сад": {"сад", "Сад", "САД"},
	} {
		g := goal.Read(`Build a bot that replies "Yes" if somebody mentions "`+word+`", otherwise it replies "No"`, defs)
		ways, err := goal.Tools{Defs: defs}.Approaches(g.Features)
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		var cases []struct {
			Value2 string `json:"value2"`
		}
		for _, op := range ways[0].Ops {
			if add, is := op.(*flow.AddNode); is && add.NodeName == "conditionAgentflow" {
				if err := json.Unmarshal(add.Params["conditions"], &cases); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(cases) != 1 {
			t.Errorf("%s: %d cases", word, len(cases))
			continue
		}
		re, err := regexp.Compile(cases[0].Value2)
		for _, form := range forms {
			if err != nil || !re.MatchString("about "+form+" please") {
				t.Errorf("%s: %q does not find %q: %v", word, cases[0].Value2, form, err)
			}
		}
	}
}

// valid compiles an approach and validates the result.
func valid(t *testing.T, text string, way goal.Approach, defs flow.Definitions) {
	t.Helper()
	body, err := json.Marshal(way.Ops)
	if err != nil {
		t.Fatal(err)
	}
	ops, err := flow.DecodeOps(body)
	if err != nil {
		t.Errorf("%s, %s: %v", text, way.Value, err)
		return
	}
	made, err := flow.Compile(flow.Empty(), ops, defs, flow.Options{Kind: way.Kind})
	if err != nil {
		t.Errorf("%s, %s: %v", text, way.Value, err)
		return
	}
	for _, f := range flow.Validate(made.FlowData, defs, flow.Check{Kind: way.Kind}).Findings {
		// What only a person can fill in is listed in Open.
		if f.Severity == flow.SeverityError && len(way.Open) == 0 {
			t.Errorf("%s, %s: %s", text, way.Value, f.Message)
		}
	}
}

func TestChangesNameTheirFlow(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	for text, target := range map[string]string{
		"Change the Support Bot so that it remembers the conversation": "Support Bot",
		`Add a calculator to the "Sales agent" flow`:                   "Sales agent",
		"Build a chatbot for the Sales Team":                           "",
		`Develop the chatflow "Night porter" further: it says hello`:   "Night porter",
		"Develop the existing chatflow Porter so that it is polite":    "Porter",
	} {
		if g := goal.Read(text, defs); g.Update != (target != "") || g.Target != target {
			t.Errorf("%s: update %v of %q", text, g.Update, g.Target)
		}
	}
}

// TestAFormAsksForWhatIsListed: each field separately, without what is done with them.
func TestAFormAsksForWhatIsListed(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	for text, want := range map[string]string{
		"Create a flow with a form that asks for name, email and order number, and answers with the status": "name|email|order number",
		"Build a form for the title, the author and a short review":                                         "title|author|short review",
		"Make a flow that asks the guest in a form for name and e-mail, then books the room":                "name|e-mail",
		"Create a form that asks guests for their birthday and sends a card":                                "birthday",
		"Cria um fluxo com um formulário que pede nome e telefone e responde com o número":                  "nome|telefone",
		"Build a bot that asks for nothing":                                                                 "",
	} {
		if got := strings.Join(goal.Read(text, defs).Form, "|"); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

// TestFormsAndCallsAreAgentFlows: features that only an agent flow has lead to one.
func TestFormsAndCallsAreAgentFlows(t *testing.T) {
	t.Parallel()
	defs := shipped(t)
	for text, want := range map[string]string{
		"Create a flow with a form that asks for name, email and order number, and answers with the status": "llmAgentflow startAgentflow",
		"Build a bot that calls the API https://api.acme.example/orders and explains what it says":          "agentAgentflow httpAgentflow startAgentflow",
	} {
		ways, err := goal.Tools{Defs: defs}.Approaches(goal.Read(text, defs).Features)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(nodes(ways[0]), " "); got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
		valid(t, text, ways[0], defs)
	}
}

// TestAnAddressNamesNoNode: the words of an address are not a description of the flow.
func TestAnAddressNamesNoNode(t *testing.T) {
	t.Parallel()
	g := goal.Read("build a bot that answers from our help page (https://docs.example.org/gmail/calculator/pinecone) and remembers", shipped(t))
	if len(g.Tools) > 0 || g.Store != "" || len(g.Documents) != 1 {
		t.Errorf("tools %v, store %q, documents %v", g.Tools, g.Store, g.Documents)
	}
}
