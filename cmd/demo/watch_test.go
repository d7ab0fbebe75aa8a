package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestAnEditPastTheDomainBecomesAVersion: an edit that is saved in Flowise itself is stored as a
// version, without a request.
func TestAnEditPastTheDomainBecomesAVersion(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo")
	s, _, _ := start(t, "--flowise-watch", "5ms")
	rita, otto := with(t, s, s.Keys.Requester), with(t, s, s.Keys.Approver)
	page := made(t, rita, otto, `create a chatflow called "Watched" that replies "one"`)

	var flow struct {
		FlowData string `json:"flowData"`
	}
	if err := json.Unmarshal(inFlowise(t, http.MethodGet, page, ""), &flow); err != nil {
		t.Fatal(err)
	}
	flow.FlowData = strings.Replace(flow.FlowData, "one", "by hand", 1)
	edited, err := json.Marshal(flow)
	if err != nil {
		t.Fatal(err)
	}
	inFlowise(t, http.MethodPut, page, string(edited))

	deadline, tick := time.After(30*time.Second), time.NewTicker(500*time.Millisecond)
	defer tick.Stop()
	for {
		session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: `list the versions of the chatflow "Watched"`}, wait())
		if contracts.CodeOf(err) != contracts.CodeRateLimited && (err != nil || session.Answer == nil) {
			t.Fatalf("%+v %v", session, err)
		}
		if said := fmt.Sprint(session.Answer); strings.Contains(said, "v2") && strings.Contains(said, "edited in Flowise") {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the edit is not kept: %+v", session.Answer)
		}
	}
}

// made creates a chatflow and returns its URL in Flowise.
func made(t *testing.T, rita, otto *client.Client, words string) string {
	t.Helper()
	session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || session.Interrupt == nil {
		t.Fatalf("%+v %v", session, err)
	}
	if _, err := otto.Approve(t.Context(), *session.Interrupt, "", wait()); err != nil {
		t.Fatal(err)
	}
	view, err := client.AwaitRun(t.Context(), rita, session.RunIDs[0])
	if err != nil || view.State != contracts.RunCompleted {
		t.Fatalf("%s %v", view.State, err)
	}
	raw, err := json.Marshal(view)
	link := regexp.MustCompile(`"link": ?"(http://[^/"]+)/[^"]*/([0-9a-f-]{36})"`).FindStringSubmatch(string(raw))
	if err != nil || link == nil {
		t.Fatalf("no link to the flow: %s %v", raw, err)
	}
	return link[1] + "/api/v1/chatflows/" + link[2]
}

// inFlowise sends a request to the in-memory Flowise with its API key.
func inFlowise(t *testing.T, method, url, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sandbox-key")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s %v", method, url, res.StatusCode, answer, err)
	}
	return answer
}
