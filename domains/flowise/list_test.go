package flowise_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise"
)

func TestEveryFlowIsFoundByItsNameHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.AddFlow("The Oldest", "CHATFLOW", graph)
	for i := range 2000 {
		b.server.AddFlow(fmt.Sprint("Archive ", i), "CHATFLOW", graph)
	}
	if got := column(b.facts("resolve_target", object{"query": "the oldest"}, in{})["matches"], "name"); !slices.Equal(got, []string{"The Oldest"}) {
		t.Errorf("found %q", got)
	}
	out := b.execute("list_chatflows", object{"query": "oldest"}, in{})
	if got := column(out.Facts["chatflows"], "name"); !slices.Equal(got, []string{"The Oldest"}) {
		t.Errorf("listed %q", got)
	}
	if all := b.facts("list_chatflows", object{}, in{}); all["total"] != 2001.0 || all["cut"] != nil {
		t.Errorf("there are %v, cut: %v", all["total"], all["cut"])
	}
}

// pages serves lists of the flows that the function returns, like Flowise.
func (b *bench) pages(flows func(page int) []string) {
	b.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		all := flows(page)
		rows := []object{}
		for _, name := range all[min((page-1)*limit, len(all)):min(page*limit, len(all))] {
			rows = append(rows, object{"id": name, "name": name, "type": "CHATFLOW", "flowData": graph, "updatedDate": "2026-01-01T00:00:00.000Z"})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object{"data": rows, "total": len(all)})
	}))
	b.Cleanup(front.Close)
	b.config.Instances = []flowise.Instance{{ID: "test", Endpoint: front.URL, APIKey: "key"}}
	b.restart()
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("Flow ", i)
	}
	return out
}

// TestNoFlowIsMissedWhenOneIsDeletedMeanwhile: deleting a flow of the first page moves the first
// flow of the second page to the page that was already read.
func TestNoFlowIsMissedWhenOneIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := names(250)
	b.pages(func(page int) []string {
		if page == 2 && len(all) == 250 {
			all = all[1:]
		}
		return all
	})
	for _, want := range []string{"Flow 100", "Flow 249"} {
		if got := column(b.facts("resolve_target", object{"query": want}, in{})["matches"], "name"); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: found %q", want, got)
		}
	}
}

func TestAListThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := names(50_001)
	b.pages(func(int) []string { return all })
	for capability, wish := range map[string]object{"list_chatflows": {}, "resolve_target": {"query": "Flow 7"}} {
		out := b.execute(capability, wish, in{})
		if !out.OK || out.Facts["cut"] != true || !strings.Contains(out.Summary, "only the 50000 that changed last") || !strings.Contains(out.Summary, "type of flow") {
			t.Errorf("%s: %s %v", capability, out.Summary, out.Error)
		}
	}
}

// TestNamesOfOtherScriptsAreToldApart: punctuation and accents are ignored only if nothing else
// distinguishes the names.
func TestNamesOfOtherScriptsAreToldApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"🚀", "🔥", "🔥 Sale", "resume", "résumé", "กิน", "กุน", "C++", "C#"} {
		b.server.AddFlow(name, "CHATFLOW", graph)
	}
	for query, want := range map[string][]string{
		"🚀": {"🚀"}, "🔥": {"🔥"}, "resume": {"resume"}, "RÉSUMÉ": {"résumé"}, "กิน": {"กิน"}, "c#": {"C#"}, "c++": {"C++"}, "🦊": nil,
		"re\u0301sume\u0301": {"résumé"},
	} {
		if got := column(b.facts("resolve_target", object{"query": query}, in{})["matches"], "name"); !slices.Equal(got, want) {
			t.Errorf("%s: found %q", query, got)
		}
	}
}
