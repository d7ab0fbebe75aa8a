// Package instruments is an example domain: the instruments that a music school lends to its
// pupils. It deliberately has few example messages, so that measurements with a model show the
// results for an untuned domain.
package instruments

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

//go:embed hints.json
var hints []byte

// Config configures the domain. The zero value is usable.
type Config struct {
	// Tokens are the accepted bearer tokens [none: no authentication].
	Tokens []string
	Logger *slog.Logger
}

// New returns the service of the domain.
func New(config Config) (*domainkit.Service, error) {
	svc, err := domainkit.New(domainkit.Config{Domain: "instruments", Version: "1.0.0", Hints: hints, Tokens: config.Tokens, Logger: config.Logger})
	if err != nil {
		return nil, err
	}
	s := &store{items: stock(), byKey: map[string]record{}}
	return svc, errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "list_instruments", Description: "Lists the instruments of the school, of one family or all."}, s.list),
		domainkit.Add(svc, domainkit.Capability{Name: "get_instrument", Description: "Shows one instrument: its state, and who has it."}, s.get),
		domainkit.Add(svc, domainkit.Capability{Name: "search_instruments", Description: "Finds instruments by name or number."}, s.search),
		domainkit.Add(svc, domainkit.Capability{Name: "list_loans", Description: "Lists what is lent out, to one pupil or to all."}, s.loans),
		domainkit.Add(svc, domainkit.Capability{Name: "lend_instrument", Description: "Lends an instrument to a pupil until a day.", Resolve: s.resolve}, s.lend),
		domainkit.Add(svc, domainkit.Capability{Name: "take_back", Description: "Takes an instrument back from whoever has it.", Resolve: s.resolve}, s.takeBack),
		domainkit.Add(svc, domainkit.Capability{Name: "order_repair", Description: "Orders the repair of an instrument.", Resolve: s.resolve}, s.repair),
		domainkit.Add(svc, domainkit.Capability{Name: "find_record", Description: "Finds what was written by the key of its request."}, s.find),
	)
}

// instrument is one instrument of the school.
type instrument struct {
	Number   string `json:"number"`
	Name     string `json:"name"`
	Family   string `json:"family"`
	Borrower string `json:"borrower,omitempty"`
	Until    string `json:"until,omitempty"`
	Repair   string `json:"repair,omitempty"`
}

// Summary implements domainkit.Summarizer.
func (i instrument) Summary() string {
	if i.Borrower == "" {
		return i.Name + " (" + i.Number + ") is here"
	}
	return fmt.Sprintf("%s (%s) is with %s until %s", i.Name, i.Number, i.Borrower, i.Until)
}

func stock() []instrument {
	return []instrument{
		{Number: "in-01", Name: "Student Violin", Family: "strings"},
		{Number: "in-02", Name: "Half-size Cello", Family: "strings", Borrower: "Mira Vogel", Until: "2027-07-01"},
		{Number: "in-03", Name: "Concert Cello", Family: "strings"},
		{Number: "in-04", Name: "Bass Clarinet", Family: "woodwind"},
		{Number: "in-05", Name: "Silver Flute", Family: "woodwind", Borrower: "Tomás Reis", Until: "2027-06-15"},
		{Number: "in-06", Name: "French Horn", Family: "brass"},
		{Number: "in-07", Name: "Pocket Trumpet", Family: "brass"},
		{Number: "in-08", Name: "Marimba", Family: "percussion"},
		{Number: "in-09", Name: "Stage Piano", Family: "keys"},
		{Number: "in-10", Name: "Snare Drum", Family: "percussion"},
	}
}

// record is the result of a write.
type record struct {
	Found      bool   `json:"found"`
	Applied    bool   `json:"applied"`
	Instrument string `json:"instrument,omitempty"`
	Borrower   string `json:"borrower,omitempty"`
	Until      string `json:"until,omitempty"`
	Fault      string `json:"fault,omitempty"`
	Done       string `json:"done,omitempty"`
}

// Summary implements domainkit.Summarizer.
func (r record) Summary() string {
	if !r.Found {
		return "nothing was written"
	}
	return r.Done + " " + r.Instrument
}

// store holds the stock, and the results of writes by key.
type store struct {
	mu    sync.Mutex // guards items and byKey
	items []instrument
	byKey map[string]record
}

type filter struct {
	Family string `json:"family,omitempty" description:"Only this family." enum:"strings,woodwind,brass,percussion,keys"`
}

type catalog struct {
	Instruments []instrument `json:"instruments"`
}

// Summary implements domainkit.Summarizer.
func (c catalog) Summary() string { return fmt.Sprintf("%d instruments", len(c.Instruments)) }

