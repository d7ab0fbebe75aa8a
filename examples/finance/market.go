package finance

import (
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// stock is a listed company.
type stock struct {
	symbol string
	name   string
	// usd is the approximate price in US dollars.
	usd float64
}

// listed returns the companies of the market. The names are real, the prices are not.
func listed() []stock {
	return []stock{
		{"PETR4.SA", "Petrobras PN", 7.4},
		{"PETR3.SA", "Petrobras ON", 8.0},
		{"VALE3.SA", "Vale", 12.1},
		{"ITUB4.SA", "Itaú Unibanco", 6.3},
		{"BBAS3.SA", "Banco do Brasil", 5.2},
		{"WEGE3.SA", "WEG", 9.6},
		{"AAPL", "Apple", 228},
		{"MSFT", "Microsoft", 418},
		{"GOOGL", "Alphabet (Google)", 176},
		{"AMZN", "Amazon", 201},
		{"NVDA", "Nvidia", 131},
		{"TSLA", "Tesla", 302},
		{"SAP.DE", "SAP", 236},
		{"SIE.DE", "Siemens", 198},
		{"BMW.DE", "BMW", 82},
		{"AIR.PA", "Airbus", 158},
		{"MC.PA", "LVMH", 640},
		{"EDP.LS", "EDP", 3.6},
		{"GALP.LS", "Galp Energia", 17.2},
		{"JMT.LS", "Jerónimo Martins", 18.9},
	}
}

// perUSD returns the price of one US dollar in a currency.
func perUSD(currency string) float64 {
	switch currency {
	case "EUR":
		return 0.92
	case "BRL":
		return 5.1
	default:
		return 1
	}
}

// market returns prices that depend only on its seed.
type market struct{ seed uint64 }

// price returns a price within 10 % of the usual one.
func (m market) price(s stock, currency string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(m.seed, 10) + "/" + s.symbol)) // a hash never fails
	drift := float64(h.Sum64()%2001)/10_000 - 0.1
	return math.Round(s.usd*(1+drift)*perUSD(currency)*100) / 100
}

// find returns a stock by its symbol, with or without the suffix of its exchange.
func (market) find(symbol string) (stock, bool) {
	for _, s := range listed() {
		ticker, _, _ := strings.Cut(s.symbol, ".")
		if s.symbol == symbol || ticker == symbol {
			return s, true
		}
	}
	return stock{}, false
}

// search returns the stocks whose symbol or name contains a text.
func (market) search(query string) []stock {
	query = strings.ToLower(strings.TrimSpace(query))
	var found []stock
	for _, s := range listed() {
		if strings.Contains(strings.ToLower(s.symbol), query) || strings.Contains(strings.ToLower(s.name), query) {
			found = append(found, s)
		}
	}
	return found
}
