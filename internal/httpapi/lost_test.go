package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// lossy is a transport that loses the first response to a message in a session.
type lossy struct{ lost atomic.Bool }

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && (strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, "/resume")) && l.lost.CompareAndSwap(false, true) {
		_ = res.Body.Close() // this response is lost
		return nil, errors.New("connection reset by peer")
	}
	return res, err
}

type move struct {
	From int `json:"from_floor"`
	To   int `json:"to_floor"`
}

// movers is a domain that requires two numbers.
func movers(t *testing.T) *domainkit.Service {
	t.Helper()
	svc, err := domainkit.New(domainkit.Config{Domain: "desks", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	err = domainkit.Add(svc, domainkit.Capability{Name: "desk_move", Description: "Moves a desk between two floors", Metadata: contracts.Metadata{
		SideEffectClass: contracts.ClassRead,
		IntentHints: &contracts.IntentHints{
			Keywords: []string{"desk", "move"},
			Examples: []string{"move my desk", "move a desk to another floor", "shift my desk", "take my desk elsewhere", "desk move please"},
		},
		ParameterSpecs: map[string]contracts.ParameterSpec{"from_floor": {Ask: "From which floor?"}, "to_floor": {Ask: "To which floor?"}},
	}}, func(_ context.Context, _ domainkit.Call, in move) (move, error) { return in, nil })
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

func TestAnAnswerWhoseReplyIsLostIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *app.Config) {
		c.Bootstrap = []byte(`{"domains":[{"domain":"desks","url":"` + domaintest.Serve(t, movers(t)) + `"}]}`)
	})
	for name, answer := range map[string]func(c *client.Client, id string) (contracts.SessionResponse, error){
		"said": func(c *client.Client, id string) (contracts.SessionResponse, error) {
			return c.Say(t.Context(), id, "3", wait())
		},
		"answered": func(c *client.Client, id string) (contracts.SessionResponse, error) {
			return c.Resume(t.Context(), id, contracts.Resume{Response: 3}, wait())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rita := apptest.Client(t, client.Config{URL: s.url, Key: s.text["rita"], HTTP: &http.Client{Transport: &lossy{}}})
			r, err := rita.StartSession(t.Context(), contracts.StartSession{Message: "move my desk"}, wait())
			if err != nil || r.Interrupt == nil {
				t.Fatalf("%+v %v", r, err)
			}
			r, err = answer(rita, r.SessionID)
			if err != nil || r.Interrupt == nil || r.Interrupt.Prompt != "To which floor?" {
				t.Errorf("nobody said to which floor: %s, %+v, %v", r.Status, r.Interrupt, err)
			}
		})
	}
}
