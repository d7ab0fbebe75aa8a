package finance

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

type priceQuery struct {
	Symbol   string   `json:"symbol,omitempty" description:"Ticker symbol, such as PETR4.SA." pattern:"^[A-Z0-9]{1,10}(\\.[A-Z]{1,3})?$"`
	Symbols  []string `json:"symbols,omitempty" description:"Several tickers or names; each is looked up by itself." max:"200"`
	Currency string   `json:"currency" description:"Currency of the price." enum:"USD,EUR,BRL" default:"USD"`
	Notify   bool     `json:"notify,omitempty" description:"Send the result as a message." default:"false" only:"manifold"`
}

type price struct {
	Symbol   string    `json:"symbol"`
	Name     string    `json:"name"`
	Price    float64   `json:"price"`
	Currency string    `json:"currency"`
	At       time.Time `json:"at"`
}

// Summary implements domainkit.Summarizer.
func (p price) Summary() string {
	return fmt.Sprintf("%s (%s) is at %.2f %s", p.Symbol, p.Name, p.Price, p.Currency)
}

func (d *domain) getStockPrice(_ context.Context, _ domainkit.Call, q priceQuery) (price, error) {
	if q.Symbol == "" {
		return price{}, domainkit.Refusef(contracts.ErrInvalidParameters, "ask for one symbol at a time; a plan splits symbols into single calls")
	}
	s, ok := d.market.find(q.Symbol)
	if !ok {
		return price{}, unknownStock(q.Symbol)
	}
	return price{Symbol: s.symbol, Name: s.name, Price: d.market.price(s, q.Currency), Currency: q.Currency, At: d.now().UTC().Truncate(time.Second)}, nil
}

func unknownStock(symbol string) error {
	return domainkit.Refusef(contracts.ErrNotFound, "no stock is listed as %s", symbol)
}

type symbolQuery struct {
	Query string `json:"query" description:"Part of a company's name or symbol." min:"1" max:"100"`
}

// match is one choice of a look-up.
type match struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

type matches struct {
	Matches []match `json:"matches"`
}

// Summary implements domainkit.Summarizer.
func (m matches) Summary() string { return fmt.Sprintf("%d found", len(m.Matches)) }

func (d *domain) searchSymbol(_ context.Context, _ domainkit.Call, q symbolQuery) (matches, error) {
	out := matches{Matches: []match{}}
	for _, s := range d.market.search(q.Query) {
		out.Matches = append(out.Matches, match{Value: s.symbol, Label: s.name + " (" + s.symbol + ")"})
	}
	return out, nil
}
