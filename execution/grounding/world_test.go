package grounding_test

import "github.com/manifold-run/manifold/execution/grounding"

// world has the question and the results, with sentences that are true.
type world struct {
	sources []grounding.Source
	holds   []string
}

// worlds returns the examples, each worded in several languages.
func worlds() map[string]world {
	return map[string]world{"days off": daysOff(), "prices": prices(), "loads": loads(), "accounts": accounts(), "rentals": rentals(), "mails": mails()}
}

// rentals has prices, and sentences with calculations.
func rentals() world {
	rental := func(id, name string, price float64) grounding.Source {
		return grounding.Source{ID: id, Kind: "rental.price", Values: []any{map[string]any{"names": []any{name}}, map[string]any{"result": map[string]any{name: price}, "currency": "EUR"}}}
	}
	return world{
		sources: []grounding.Source{
			{Texts: []string{"What do a van of Porto Cars and one of Lisbon Wheels cost for a week, and for 3 days, and how long is it from the train to the tour?"}},
			rental("n1", "Porto Cars", 48.5), rental("n2", "Lisbon Wheels", 61),
			{ID: "n3", Kind: "rental.discount", Values: []any{map[string]any{"discount_percent": 12.5, "group": 4}}},
			{ID: "n4", Kind: "diary.day", Values: []any{map[string]any{"events": []any{
				map[string]any{"title": "Train", "from": "2026-12-14T08:05:00", "to": "2026-12-14T09:45:00"},
				map[string]any{"title": "Tour", "from": "2026-12-14T11:20:00", "to": "2026-12-14T13:00:00"},
			}}}},
		},
		holds: []string{
			"Porto Cars: 3 * 48.50 EUR = 145.50 EUR.",
			"A van of Porto Cars costs 145.50 EUR for 3 days (3 × 48.50 = 145.50).",
			"Lisbon Wheels costs 427 EUR for a week (7 × 61 = 427).",
			"Both together are 328.50 euros for 3 days: 3 × (48.5 + 61) = 328.50.",
			"Lisbon Wheels: 61 × 3 = 183.",
			"With the discount Lisbon Wheels costs 53.375 EUR (61 - 61 × 12.5 % = 53.375 EUR).",
			"For 4, Lisbon Wheels is 15.25 euros each (61 / 4 = 15.25).",
			"11:20 − 09:45 = 1:35.",
			"You have 1:35 between train and tour (11:20 − 09:45 = 1:35).",
			"Von Porto Cars: 3 × 48,50 EUR = 145,50 EUR.",
			"Lisbon Wheels custa 61 × 7 = 427 euros.",
		},
	}
}

// mails has texts by others, with links, dates and times.
func mails() world {
	mail := func(from, body string) any { return map[string]any{"from": from, "body": body} }
	return world{
		sources: []grounding.Source{
			{Texts: []string{"When and where is the picnic, and where do I sign up?"}},
			{ID: "n1", Kind: "mail.search", Values: []any{map[string]any{"mails": []any{
				mail("olga@post.example", "The picnic is by the old mill on June 10th 2027 at 1 PM. Sign up: [here](https://picnic.example/join?c=4f7)."),
				mail("rui@post.example", "Bring the list, see https://picnic.example/list.pdf and www.mill.example/map."),
			}}}},
		},
		holds: []string{
			"The picnic is on 2027-06-10 13:00 by the old mill.",
			"It begins at 13:00.",
			"It is on June 10, 2027 at 1 PM.",
			"Sign up at https://picnic.example/join?c=4f7.",
			"https://picnic.example/list.pdf has the list.",
			"The map is at www.mill.example/map.",
			"Am 10. Juni 2027 um 13:00 Uhr.",
		},
	}
}

