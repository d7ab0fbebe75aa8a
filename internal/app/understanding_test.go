package app_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// call is one call of a function, whoever made it.
type call struct {
	name       string
	parameters map[string]any
}

// exact tells whether calls are those that a case asks for, in any order.
func exact(c eval.Case, calls []call) bool {
	if len(calls) != len(c.Gold) {
		return false
	}
	left := slices.Clone(calls)
	for _, g := range c.Gold {
		at := slices.IndexFunc(left, func(made call) bool { return made.name == g.Capability && fits(g, made.parameters) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}

func fits(g eval.Gold, made map[string]any) bool {
	for name := range made {
		if _, known := g.Parameters[name]; !known {
			return false
		}
	}
	for name := range g.Parameters {
		if v, given := made[name]; given && !g.Right(name, v) || !given && !g.MayLack(name) {
			return false
		}
	}
	return true
}

// column is what is counted of one kind of case.
type column struct {
	cases, alone, ours, asked, tokens int
}

// recordings are the data set and the files of what real models answered to it.
func recordings(t *testing.T) (set eval.Set, answersFile, casesFile string) {
	t.Helper()
	sets, models := os.Getenv("MANIFOLD_INTENT_DATA"), os.Getenv("MANIFOLD_MODEL_DATA")
	if sets == "" || models == "" {
		t.Skip("MANIFOLD_INTENT_DATA and MANIFOLD_MODEL_DATA are not set: recorded models are not replayed")
	}
	casesFile, answersFile = filepath.Join(sets, "bfcl.json"), filepath.Join(models, "bfcl-recorded.json")
	data, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	set, err = eval.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return set, answersFile, casesFile
}

// What the path with a model reaches with the recorded answers of real models,
// beside what these models reach alone.
func TestRecordedModels(t *testing.T) {
	t.Parallel()
	set, answersFile, casesFile := recordings(t)
	names, err := scripted.Models(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, mode := range []intent.EngineMode{intent.EngineAssists, intent.EngineAlways} {
			t.Run(name+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				recording, err := scripted.ReadRecording(casesFile, answersFile, name)
				if err != nil {
					t.Fatal(err)
				}
				columns := replay(t, set, recording, mode, func(c eval.Case) []string { return c.Offered })
				for _, split := range slices.Sorted(keysOf(columns)) {
					c := columns[split]
					share := func(n int) float64 { return 100 * float64(n) / float64(c.cases) }
					t.Logf("%-20s %3d cases · alone %5.1f · with Manifold %5.1f · asked %5.1f %% · %d tokens a message", split, c.cases, share(c.alone), share(c.ours), share(c.asked), c.tokens/c.cases)
					if mode != intent.EngineAssists {
						continue
					}
					if split == "irrelevance" {
						if 2*c.ours > c.alone {
							t.Errorf("%s: %d irrelevant requests are accepted, the model alone accepts %d", split, c.ours, c.alone)
						}
					} else if share(c.ours) < share(c.alone)-2 {
						t.Errorf("%s: %.1f %% exact, the model alone has %.1f", split, share(c.ours), share(c.alone))
					}
				}
			})
		}
	}
}

func keysOf(m map[string]*column) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// The same requests with all functions of the set to choose from: the model gets a
// shortlist. What it answers is what it did when it was offered fewer, so this tells
// whether the shortlist holds what is asked for and whether what it brings survives.
func TestRecordedModelsOnACatalogOfHundreds(t *testing.T) {
	t.Parallel()
	set, answersFile, casesFile := recordings(t)
	recording, err := scripted.ReadRecording(casesFile, answersFile, "gpt-4o-mini-2024-07-18-FC")
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for _, m := range set.Manifests {
		functions += len(m.Capabilities)
	}
	all := func(eval.Case) []string { return nil }
	cases, alone, ours := 0, 0, 0
	for split, c := range replay(t, set, recording, intent.EngineAlways, all) {
		if split != "irrelevance" { // among hundreds of functions there is often one for them
			cases, alone, ours = cases+c.cases, alone+c.alone, ours+c.ours
		}
	}
	t.Logf("%d functions, %d cases: alone with its one to four %d, with Manifold and all %d", functions, cases, alone, ours)
	if ours*4 < alone*3 {
		t.Errorf("%d of %d survive a catalog of %d", ours, alone, functions)
	}
}

func replay(t *testing.T, set eval.Set, recording *scripted.Recording, mode intent.EngineMode, only func(eval.Case) []string) map[string]*column {
	t.Helper()
	server := httptest.NewServer(scripted.New(recording))
	t.Cleanup(server.Close)
	model, err := app.NewModel(app.ModelConfig{Engine: app.EngineOpenAI, Model: "recorded", BaseURL: server.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := intent.NewAdapter(intent.Config{Engine: app.NewUnderstanding(model), EngineMode: mode})
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]*column{}
	for _, c := range set.Cases {
		col := columns[c.Split]
		if col == nil {
			col = &column{}
			columns[c.Split] = col
		}
		col.cases++
		u, err := adapter.Understand(t.Context(), intent.Request{Message: c.Text, Catalog: catalog, Only: only(c)})
		if err != nil {
			t.Fatal(err)
		}
		col.tokens += contracts.SumTokens(u.Calls).In + contracts.SumTokens(u.Calls).Out
		if len(u.Calls) > 0 {
			col.asked++
		}
		alone := callsOf(recording, c)
		var ours []call
		if u.Outcome == contracts.GateAccept {
			for _, in := range u.Intents {
				ours = append(ours, call{in.Capability, in.Parameters})
			}
		}
		if len(c.Gold) == 0 {
			col.alone, col.ours = col.alone+min(len(alone), 1), col.ours+min(len(ours), 1)
			continue
		}
		right, rightAlone := exact(c, ours), exact(c, alone)
		if rightAlone {
			col.alone++
		}
		if right {
			col.ours++
		}
	}
	return columns
}

func callsOf(recording *scripted.Recording, c eval.Case) []call {
	var out []call
	alone, _ := recording.Case(c.ID)
	for _, made := range alone.Calls {
		out = append(out, call{made.Name, made.Arguments})
	}
	return out
}