func (s *store) where(keep func(instrument) bool) catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := catalog{[]instrument{}}
	for _, i := range s.items {
		if keep(i) {
			out.Instruments = append(out.Instruments, i)
		}
	}
	return out
}

func (s *store) list(_ context.Context, _ domainkit.Call, f filter) (catalog, error) {
	return s.where(func(i instrument) bool { return f.Family == "" || i.Family == f.Family }), nil
}

type pupil struct {
	Borrower string `json:"borrower,omitempty" description:"Only what this pupil has." max:"80"`
}

func (s *store) loans(_ context.Context, _ domainkit.Call, p pupil) (catalog, error) {
	return s.where(func(i instrument) bool {
		return i.Borrower != "" && (p.Borrower == "" || strings.EqualFold(i.Borrower, p.Borrower))
	}), nil
}

type one struct {
	Instrument string `json:"instrument" description:"Number of the instrument, or its name." min:"1" max:"80"`
}

func (s *store) get(_ context.Context, _ domainkit.Call, in one) (instrument, error) {
	found := s.where(func(i instrument) bool { return i.Number == in.Instrument })
	if len(found.Instruments) == 0 {
		return instrument{}, unknown(in.Instrument)
	}
	return found.Instruments[0], nil
}

func unknown(number string) error {
	return domainkit.Refusef(contracts.ErrNotFound, "there is no instrument %s", number)
}

type query struct {
	Query string `json:"query" description:"Name or number." min:"1" max:"80"`
}

type match struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

type matches struct {
	Matches []match `json:"matches"`
}

// Summary implements domainkit.Summarizer.
func (m matches) Summary() string { return fmt.Sprintf("%d instruments fit", len(m.Matches)) }

func (s *store) search(_ context.Context, _ domainkit.Call, q query) (matches, error) {
	want := strings.ToLower(strings.TrimSpace(q.Query))
	out := matches{[]match{}}
	for _, i := range s.where(func(i instrument) bool { return i.Number == want || strings.Contains(strings.ToLower(i.Name), want) }).Instruments {
		out.Matches = append(out.Matches, match{i.Number, i.Name})
	}
	return out, nil
}

type loan struct {
	Instrument string `json:"instrument" description:"Number of the instrument, or its name." min:"1" max:"80"`
	Borrower   string `json:"borrower" description:"Name of the pupil." min:"1" max:"80"`
	Until      string `json:"until" description:"Last day of the loan." format:"date"`
}

// write changes an instrument and stores the result under the key of the call.
func (s *store) write(call domainkit.Call, number string, change func(*instrument) record) (record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.items, func(i instrument) bool { return i.Number == number })
	if at < 0 {
		return record{}, unknown(number)
	}
	r := change(&s.items[at])
	r.Found, r.Applied, r.Instrument = true, true, number
	s.byKey[call.IdempotencyKey] = r
	return r, nil
}

func (s *store) lend(_ context.Context, call domainkit.Call, in loan) (record, error) {
	return s.write(call, in.Instrument, func(i *instrument) record {
		i.Borrower, i.Until = in.Borrower, in.Until
		return record{Borrower: in.Borrower, Until: in.Until, Done: "lent"}
	})
}

func (s *store) takeBack(_ context.Context, call domainkit.Call, in one) (record, error) {
	return s.write(call, in.Instrument, func(i *instrument) record {
		i.Borrower, i.Until = "", ""
		return record{Done: "took back"}
	})
}

type fault struct {
	Instrument string `json:"instrument" description:"Number of the instrument, or its name." min:"1" max:"80"`
	Fault      string `json:"fault" description:"What is broken." min:"1" max:"300"`
	Urgent     bool   `json:"urgent,omitempty" description:"Whether it cannot wait."`
}

func (s *store) repair(_ context.Context, call domainkit.Call, in fault) (record, error) {
	return s.write(call, in.Instrument, func(i *instrument) record {
		i.Repair = in.Fault
		return record{Fault: in.Fault, Done: "ordered the repair of"}
	})
}

type keyed struct {
	Key string `json:"key" description:"Key of the request that made it." min:"1"`
}

func (s *store) find(_ context.Context, _ domainkit.Call, k keyed) (record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[k.Key], nil
}

// resolve returns the outcome of an interrupted write.
func (s *store) resolve(ctx context.Context, call domainkit.Call, _ json.RawMessage) (domainkit.Resolution, error) {
	made, err := s.find(ctx, call, keyed{call.IdempotencyKey})
	if err != nil || !made.Found {
		return domainkit.Resolution{Effect: contracts.EffectNone}, err
	}
	return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: made, Summary: made.Summary()}, nil
}
