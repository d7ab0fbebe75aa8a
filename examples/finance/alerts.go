package finance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// maxAlerts bounds the stored alerts.
const maxAlerts = 10_000

// alert is one stored alert. Deleted alerts are kept, so that the outcome of an earlier request can
// still be found.
type alert struct {
	ID      string    `json:"alert_id"`
	Symbol  string    `json:"symbol"`
	Name    string    `json:"name"`
	Above   float64   `json:"above"`
	At      time.Time `json:"created_at"`
	key     string
	deleted bool
}

// alerts stores all alerts.
type alerts struct {
	mu    sync.Mutex // guards items
	items []alert
}

func newAlerts() *alerts { return &alerts{} }

func (a *alerts) add(entry alert) (alert, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.items) >= maxAlerts {
		return alert{}, domainkit.Refusef(contracts.ErrPrecondition, "there are %d alerts already", maxAlerts)
	}
	entry.ID = fmt.Sprintf("al-%d", len(a.items)+1)
	a.items = append(a.items, entry)
	return entry, nil
}

func (a *alerts) find(fits func(alert) bool) (alert, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, entry := range a.items {
		if fits(entry) {
			return entry, true
		}
	}
	return alert{}, false
}

func (a *alerts) byKey(key string) (alert, bool) {
	return a.find(func(entry alert) bool { return entry.key == key })
}

// remove marks an alert as deleted and reports whether it ever existed.
func (a *alerts) remove(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.items {
		if a.items[i].ID == id {
			a.items[i].deleted = true
			return true
		}
	}
	return false
}

// set returns the alerts that are not deleted.
func (a *alerts) set(symbol string) []alert {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []alert{}
	for _, entry := range a.items {
		if !entry.deleted && (symbol == "" || entry.Symbol == symbol) {
			out = append(out, entry)
		}
	}
	return out
}

type newAlert struct {
	Symbol string  `json:"symbol" description:"Ticker symbol, such as PETR4.SA." pattern:"^[A-Z0-9]{1,10}(\\.[A-Z]{1,3})?$"`
	Above  float64 `json:"above" description:"The price above which the alert fires." above:"0"`
}

// Summary implements domainkit.Summarizer.
func (a alert) Summary() string {
	return fmt.Sprintf("alert %s is set: %s above %g", a.ID, a.Symbol, a.Above)
}

func (d *domain) setPriceAlert(_ context.Context, call domainkit.Call, in newAlert) (alert, error) {
	s, ok := d.market.find(in.Symbol)
	if !ok {
		return alert{}, unknownStock(in.Symbol)
	}
	// The symbol is stored as requested, because the verification compares it.
	return d.alerts.add(alert{
		Symbol: in.Symbol, Name: s.name, Above: in.Above, key: call.IdempotencyKey,
		At: d.now().UTC().Truncate(time.Second),
	})
}

// resolveAlert looks for the result of an earlier request with the key.
func (d *domain) resolveAlert(_ context.Context, call domainkit.Call, _ json.RawMessage) (domainkit.Resolution, error) {
	entry, ok := d.alerts.byKey(call.IdempotencyKey)
	if !ok {
		return domainkit.Resolution{Effect: contracts.EffectNone}, nil
	}
	return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: entry, Summary: entry.Summary()}, nil
}

type alertQuery struct {
	AlertID string `json:"alert_id,omitempty" description:"Id of the alert."`
	Key     string `json:"key,omitempty" description:"Idempotency key of the request that made it."`
}

type foundAlert struct {
	Found bool `json:"found"`
	// Applied reports whether the request with the key took effect, even if the alert was deleted
	// since.
	Applied *bool   `json:"applied,omitempty"`
	AlertID string  `json:"alert_id,omitempty"`
	Symbol  string  `json:"symbol,omitempty"`
	Above   float64 `json:"above,omitempty"`
}

// Summary implements domainkit.Summarizer.
func (f foundAlert) Summary() string {
	if !f.Found {
		return "there is no such alert"
	}
	return fmt.Sprintf("alert %s: %s above %g", f.AlertID, f.Symbol, f.Above)
}

func (d *domain) findAlert(_ context.Context, _ domainkit.Call, q alertQuery) (foundAlert, error) {
	var entry alert
	var known bool
	var out foundAlert
	if q.AlertID != "" {
		entry, known = d.alerts.find(func(a alert) bool { return a.ID == q.AlertID })
	} else {
		entry, known = d.alerts.byKey(q.Key)
		out.Applied = &known
	}
	if known && !entry.deleted {
		out.Found, out.AlertID, out.Symbol, out.Above = true, entry.ID, entry.Symbol, entry.Above
	}
	return out, nil
}

type alertFilter struct {
	Symbol string `json:"symbol,omitempty" description:"Only alerts of this ticker."`
}

type alertList struct {
	Alerts []alert `json:"alerts"`
	Count  int     `json:"count"`
	// More means that not all alerts are included.
	More bool `json:"more"`
}

// Summary implements domainkit.Summarizer.
func (l alertList) Summary() string { return fmt.Sprintf("%d alerts are set", l.Count) }

// maxListed keeps a list within the size limit of facts.
const maxListed = 50

func (d *domain) listPriceAlerts(_ context.Context, _ domainkit.Call, q alertFilter) (alertList, error) {
	all := d.alerts.set(q.Symbol)
	return alertList{Alerts: all[:min(maxListed, len(all))], Count: len(all), More: len(all) > maxListed}, nil
}

type alertWords struct {
	Query string `json:"query" description:"Id of an alert, a ticker, or part of a company's name." min:"1" max:"100"`
}

// searchAlerts returns the alert with an id, or those of matching stocks.
func (d *domain) searchAlerts(_ context.Context, _ domainkit.Call, q alertWords) (matches, error) {
	stocks := map[string]bool{}
	for _, s := range d.market.search(q.Query) {
		ticker, _, _ := strings.Cut(s.symbol, ".")
		stocks[s.symbol], stocks[ticker] = true, true
	}
	out := matches{Matches: []match{}}
	for _, a := range d.alerts.set("") {
		if (strings.EqualFold(a.ID, q.Query) || stocks[a.Symbol]) && len(out.Matches) < maxListed {
			out.Matches = append(out.Matches, match{Value: a.ID, Label: fmt.Sprintf("%s: %s above %g", a.ID, a.Name, a.Above)})
		}
	}
	return out, nil
}

type alertID struct {
	AlertID string `json:"alert_id" description:"Id of the alert, such as al-17." pattern:"^al-[0-9]{1,9}$"`
}

type deletedAlert struct {
	AlertID string `json:"alert_id"`
}

// Summary implements domainkit.Summarizer.
func (a deletedAlert) Summary() string { return "alert " + a.AlertID + " is deleted" }

// deletePriceAlert also succeeds for a deleted alert, so that it can be retried.
func (d *domain) deletePriceAlert(_ context.Context, _ domainkit.Call, in alertID) (deletedAlert, error) {
	if !d.alerts.remove(in.AlertID) {
		return deletedAlert{}, domainkit.Refusef(contracts.ErrNotFound, "there is no alert %s", in.AlertID)
	}
	return deletedAlert(in), nil
}
