// Command weather is the domain of docs/write-a-domain.md: a read, a write, and the read that
// verifies the write.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

//go:embed hints.json
var hints []byte

type query struct {
	City string `json:"city" description:"Name of a city." min:"1" max:"80"`
	Days int    `json:"days" description:"How many days ahead." min:"1" max:"7" default:"1"`
}

type forecast struct {
	City string `json:"city"`
	Days int    `json:"days"`
	High int    `json:"high"`
	Sky  string `json:"sky"`
}

// Summary implements domainkit.Summarizer.
func (f forecast) Summary() string {
	return fmt.Sprintf("%s, day %d: %s, up to %d °C", f.City, f.Days, f.Sky, f.High)
}

func getForecast(_ context.Context, _ domainkit.Call, q query) (forecast, error) {
	if q.City == "Atlantis" {
		return forecast{}, domainkit.Refusef(contracts.ErrNotFound, "there is no city called %s", q.City)
	}
	return forecast{City: q.City, Days: q.Days, High: 14 + len(q.City)%12 + q.Days, Sky: "sunny"}, nil
}

type observation struct {
	City string `json:"city" description:"Name of a city." min:"1" max:"80"`
	Sky  string `json:"sky" description:"How the sky looks." enum:"sunny,cloudy,rainy"`
}

type report struct {
	Found   bool   `json:"found"`
	Applied bool   `json:"applied"`
	City    string `json:"city,omitempty"`
	Sky     string `json:"sky,omitempty"`
}

type reportQuery struct {
	Key string `json:"key" description:"Idempotency key of the request that made it." min:"1"`
}

// reports holds the reports by the key of the request.
type reports struct {
	mu    sync.Mutex // guards byKey
	byKey map[string]report
}

func (r *reports) add(_ context.Context, call domainkit.Call, in observation) (report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := report{Found: true, Applied: true, City: in.City, Sky: in.Sky}
	r.byKey[call.IdempotencyKey] = made
	return made, nil
}

func (r *reports) find(_ context.Context, _ domainkit.Call, q reportQuery) (report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byKey[q.Key], nil
}

// resolve returns the outcome of an interrupted write.
func (r *reports) resolve(ctx context.Context, call domainkit.Call, _ json.RawMessage) (domainkit.Resolution, error) {
	made, err := r.find(ctx, call, reportQuery{Key: call.IdempotencyKey})
	if err != nil || !made.Found {
		return domainkit.Resolution{Effect: contracts.EffectNone}, err
	}
	return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: made}, nil
}

func newDomain(log *slog.Logger) (*domainkit.Service, error) {
	svc, err := domainkit.New(domainkit.Config{Domain: "weather", Version: "1.0.0", Hints: hints, Logger: log})
	if err != nil {
		return nil, err
	}
	made := &reports{byKey: map[string]report{}}
	err = errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "get_forecast"}, getForecast),
		domainkit.Add(svc, domainkit.Capability{Name: "report_weather", Resolve: made.resolve}, made.add),
		domainkit.Add(svc, domainkit.Capability{Name: "find_report"}, made.find),
	)
	return svc, err
}

func run(ctx context.Context, _ []string, _ func(string) string, _, stderr io.Writer) error {
	svc, err := newDomain(domainkit.TextLogger(stderr))
	if err != nil {
		return err
	}
	return svc.Run(ctx, "127.0.0.1:8094")
}

func main() { os.Exit(domainkit.Main("weather", run)) }
