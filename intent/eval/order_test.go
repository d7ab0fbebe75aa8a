package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// Two requests in one sentence are both done, in the order in which they are
// said to be done.
func TestTwoRequestsAreDoneInOrder(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	const (
		price, alerts, alert, unalert = "finance.get_stock_price", "finance.list_price_alerts", "finance.set_price_alert", "finance.delete_price_alert"
		balance, request, cancel      = "workday.get_time_off_balances", "workday.request_time_off", "workday.cancel_time_off"
		send, messages                = "communication.send_message", "communication.list_messages"
	)
	for _, c := range []struct{ say, first, second string }{
		{`price of AAPL and then post "done" to general`, price, send},
		{"show Ana Souza's balance and then book 2 days of vacation for Ana Souza from 2026-12-07", balance, request},
		{"delete alert al-4 and after that list my alerts", unalert, alerts},
		{"before you delete alert al-4, show me my alerts", alerts, unalert},
		{"after deleting alert al-4, list my alerts", unalert, alerts},
		{"first cancel the vacation of Ana Souza on 2026-12-07, then request 3 days of vacation for Ana Souza from 2026-12-14", cancel, request},
		{`set a price alert for AAPL at 250 and then tell the team "the alert is set"`, alert, send},
		{`preço da AAPL e depois publica "pronto" no canal geral`, price, send},
		{"mostra o saldo de férias da Ana Souza e depois marca 2 dias de férias para a Ana Souza a partir de 2026-12-07", balance, request},
		{"apaga o alerta al-4 e em seguida lista os meus alertas", unalert, alerts},
		{"antes de apagar o alerta al-4, mostra os meus alertas", alerts, unalert},
		{"primeiro cancela as férias da Ana Souza em 2026-12-07, depois marca 3 dias de férias para a Ana Souza a partir de 2026-12-14", cancel, request},
		{`envia a mensagem "pronto" para o canal geral e depois mostra as mensagens`, send, messages},
		{`Kurs von AAPL und danach schreib "fertig" in den Kanal general`, price, send},
		{"zeig das Urlaubskonto von Ana Souza und beantrage dann 2 Tage Urlaub für Ana Souza ab 2026-12-07", balance, request},
		{"lösche den Alarm al-4 und zeig danach meine Alarme", unalert, alerts},
		{"bevor du den Alarm al-4 löschst, zeig mir meine Alarme", alerts, unalert},
		{"storniere zuerst den Urlaub von Ana Souza am 2026-12-07 und beantrage danach 3 Tage Urlaub für Ana Souza ab 2026-12-14", cancel, request},
		{`precio de AAPL y luego publica "listo" en el canal general`, price, send},
		{"muestra el saldo de vacaciones de Ana Souza y después pide 2 días de vacaciones para Ana Souza desde 2026-12-07", balance, request},
		{"borra la alerta al-4 y luego muestra mis alertas", unalert, alerts},
		{"antes de borrar la alerta al-4, muéstrame mis alertas", alerts, unalert},
		{"primero cancela las vacaciones de Ana Souza el 2026-12-07, después pide 3 días de vacaciones para Ana Souza desde 2026-12-14", cancel, request},
		{`cours de AAPL puis publie "terminé" dans le canal general`, price, send},
		{"montre le solde de congés d'Ana Souza puis demande 2 jours de congé pour Ana Souza à partir du 2026-12-07", balance, request},
		{"supprime l'alerte al-4 et ensuite montre mes alertes", unalert, alerts},
		{"avant de supprimer l'alerte al-4, montre-moi mes alertes", alerts, unalert},
		{"annule d'abord les vacances d'Ana Souza le 2026-12-07, ensuite demande 3 jours de congé pour Ana Souza à partir du 2026-12-14", cancel, request},
	} {
		u := understand(c.say)
		if u.Outcome != contracts.ReadingAccepted {
			t.Errorf("%q: %s %s", c.say, u.Outcome, u.Question)
		}
		var got []string
		for _, in := range u.Intents {
			got = append(got, in.Ref()+" after "+strings.Join(in.After, ","))
		}
		if diff := cmp.Diff([]string{c.first + " after ", c.second + " after i1"}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.say, diff)
		}
	}
}

// No part of what has an effect is lost on the way to it: what else a message
// says, and when, is asked about.
func TestNothingOfAWriteIsLost(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for _, say := range []string{
		"delete alert al-7 and water the plants", "apaga o alerta al-7 e compra pão", "lösche den Alarm al-7 und kauf Brot",
		"borra la alerta al-7 y compra pan", "supprime l'alerte al-7 et achète du pain",
		"delete alert al-7 tomorrow", "delete alert al-7 at 5 pm", "lösche den Alarm al-7 am 2026-12-07",
		"delete alert al-7. Don't!", "delete alert al-7, no, wait", "apaga o alerta al-7. Não!", "lösche den Alarm al-7. Nein, doch nicht!",
		"borra la alerta al-7. ¡No!", "supprime l'alerte al-7. Non !",
		"book 2 days of vacation for Ana Souza from 2026-12-07 and book a flight to Lisbon",
	} {
		if u := understand(say); u.Outcome == contracts.ReadingAccepted {
			t.Errorf("%q would be done: %+v", say, u.Intents)
		}
	}
	for say, want := range map[string]int{
		"delete alert al-7 and show the remaining alerts":        2,
		"lösche den Alarm al-7 und zeig dann die übrigen Alarme": 2,
		"tell the team that we meet tomorrow":                    1,
		"delete the alert al-7, which is obsolete":               1,
	} {
		if u := understand(say); u.Outcome != contracts.ReadingAccepted || len(u.Intents) != want {
			t.Errorf("%q: %s %+v %s", say, u.Outcome, u.Intents, u.Question)
		}
	}
}

// What goes on from an earlier message is not guessed: each is read by itself.
func TestFollowUpsAreAskedAbout(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for _, say := range []string{"and of Carla?", "e da Carla?", "und von Jonas Keller?", "¿y de Carla Mendes?", "et d'Ana Souza ?", "what about Bruno Lima"} {
		if u := understand(say); u.Outcome == contracts.ReadingAccepted {
			t.Errorf("%q is taken for %+v", say, u.Intents)
		}
	}
	if u := understand("and show my alerts"); u.Outcome != contracts.ReadingAccepted {
		t.Errorf("a request behind \"and\" is not done: %s", u.Question)
	}
}

// "Show X" is about what is called X, where one domain knows the name, and is
// asked about where none does.
func TestAKnownNameTellsTwinsApart(t *testing.T) {
	t.Parallel()
	understand := understander(t)
	for say, want := range map[string]string{"show Carla Mendes": "workday.get_worker", "show Support Bot": "flowise.get_chatflow"} {
		if u := understand(say); len(u.Intents) != 1 || u.Intents[0].Ref() != want {
			t.Errorf("%q: %s %+v %s", say, u.Outcome, u.Intents, u.Question)
		}
	}
	if u := understand("show Rita Falk"); u.Outcome != contracts.ReadingUnclear || len(u.Choices) < 2 {
		t.Errorf("an unknown name: %s %+v %+v", u.Outcome, u.Intents, u.Choices)
	}
}
