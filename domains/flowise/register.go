package flowise

import (
	"cmp"
	"errors"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/ask"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/develop"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/history"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/read"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/write"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// register adds the capabilities of all packages.
func (cfg Config) register(svc *domainkit.Service, s *site.Site) error {
	rules, err := policy.New(s, cmp.Or(cfg.Drift, DriftWarn), cmp.Or(cfg.Acting, ActingRefuse))
	if err != nil {
		return err
	}
	made := author.New(s, rules)
	asker := ask.New(s, rules, made)
	writer := write.New(s, rules, made, asker.Trial)
	return errors.Join(
		read.New(s).Register(svc),
		history.New(s).Register(svc),
		made.Register(svc),
		writer.Register(svc),
		edit.New(s, made, writer).Register(svc),
		develop.New(s, made).Register(svc),
		asker.Register(svc),
	)
}
