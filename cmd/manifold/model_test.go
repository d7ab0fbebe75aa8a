package main

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/internal/model/scripted"
)

func TestModelCheckSaysWhatWorks(t *testing.T) {
	t.Parallel()
	capable := scripted.New(&scripted.Script{Rules: []scripted.Rule{
		{Contains: "timer", Answer: scripted.Answer{Calls: []scripted.Call{{Name: "set_timer", Arguments: map[string]any{"minutes": 12}}}}},
		{System: "primary colours", Answer: scripted.Answer{JSON: json.RawMessage(`{"colours":["red","green","blue"]}`)}},
		{System: "You check", Answer: scripted.Answer{JSON: json.RawMessage(`{"opinion":"degraded","reasons":["no bread"]}`)}},
	}})
	mute := scripted.New(scripted.Nothing{})
	broken := scripted.New(&scripted.Script{Rules: []scripted.Rule{{Answer: scripted.Answer{Fault: scripted.FaultKey}}}})
	for name, c := range map[string]struct {
		server *scripted.Server
		exit   int
		says   []string
	}{
		"a model that can all":            {capable, exitOK, []string{"ok      reads a message", "ok      gives a verdict"}},
		"a model that only talks":         {mute, exitFailed, []string{"FAILED  reads a message", "called no function", "twice gave an answer that does not fit"}},
		"a server that refuses the key":   {broken, exitFailed, []string{"does not take the key"}},
		"flags without an engine or name": {nil, exitUsage, []string{"no model is configured"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"model", "check"}
			if c.server != nil {
				h := httptest.NewServer(c.server)
				defer h.Close()
				args = append(args, "--reasoning-engine", "openai", "--reasoning-model", "tiny", "--reasoning-base-url", h.URL+"/v1")
			}
			var out, errs strings.Builder
			code := run(t.Context(), args, func(string) string { return "" }, strings.NewReader(""), &out, &errs)
			if code != c.exit {
				t.Errorf("exit %d, want %d: %s", code, c.exit, errs.String())
			}
			for _, s := range c.says {
				if !strings.Contains(out.String()+errs.String(), s) {
					t.Errorf("%q is missing in:\n%s%s", s, out.String(), errs.String())
				}
			}
		})
	}
}
