package value

import "strings"

// CurrencyAt reads the code or the name of a currency at token i: "CAD", "Canadian
// dollars". A dollar that nobody says more of may be any.
func (s *Scanner) CurrencyAt(d *Doc, i int) (code string, last int, ok bool) {
	if code := strings.ToUpper(d.fold(i)); len(code) == 3 && s.words.currencies[code] {
		return code, i, true
	}
	if code, ok := s.words.money[d.fold(i)+" "+strings.TrimSuffix(d.fold(i+1), "s")]; ok && !d.Tokens[i+1].Break {
		return code, i + 1, true
	}
	code, ok = s.words.money[strings.TrimSuffix(d.fold(i), "s")]
	return code, i, ok
}

// moneyNames gives the codes of currencies by their names, in the singular.
func moneyNames() map[string]string {
	return map[string]string{
		"us dollar": "USD", "american dollar": "USD", "canadian dollar": "CAD", "australian dollar": "AUD", "singapore dollar": "SGD", "euro": "EUR",
		"british pound": "GBP", "pound sterling": "GBP", "japanese yen": "JPY", "yen": "JPY", "chinese yuan": "CNY", "yuan": "CNY", "renminbi": "CNY",
		"indian rupee": "INR", "swiss franc": "CHF", "brazilian real": "BRL", "brazilian reai": "BRL", "reai": "BRL", "mexican peso": "MXN", "argentine peso": "ARS",
		"chilean peso": "CLP", "swedish krona": "SEK", "norwegian krone": "NOK", "danish krone": "DKK", "polish zloty": "PLN", "zloty": "PLN",
		"korean won": "KRW", "russian ruble": "RUB", "turkish lira": "TRY",
	}
}