func daysOff() world {
	person := func(name, id, team string, days, taken float64) any {
		return map[string]any{"name": name, "employee_id": id, "team": team, "days_left": days, "taken": taken}
	}
	return world{
		sources: []grounding.Source{
			{Texts: []string{"Which of Ana, Bruno and Carla has the most vacation days left?"}},
			{ID: "n1", Kind: "staff.balances", Texts: []string{"Vacation balances of 3 people"}, Values: []any{map[string]any{
				"people": []any{
					person("Ana Costa", "E-101", "Sales", 16, 9), person("Bruno Lima", "E-102", "Operations", 20.5, 3.25),
					person("Carla Dias", "E-103", "Sales", 15.5, 8),
				},
				"as_of": "2026-11-27",
			}}},
		},
		holds: []string{
			"Bruno Lima, with 20.5 days; Ana has 16, Carla 15.5.",
			"Bruno Lima has the most vacation days left: 20.5.",
			"Ana Costa has 16 days left.",
			"Carla Dias (E-103) has taken 8 days.",
			"Bruno has 4.5 days more than Ana.",
			"Together they have 52 days left.",
			"As of November 27, 2026, Carla Dias has 15.5 days left.",
			"On Friday, 27 November 2026, Ana has 16 days.",
			"Am meisten hat Bruno Lima mit 20,5 Tagen.",
			"Ana Costa hat noch 16 Tage, Carla Dias 15,5 Tage.",
			"Bruno Lima hat 3,25 Tage genommen.",
			"Zusammen haben sie 52 Tage.",
			"Stand 27. November 2026 hat Ana 16 Urlaubstage.",
			"Bruno Lima é quem tem mais: 20,5 dias.",
			"Ana tem 16 dias e Carla tem 15,5 dias.",
			"Carla Dias já tirou 8 dias.",
			"Em 27 de novembro de 2026, Bruno tem 20,5 dias.",
			"Juntos, eles têm 52 dias.",
			"Bruno Lima es quien tiene más: 20,5 días.",
			"Ana Costa tiene 16 días y Carla 15,5.",
			"El 27 de noviembre de 2026, Carla Dias tiene 15,5 días.",
			"Bruno tiene 4,5 días más que Ana.",
			"C'est Bruno Lima qui en a le plus : 20,5 jours.",
			"Ana Costa a encore 16 jours, Carla Dias 15,5 jours.",
			"Au 27 novembre 2026, Bruno a 20,5 jours.",
			"Ensemble, ils ont 52 jours.",
			"Three people were looked up: Ana, Bruno and Carla.",
			"Ana Costa, Bruno Lima, days left: 16, 20.5.",
			"Ana, Bruno, Carla: 16 days, 20.5 days, 15.5 days.",
		},
	}
}

func prices() world {
	quote := func(id, symbol, name string, price, change float64) grounding.Source {
		return grounding.Source{
			ID: id, Kind: "market.quote", Texts: []string{name + " (" + symbol + ")"},
			Values: []any{map[string]any{"symbol": symbol, "price": price, "currency": "USD", "change_percent": change, "at": "2026-11-26T16:30:00Z"}},
		}
	}
	return world{
		sources: []grounding.Source{
			{Texts: []string{"What do Apple and Tesla cost, and which has fallen?"}},
			quote("n1", "AAPL", "Apple", 1189.84, -1.25), quote("n2", "TSLA", "Tesla", 402.1, 2.5),
		},
		holds: []string{
			"Apple costs $1,189.84 and Tesla $402.10.",
			"AAPL is at 1,189.84 USD, with a change of -1.25%.",
			"Tesla rose by 2.5 percent to USD 402.10.",
			"Apple is 787.74 dollars above Tesla.",
			"The prices are from 26 November 2026, 16:30.",
			"Only Apple has fallen (-1.25 %).",
			"Apple kostet 1.189,84 USD, Tesla kostet 402,10 USD.",
			"Tesla ist um 2,5 % gestiegen.",
			"Die Änderung von Apple ist -1,25 Prozent.",
			"Die Preise sind vom 26.11.2026, 16:30 Uhr.",
			"A Apple custa US$ 1.189,84 e a Tesla US$ 402,10.",
			"A variação da Apple foi de -1,25%.",
			"A Tesla subiu 2,5 por cento.",
			"Os preços são de 26 de novembro de 2026.",
			"Apple cuesta 1.189,84 dólares y Tesla 402,10 dólares.",
			"Tesla ha subido un 2,5 %.",
			"La variación de Apple es de -1,25 por ciento.",
			"Los precios son del 26 de noviembre de 2026.",
			"Apple coûte 1 189,84 USD et Tesla 402,10 USD.",
			"Tesla a pris 2,5 %.",
			"La variation d'Apple est de -1,25 pour cent.",
			"Les prix sont du 26 novembre 2026 à 16h30.",
		},
	}
}

