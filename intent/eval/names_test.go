package eval_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
)

// flows is the manifest of the domain of chatflows.
func flows(t *testing.T) *contracts.Manifest {
	t.Helper()
	data, err := flowise.OpenData(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	svc, err := flowise.New(flowise.Config{Instances: []flowise.Instance{{ID: "demo", Endpoint: "http://127.0.0.1:9", APIKey: "key"}}, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	m, err := svc.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// demonstrated is the catalog of the demo: people, prices, messages and flows.
func demonstrated(t *testing.T) *contracts.Catalog {
	t.Helper()
	set := eval.Set{Manifests: []*contracts.Manifest{flows(t)}}
	for _, d := range shipped(t).Domains {
		if d.Name != "bookshelf" {
			set.Manifests = append(set.Manifests, d.Manifest)
		}
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// understander settles the catalog of the demo and reads messages over it.
func understander(t *testing.T) func(message string) intent.Understanding {
	t.Helper()
	catalog := demonstrated(t)
	adapter := settled(t, catalog)
	return func(message string) intent.Understanding {
		u, err := adapter.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
}

// Whom a sentence is about is read whole, and nobody else is: neither a noun
// with a capital nor the words around a name.
func TestNamesAreReadWhole(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	const balances, absences, profile, request, cancel, title = "workday.get_time_off_balances", "workday.list_time_off", "workday.get_worker", "workday.request_time_off", "workday.cancel_time_off", "workday.change_business_title"
	one := func(name string) any { return name }
	two := func(a, b string) any { return []any{a, b} }
	for _, c := range []struct {
		say, capability string
		who             any
	}{
		{"wie viele Urlaubstage hat Ana Souza noch", balances, one("Ana Souza")},
		{"wie viele Urlaubstage hat Ursula von der Heide noch", balances, one("Ursula von der Heide")},
		{"hat Rita Falk noch Resturlaub", balances, one("Rita Falk")},
		{"wie viel Resturlaub haben Rita Falk und Tom Vidal", balances, two("Rita Falk", "Tom Vidal")},
		{"wie viel Urlaub hat jonas keller noch?", balances, one("Jonas Keller")},
		{"wer ist der Chef von Karl-Heinz Brandt", profile, one("Karl-Heinz Brandt")},
		{"wann hat Ursula von der Heide frei", absences, one("Ursula von der Heide")},
		{"zeig die Abwesenheiten von Petra Baum ab 2026-12-01", absences, one("Petra Baum")},
		{"beantrage für Petra Baum 3 Tage Urlaub ab dem 2026-12-07", request, one("Petra Baum")},
		{"trage einen Tag Krankheit für Petra Baum am 2026-11-25 ein", request, one("Petra Baum")},
		{"storniere den Urlaub von Ursula von der Heide am 2026-12-07", cancel, one("Ursula von der Heide")},
		{"setze den Titel von Petra Baum auf Teamleiterin", title, one("Petra Baum")},

		{"quanto de férias a Ana Souza ainda tem?", balances, one("Ana Souza")},
		{"quantos dias de férias restam ao Rui Sá", balances, one("Rui Sá")},
		{"qual é o saldo de férias da Inês D'Ávila", balances, one("Inês D'Ávila")},
		{"mostra o saldo de férias da Rita Nunes e do João da Silva", balances, two("Rita Nunes", "João da Silva")},
		{"saldo de férias do Rui Sá e da Maria do Carmo Dias", balances, two("Rui Sá", "Maria do Carmo Dias")},
		{"saldo de férias da ana souza por favor", balances, one("Ana Souza")},
		{"quem é o gestor do Pedro dos Santos", profile, one("Pedro dos Santos")},
		{"quando está o Rui Sá ausente", absences, one("Rui Sá")},
		{"pede 2 dias de férias para o João da Silva a partir de 2026-12-07", request, one("João da Silva")},
		{"cancela as férias de João Costa e Silva em 2026-12-07", cancel, one("João Costa e Silva")},
		{"muda o cargo do Pedro dos Santos para Diretor de Vendas", title, one("Pedro dos Santos")},

		{"how many vacation days does Ursula von der Heide have left?", balances, one("Ursula von der Heide")},
		{"what are Rita Falk's and Tom Vidal's time off balances", balances, two("Rita Falk", "Tom Vidal")},
		{"compare the balance of Rita Falk with that of Tom Vidal", balances, two("Rita Falk", "Tom Vidal")},
		{"what is left of Ana Souza Lima's vacation", balances, one("Ana Souza Lima")},
		{"request 2 days off for Maria de la Cruz from 2026-12-07", request, one("Maria de la Cruz")},
		{"cancel the time off of Ana Souza Lima on 2026-12-07", cancel, one("Ana Souza Lima")},
		{"cancel the time off of Maria Ana Souza on 2026-12-07", cancel, one("Maria Ana Souza")},
		{"change the title of Ana Souza da Costa to Head of Sales", title, one("Ana Souza da Costa")},
	} {
		u := understand(c.say)
		if u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 1 || u.Intents[0].Ref() != c.capability {
			t.Errorf("%q: %s %+v %s", c.say, u.Outcome, u.Intents, u.Question)
			continue
		}
		got, single := u.Intents[0].Parameters["worker"]
		if !single {
			got = u.Intents[0].Parameters["workers"]
		}
		if diff := cmp.Diff(c.who, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.say, diff)
		}
	}
}

// Where a capability has no examples in a language it may ask, but it takes no
// other words for names.
func TestNoOtherWordsAreNames(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for say, who := range map[string]any{
		"saldo de vacaciones de Rita Nunes y Tom Vidal":          []any{"Rita Nunes", "Tom Vidal"},
		"quantos dias de férias tem o João da Silva ainda?":      "João da Silva",
		"quem é o chefe do João da Silva":                        "João da Silva",
		"zeige die Urlaubstage von ana souza":                    "Ana Souza",
		"Wie viele Krankheitstage bleiben Rita Falk dieses Jahr": "Rita Falk",
		"¿cuántos días de vacaciones le quedan a Rita Nunes?":    "Rita Nunes",
		"cuántas vacaciones tiene todavía Juan de la Cruz":       "Juan de la Cruz",
		"muestra las vacaciones de Tom Vidal en diciembre":       "Tom Vidal",
		"combien de jours de congé reste-t-il à Jeanne Arcy":     "Jeanne Arcy",
		"quel est le solde de Paul Dupont":                       "Paul Dupont",
	} {
		for _, in := range understand(say).Intents {
			for _, name := range []string{"worker", "workers"} {
				if got, ok := in.Parameters[name]; ok && !cmp.Equal(got, who) {
					t.Errorf("%q: %s is %v, want %v", say, name, got, who)
				}
			}
		}
	}
	u := understand("delete the chatflow Support Bot 2")
	if len(u.Intents) != 1 || u.Intents[0].Parameters["chatflow_id"] != "Support Bot 2" {
		t.Errorf("delete the chatflow Support Bot 2: %+v", u.Intents)
	}
}
