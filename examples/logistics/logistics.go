// Package logistics is an example of a large domain: a marketplace of carriers and truck drivers
// with four roles of users. It shows roles of a domain's own, families of capabilities that are
// declared together, four workflows that gather evidence concurrently before they recommend
// something, and writes behind approvals. The world is invented and depends only on the seed;
// changes are lost when the process ends.
package logistics

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// Version is the version of the domain.
const Version = "1.0.0"

// Config configures the domain. The zero value is usable.
type Config struct {
	// Seed determines the carriers, people and events [1].
	Seed uint64
	// Delay is the approximate latency of each answer, to simulate a slow system. Each capability
	// has a fixed factor between 0.5 and 1.5 [none].
	Delay time.Duration
	// People maps a principal to a driver (dr-007) or carrier (a DOT number). For other principals
	// the name determines one.
	People map[string]string
	// Tokens are the accepted bearer tokens [none: no authentication].
	Tokens []string
	Logger *slog.Logger
	// Now is the clock of the world and of changes [time.Now].
	Now func() time.Time
}

// domain is the shared state of the handlers.
type domain struct {
	world  *world.World
	book   *world.Book
	people map[string]string
	delay  time.Duration
	now    func() time.Time
}

// New returns the service of the domain.
func New(config Config) (*domainkit.Service, error) {
	words, err := readManifest()
	if err != nil {
		return nil, err
	}
	skills, err := readSkills()
	if err != nil {
		return nil, err
	}
	svc, err := domainkit.New(domainkit.Config{
		Domain: "logistics", Version: Version, Hints: words, Skills: skills,
		Tokens: config.Tokens, Logger: config.Logger, Now: config.Now,
	})
	if err != nil {
		return nil, err
	}
	d := &domain{people: config.People, delay: config.Delay, now: config.Now}
	if d.now == nil {
		d.now = time.Now
	}
	d.world = world.New(cmp.Or(config.Seed, 1), d.now())
	d.book = world.NewBook(d.world, d.now)
	if err := errors.Join(
		everybody{d}.register(svc), drivers{d}.register(svc), recruiters{d}.register(svc), admins{d}.register(svc), carriers{d}.register(svc),
		d.forWorkflows(svc),
	); err != nil {
		return nil, err
	}
	return svc, nil
}

// add adds a capability; the manifest has the rest of its declaration.
func add[In, Out any](svc *domainkit.Service, d *domain, name string, fn func(call domainkit.Call, in In) (Out, error)) error {
	return domainkit.Add(svc, domainkit.Capability{Name: name}, func(ctx context.Context, call domainkit.Call, in In) (Out, error) {
		if err := d.wait(ctx, name); err != nil {
			var none Out
			return none, err
		}
		return fn(call, in)
	})
}

// wait simulates the latency of a capability.
func (d *domain) wait(ctx context.Context, capability string) error {
	if d.delay <= 0 {
		return nil
	}
	percent := 50 + float64(hash(capability)%101)
	select {
	case <-time.After(time.Duration(float64(d.delay) * percent / 100)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum64()
}

// me returns the driver of the call's principal.
func (d *domain) me(call domainkit.Call) *world.Driver {
	who := call.Principal.Subject()
	if dr, ok := d.world.FindDriver(d.people[who]); ok {
		return dr
	}
	return &d.world.Drivers[hash(who)%uint64(len(d.world.Drivers))]
}

// us returns the carrier of the call's principal.
func (d *domain) us(call domainkit.Call) *world.Carrier {
	who := call.Principal.Subject()
	if c, ok := d.world.FindCarrier(d.people[who]); ok {
		return c
	}
	return &d.world.Carriers[hash(who)%uint64(len(d.world.Carriers))]
}

// carrier returns the carrier of a parameter, or refuses an unknown one.
func (d *domain) carrier(query string) (*world.Carrier, error) {
	if c, ok := d.world.FindCarrier(query); ok {
		return c, nil
	}
	return nil, domainkit.Refusef(contracts.ErrNotFound, "there is no carrier %q, or its name fits several; its DOT number is exact", query)
}

// source returns the current state of a source.
func (d *domain) source(id string) string { return d.book.Setting("source", id) }

// open returns an error unless a source is available.
func (d *domain) open(source string) error {
	if d.source(source) == world.Up {
		return nil
	}
	return domainkit.Refusef(contracts.ErrUpstream, "the source %q is in maintenance", source)
}

// mostRows bounds the rows of an answer; its count covers all.
const mostRows = 20

// listing are the facts of a list.
type listing[T any] struct {
	Count int `json:"count"`
	Rows  []T `json:"rows"`
	line  string
}

// Summary implements domainkit.Summarizer.
func (l listing[T]) Summary() string { return l.line }

// listed returns the first rows of a list, with a summary of all.
func listed[T any](rows []T, line string) listing[T] {
	return listing[T]{len(rows), rows[:min(len(rows), mostRows)], line}
}

// nothing are the parameters of a capability without parameters.
type nothing struct{}

// ofRegion optionally selects a region.
type ofRegion struct {
	Region string `json:"region,omitempty" description:"The region of the market." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
}

// inRegion selects a region.
type inRegion struct {
	Region string `json:"region" description:"The region of the market." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
}

// ofCarrier selects a carrier.
type ofCarrier struct {
	Carrier string `json:"carrier" description:"The name of a carrier or its DOT number." min:"2" max:"80"`
}

// within is a period from today on.
type within struct {
	Days int `json:"days" description:"How many days ahead." min:"1" max:"400" default:"60"`
}

// lately is a period until now.
type lately struct {
	Hours int `json:"hours" description:"How many hours back." min:"1" max:"72" default:"24"`
}
