package flowise_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTheStepsOfADevelopmentHaveTheirNamesAndPhases: users of the run view and the audit trail know
// the steps by these names.
func TestTheStepsOfADevelopmentHaveTheirNamesAndPhases(t *testing.T) {
	t.Parallel()
	want := []string{
		"intent reason classify_intent",
		"discover tool hydrate_context",
		"human hitl_credentials",
		"human hitl_page",
		"target tool resolve_target",
		"human hitl_select_target",
		"target tool load_current_flow",
		"target tool summarize_current_flow",
		"set baseline",
		"plan reason plan",
		"human hitl_plan",
		"plan reason define_patch_scope",
		"plan tool begin_with_pattern",
		"target tool summarize_pattern", "plan tool begin_with_template",
		"set ground",
		"patch tool excerpts",
		"patch tool repair_schema",
		"patch reason compile_patch_ir",
		"patch tool compile_flow_data",
		"validate tool validate",
		"validate tool preflight_validate_patch",
		"apply tool apply_create",
		"apply tool apply_patch",
		"set applied",
		"test tool test",
		"evaluate verify evaluate",
		"human hitl_review",
		"review tool save_pattern",
		"review tool restore_version",
		"apply tool remove_created",
	}
	var got []string
	for _, w := range setup(t).manifest().Workflows {
		if w.Name != "develop_chatflow" {
			continue
		}
		for _, s := range w.Steps {
			got = append(got, strings.TrimSpace(s.Phase+" "+string(s.Kind)+" "+s.ID))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEachSkillIsUsedByAStep, and each reason or judge step has an existing skill.
func TestEachSkillIsUsedByAStep(t *testing.T) {
	t.Parallel()
	m := setup(t).manifest()
	used := map[string]bool{}
	for _, w := range m.Workflows {
		for _, s := range w.Steps {
			if s.Reason != nil {
				used[s.Reason.Skill] = true
			}
			if s.Verify != nil && s.Verify.Judge != nil {
				used[s.Verify.Judge.Skill] = true
			}
		}
	}
	for skill := range m.Skills {
		if !used[skill] {
			t.Errorf("no step uses the skill %s", skill)
		}
		delete(used, skill)
	}
	for skill := range used {
		t.Errorf("there is no skill %s", skill)
	}
}

// TestTestsAreMadeSideBySide: the server answers only once several questions are pending, so
// sequential tests would never end.
func TestTestsAreMadeSideBySide(t *testing.T) {
	t.Parallel()
	const together = 4
	b := setup(t)
	id := b.create("Asked by many", "Pong")
	target, err := url.Parse(b.base)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	waiting, all := 0, make(chan struct{})
	flowise := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/prediction/") {
			mu.Lock()
			if waiting++; waiting == together {
				close(all)
			}
			mu.Unlock()
			select {
			case <-all:
			case <-time.After(10 * time.Second): // only if the test fails
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
		}
		flowise.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b.config.Instances[0].Endpoint = front.URL
	b.restart()
	cases := []object{
		{"name": "happy", "kind": "happy", "question": "Ping?", "assertions": []object{{"type": "contains", "value": "Pong"}}},
		{"name": "edge", "kind": "edge", "question": "?", "assertions": []object{{"type": "answered"}}},
	}
	got := b.facts("test_chatflow", object{"chatflow_id": id, "cases": cases, "trials": 2}, in{})
	if got["passed"] != 2.0 || got["failed"] != 0.0 || waiting != len(cases)*2 {
		t.Errorf("%d questions: %v", waiting, got)
	}
}
