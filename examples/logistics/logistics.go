// Package logistics is an example of a big domain: a marketplace of carriers and
// truck drivers, with four kinds of people who may each do something else. It
// shows roles of a domain's own, families of capabilities that are declared
// together, four workflows that gather evidence side by side before they
// recommend anything, and writes behind approvals. The world is made up, and the
// same for the same seed; what people write lives as long as the process.
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

// Version of the domain.
const Version = "1.0.0"

// Config describes how the domain is served. The zero value works.
type Config struct {
	// Seed makes the world: the same seed gives the same carriers, people and events [1].
	Seed uint64
	// Delay is about how long each answer takes, as if a slow system stood behind
	// it; each capability keeps to its own share of it, from a half to one and a half [none].
	Delay time.Duration
	// People say which driver (dr-007) or carrier (a DOT number) somebody is, by the
	// name of the principal. Who is not named is one that the name itself chooses.
	People map[string]string
	// Tokens are the bearer tokens that are accepted [none: open].
	Tokens []string
	Logger *slog.Logger
	// Now is the clock of the world and of what is written [time.Now].
	Now func() time.Time
}

// domain is what the handlers share.
type domain struct {
	world  *world.World
	book   *world.Book
	people map[string]string
	delay  time.Duration
	now    func() time.Time
}

// New makes the domain.
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

// add adds a capability; what else there is to say of it stands in the manifest.
func add[In, Out any](svc *domainkit.Service, d *domain, name string, fn func(call domainkit.Call, in In) (Out, error)) error {
	return domainkit.Add(svc, domainkit.Capability{Name: name}, func(ctx context.Context, call domainkit.Call, in In) (Out, error) {
		if err := d.wait(ctx, name); err != nil {
			var none Out
			return none, err
		}
		return fn(call, in)
	})
}

// wait takes the time that the system behind a capability takes.
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
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return h.Sum64()
}

// me is the driver who asks.
func (d *domain) me(call domainkit.Call) *world.Driver {
	who := call.Principal.Subject()
	if dr, ok := d.world.FindDriver(d.people[who]); ok {
		return dr
	}
	return &d.world.Drivers[hash(who)%uint64(len(d.world.Drivers))]
}

// us is the carrier for whom somebody asks.
func (d *domain) us(call domainkit.Call) *world.Carrier {
	who := call.Principal.Subject()
	if c, ok := d.world.FindCarrier(d.people[who]); ok {
		return c
	}
	return &d.world.Carriers[hash(who)%uint64(len(d.world.Carriers))]
}

// carrier finds the carrier that is asked about.
func (d *domain) carrier(query string) (*world.Carrier, error) {
	if c, ok := d.world.FindCarrier(query); ok {
		return c, nil
	}
	return nil, domainkit.Refusef(contracts.ErrNotFound, "there is no carrier %q, or its name fits several; its DOT number is exact", query)
}

// source is the state of a source now.
func (d *domain) source(id string) string { return d.book.Setting("source", id) }

// open tells that a source of the platform can be asked.
func (d *domain) open(source string) error {
	if d.source(source) == world.Up {
		return nil
	}
	return domainkit.Refusef(contracts.ErrUpstream, "the source %q is in maintenance", source)
}

// mostRows is how many rows an answer has at most; its count is that of all.
const mostRows = 20

// listing is the facts of whatever lists something.
type listing[T any] struct {
	Count int `json:"count"`
	Rows  []T `json:"rows"`
	line  string
}

// Summary words the listing.
func (l listing[T]) Summary() string { return l.line }

// listed returns the first rows of a list, and words what all of it is.
func listed[T any](rows []T, line string) listing[T] {
	return listing[T]{len(rows), rows[:min(len(rows), mostRows)], line}
}

// nothing is the parameters of what needs none.
type nothing struct{}

// ofRegion narrows a question to a region.
type ofRegion struct {
	Region string `json:"region,omitempty" description:"The region of the market." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
}

// inRegion needs the region.
type inRegion struct {
	Region string `json:"region" description:"The region of the market." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
}

// ofCarrier names a carrier.
type ofCarrier struct {
	Carrier string `json:"carrier" description:"The name of a carrier or its DOT number." min:"2" max:"80"`
}

// within is a time ahead.
type within struct {
	Days int `json:"days" description:"How many days ahead." min:"1" max:"400" default:"60"`
}

// lately is a time back.
type lately struct {
	Hours int `json:"hours" description:"How many hours back." min:"1" max:"72" default:"24"`
}