func loads() world {
	load := func(id, truck, to string, kg, km float64, at string) any {
		return map[string]any{"id": id, "truck": truck, "destination": to, "weight_kg": kg, "distance_km": km, "departs": at}
	}
	return world{
		sources: []grounding.Source{
			{Texts: []string{"When do the loads for Lisbon and Porto leave, and how heavy are they?"}},
			{ID: "n1", Kind: "freight.loads", Texts: []string{"2 loads"}, Values: []any{map[string]any{"loads": []any{
				load("L-101", "T-4", "Lisbon", 1200.5, 313, "2026-12-14T09:30:00Z"), load("L-202", "T-7", "Porto", 860, 48, "2026-12-18T14:15:00Z"),
			}}}},
		},
		holds: []string{
			"L-101 leaves on Monday, 14 December 2026 at 9:30 am for Lisbon.",
			"The load for Porto weighs 860 kg and is on truck T-7.",
			"Lisbon is 313 km away, Porto 48 kilometers.",
			"L-202 leaves on 2026-12-18 at 14:15.",
			"Together they weigh 2,060.5 kg.",
			"There are two loads, L-101 and L-202.",
			"L-101 wiegt 1.200,5 kg und L-202 wiegt 860 kg.",
			"L-202 fährt am Freitag, 18. Dezember 2026, um 14:15 ab.",
			"Bis Porto sind es 48 km, bis Lisbon sind es 313 km.",
			"A carga L-101 sai em 14 de dezembro de 2026 às 9h30.",
			"A carga L-202 pesa 860 quilos.",
			"São 313 km até Lisbon.",
			"La carga L-202 sale el viernes 18 de diciembre de 2026.",
			"La carga L-101 pesa 1.200,5 kilos.",
			"El camión T-4 recorre 313 km.",
			"L-101 part le lundi 14 décembre 2026 à 9h30.",
			"L-202 pèse 860 kg, L-101 pèse 1 200,5 kg.",
			"Le camion T-7 fait 48 km.",
		},
	}
}

func accounts() world {
	account := func(name string, balance float64, due, status string) any {
		return map[string]any{"customer": name, "balance": balance, "currency": "EUR", "due": due, "status": status}
	}
	return world{
		sources: []grounding.Source{
			{Texts: []string{`Which accounts are "overdue"?`}},
			{ID: "n1", Kind: "books.accounts", Values: []any{map[string]any{"accounts": []any{
				account("Helena Duarte", -350.75, "2026-11-20", "overdue"), account("Miguel Reis", 1200000, "2026-12-01", "open"),
				account("Otto Braun", -99, "2026-10-05", "overdue"), account("Zoe Martin", 0, "2027-01-15", "open"),
			}}}},
			{ID: "n2", Kind: "books.contact", Texts: []string{"Contact of Helena Duarte"}, Values: []any{map[string]any{"customer": "Helena Duarte", "email": "helena@duarte.example", "invoice": "INV-2026-0017", "note": "Pays by the end of the month."}}},
		},
		holds: []string{
			"Helena Duarte has a balance of -350.75 EUR, due on 20 November 2026.",
			"Otto Braun owes too: his balance is €-99, due on October 5, 2026.",
			"Miguel Reis has 1.2 million euros.",
			"Her note says “Pays by the end of the month.”",
			"Her invoice is INV-2026-0017 and her address is helena@duarte.example.",
			"Zoe Martin is due on January 15, 2027.",
			"There are four accounts.",
			"Der Saldo von Helena Duarte ist -350,75 Euro.",
			"Otto Braun steht bei -99 EUR, fällig am 05.10.2026.",
			"Miguel Reis hat 1,2 Millionen Euro.",
			"In der Notiz steht „Pays by the end of the month“.",
			"O saldo de Helena Duarte é de -350,75 euros.",
			"O vencimento de Otto Braun foi em 5 de outubro de 2026.",
			"Miguel Reis tem 1,2 milhão de euros.",
			"El saldo de Helena Duarte es de -350,75 euros.",
			"Otto Braun vencía el 5 de octubre de 2026.",
			"Miguel Reis tiene 1.200.000 euros.",
			"Le solde d'Helena Duarte est de -350,75 euros.",
			"L'échéance d'Otto Braun était le 5 octobre 2026.",
			"Miguel Reis a 1 200 000 euros.",
			"Zoe Martin: 0 EUR, 15.01.2027.",
			"The status “overdue” holds for Helena Duarte and Otto Braun.",
			"Helena Duarte and Otto Braun are together at -449.75 EUR.",
			"Sua nota diz «Pays by the end of the month».",
			"Son adresse est helena@duarte.example.",
			"Su factura es INV-2026-0017.",
			"Ihre Rechnung ist INV-2026-0017.",
			"Otto Braun's balance is -99 euros.",
			"Helena's invoice is INV-2026-0017.",
			"Zwei Konten sind „overdue“: Helena Duarte mit -350,75 EUR und Otto Braun mit -99 EUR.",
			"Miguel Reis a jusqu'au 1er décembre 2026, Zoe Martin a jusqu'au 15 janvier 2027.",
			"Entre Helena Duarte y Otto Braun hay 251,75 euros de diferencia.",
		},
	}
}
