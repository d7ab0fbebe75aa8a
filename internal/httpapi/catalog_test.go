package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// TestACatalogOfHundredsIsListedWhole: a request without a limit does not get a part of the catalog
// as if it were all.
func TestACatalogOfHundredsIsListedWhole(t *testing.T) {
	t.Parallel()
	const many = 320
	var capabilities []string
	for i := range many {
		capabilities = append(capabilities, fmt.Sprintf(`{"name":"count_%03d","description":"Counts the things on shelf %d","schema":{"type":"object","properties":{}},
			"metadata":{"side_effect_class":"read","routable":false}}`, i, i))
	}
	manifest := `{"schema_version":"1","domain":"shelves","version":"1","title":"Shelves","description":"Counts things.","capabilities":[` + strings.Join(capabilities, ",") + `]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answers := map[string]string{"/health": `{"status":"ok","version":"1"}`, "/manifest": manifest}
		_, _ = w.Write([]byte(answers[r.URL.Path])) // the client may have disconnected
	}))
	t.Cleanup(server.Close)
	s := setup(t, func(c *app.Config) {
		c.Bootstrap = []byte(`{"domains":[{"domain":"shelves","url":"` + server.URL + `"}]}`)
	})
	for query, want := range map[string]int{"": many, "?limit=30": 30, "?limit=5000": many} {
		var page contracts.List[contracts.CapabilityView]
		got := s.send("rita", http.MethodGet, "/v1/capabilities"+query, "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatalf("%q: %v in %.200s", query, err, got.body)
		}
		if len(page.Items) != want || (page.Next == "") != (want == many) {
			t.Errorf("%q: %d of %d capabilities, and the next page is %q: %.300s", query, len(page.Items), many, page.Next, got.body)
		}
	}
}

// TestAQuestionThatIsTakenBackHasAnAnswer, also for clients that only read the session.
func TestAQuestionThatIsTakenBackHasAnAnswer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	asked, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: "set an alert for AAPL"}, wait())
	if err != nil || len(asked.Interrupts) != 1 {
		t.Fatalf("%+v, %v", asked, err)
	}
	if got := s.send("rita", http.MethodPost, "/v1/sessions/"+asked.SessionID+"/messages", `{"message":"no, forget it, I changed my mind"}`); got.status >= 300 {
		t.Fatal(got)
	}
	if got := s.send("rita", http.MethodGet, "/v1/sessions/"+asked.SessionID, ""); !strings.Contains(got.body, "Never mind, then.") {
		t.Errorf("the session says %s", got.body)
	}
}

// TestAllThatWaitsIsListed: an approver finds the newest gate as well.
func TestAllThatWaitsIsListed(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const many = contracts.PageLimit + 3
	for i := range many {
		if _, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: fmt.Sprintf("set an alert for AAPL above %d", 250+i)}, client.Opt{}); err != nil {
			t.Fatal(err)
		}
	}
	var page contracts.List[contracts.Interrupt]
	deadline := time.Now().Add(time.Minute)
	for len(page.Items) < many && time.Now().Before(deadline) {
		got := s.send("otto", http.MethodGet, "/v1/gates?status=open", "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatalf("%v in %.200s", err, got.body)
		}
	}
	if len(page.Items) != many {
		t.Errorf("%d of %d gates are listed", len(page.Items), many)
	}
}
