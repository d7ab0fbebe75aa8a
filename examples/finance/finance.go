// Package finance is an example domain: prices of listed stocks and alerts on
// them. It shows reads that are split over a list (symbols), a parameter that
// is resolved by a search (resolve_symbol), and a write with verification,
// reconciliation and compensation. The market is made up, and the same for the
// same seed; alerts live as long as the process.
package finance

import (
	"cmp"
	_ "embed"
	"errors"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// hints are the parts of the manifest that are not code.
//
//go:embed hints.json
var hints []byte

// Config describes how the domain is served. The zero value works.
type Config struct {
	// Seed makes the market: the same seed gives the same prices [1].
	Seed uint64
	// Tokens are the bearer tokens that are accepted [none: open].
	Tokens []string
	Logger *slog.Logger
	// Now is the clock of quotes and alerts [time.Now].
	Now func() time.Time
}

// domain is what the handlers share.
type domain struct {
	market market
	alerts *alerts
	now    func() time.Time
}

// New makes the domain.
func New(config Config) (*domainkit.Service, error) {
	svc, err := domainkit.New(domainkit.Config{
		Domain: "finance", Version: "1.0.0", Hints: hints,
		Tokens: config.Tokens, Logger: config.Logger, Now: config.Now,
	})
	if err != nil {
		return nil, err
	}
	d := &domain{market: market{seed: cmp.Or(config.Seed, 1)}, alerts: newAlerts(), now: config.Now}
	if d.now == nil {
		d.now = time.Now
	}
	if err := d.add(svc); err != nil {
		return nil, err
	}
	return svc, nil
}

// add declares what is code; hints.json says the rest.
func (d *domain) add(svc *domainkit.Service) error {
	read := contracts.Metadata{SideEffectClass: contracts.ClassRead}
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{
			Name: "get_stock_price", Description: "Latest price of one listed stock.", Metadata: read,
			// One stock, or several that are looked up side by side.
			Schema: []byte(`{"oneOf": [{"required": ["symbol"]}, {"required": ["symbols"]}]}`),
		}, d.getStockPrice),
		domainkit.Add(svc, domainkit.Capability{
			Name: "search_symbol", Description: "Finds ticker symbols by company name.", Metadata: read,
		}, d.searchSymbol),
		domainkit.Add(svc, domainkit.Capability{
			Name: "list_price_alerts", Description: "Lists the price alerts that are set.", Metadata: read,
		}, d.listPriceAlerts),
		domainkit.Add(svc, domainkit.Capability{
			Name: "set_price_alert", Description: "Creates an alert that fires when a stock crosses a price.",
			Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, Idempotency: contracts.IdempotencyKeyed},
			Resolve:  d.resolveAlert,
		}, d.setPriceAlert),
		domainkit.Add(svc, domainkit.Capability{
			Name:        "find_alert",
			Description: "Finds an alert by id or by the key of the request that made it; an unknown one answers found: false.",
			Metadata:    read,
			Schema:      []byte(`{"anyOf": [{"required": ["alert_id"]}, {"required": ["key"]}]}`),
		}, d.findAlert),
		domainkit.Add(svc, domainkit.Capability{
			Name: "search_alerts", Description: "Finds the alerts that are set by id, ticker or company name.", Metadata: read,
		}, d.searchAlerts),
		domainkit.Add(svc, domainkit.Capability{
			Name: "delete_price_alert", Description: "Deletes a price alert.",
			Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyNatural},
		}, d.deletePriceAlert),
	)
}
