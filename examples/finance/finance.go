// Package finance is an example domain: prices of listed stocks, and alerts on them. It shows reads
// that are split over a list (symbols), a parameter that is resolved by a search (resolve_symbol),
// and a write with verification, reconciliation and compensation. The market is invented and
// depends only on the seed; alerts are lost when the process ends.
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

// hints is the part of the manifest that is not code.
//
//go:embed hints.json
var hints []byte

// Config configures the domain. The zero value is usable.
type Config struct {
	// Seed determines the prices [1].
	Seed uint64
	// Tokens are the accepted bearer tokens [none: no authentication].
	Tokens []string
	Logger *slog.Logger
	// Now is the clock for quotes and alerts [time.Now].
	Now func() time.Time
}

// domain is the shared state of the handlers.
type domain struct {
	market market
	alerts *alerts
	now    func() time.Time
}

// New returns the service of the domain.
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

// add adds the capabilities; hints.json has the rest of the manifest.
func (d *domain) add(svc *domainkit.Service) error {
	read := contracts.Metadata{SideEffectClass: contracts.ClassRead}
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{
			Name: "get_stock_price", Description: "Latest price of one listed stock.", Metadata: read,
			// One stock, or several that are looked up concurrently.
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
