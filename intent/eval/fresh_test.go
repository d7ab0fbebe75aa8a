package eval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

// People whom no manifest names, days as people say them, and what somebody shall be
// told, in five languages, beside all other domains; written before anybody looked at how
// they were read.
func TestFreshRequestsAreDone(t *testing.T) {
	t.Parallel()
	shelf, err := bookshelf()
	if err != nil {
		t.Fatal(err)
	}
	for name, manifests := range map[string][]*contracts.Manifest{"the demo": together(t), "with a shelf of books": append(together(t), shelf)} {
		catalog, err := (&eval.Set{Manifests: manifests}).Catalog()
		if err != nil {
			t.Fatal(err)
		}
		adapter := settled(t, catalog)
		for say, want := range fresh() {
			got, u := done(t, adapter, catalog, say)
			if !slices.Equal(got, strings.Split(want, " + ")) && (want != "" || len(got) > 0) {
				t.Errorf("%s: %q: %s %v, want %s: %s", name, say, u.Outcome, got, want, u.Question)
			}
		}
	}
}

func fresh() map[string]string {
	const (
		off     = "workday.request_time_off "
		cancel  = "workday.cancel_time_off "
		list    = "workday.list_time_off "
		balance = "workday.get_time_off_balances "
		send    = "communication.send_message "
		create  = "flowise.create_chatflow "
		remove  = "flowise.delete_chatflow "
	)
	return map[string]string{
		// Several things are each done, and nothing of theirs instead of them.
		"lösche den Chatflow FAQ":                                  remove + "chatflow_id=FAQ",
		"delete the chatflows FAQ and Weekly Digest":               remove + "chatflow_id=FAQ + " + remove + "chatflow_id=[Weekly Digest]",
		`delete the chatflows "Desk", "Front" and "Weekly Digest"`: remove + "chatflow_id=Desk + " + remove + "chatflow_id=Front + " + remove + "chatflow_id=[Weekly Digest]",
		"lösche die Chatflows FAQ und Wochenbericht":               remove + "chatflow_id=FAQ + " + remove + "chatflow_id=Wochenbericht",
		"supprime les chatflows FAQ et Bulletin":                   remove + "chatflow_id=FAQ + " + remove + "chatflow_id=Bulletin",
		"apaga o chatflow FAQ e o chatflow Boletim":                remove + "chatflow_id=FAQ + " + remove + "chatflow_id=Boletim",
		"cancel Ana Souza's and Rita Falk's leave on Friday":       cancel + "from=2026-11-27 worker=[Ana Souza] + " + cancel + "from=2026-11-27 worker=[Rita Falk]",
		// A name before the name of one parameter is no other one's.
		`create a chatflow "Refunds" using the Spare OpenAI credential`: create + "credential=[Spare OpenAI] name=Refunds",
		// Who is left out is not who is meant.
		"vacation balances of everyone on Helena Duarte's team but Ana Souza": "",
		// "Book" is a verb here, whatever it is elsewhere.
		"book Friday off for Rita Falk":                          off + "days=1 start=2026-11-27 worker=[Rita Falk]",
		"book tomorrow off for Rita Falk":                        off + "days=1 start=2026-11-22 worker=[Rita Falk]",
		"book two days of vacation for Grace Okafor from Monday": off + "absence_type=vacation days=2 start=2026-11-23 worker=[Grace Okafor]",
		// A day is a day, however it is said.
		"could you put Rita Falk down for Thursday off, please?":      off + "days=1 start=2026-11-26 worker=[Rita Falk]",
		"could you put Rita Falk down for next Thursday off, please?": off + "days=1 start=2026-11-26 worker=[Rita Falk]",
		"half a day off for Grace Okafor tomorrow morning":            off + "days=0.5 start=2026-11-22 worker=[Grace Okafor]",
		"buche morgen frei für Rita Falk":                             off + "days=1 start=2026-11-22 worker=[Rita Falk]",
		"pide el viernes libre para Rita Falk":                        off + "days=1 start=2026-11-27 worker=[Rita Falk]",
		"pose vendredi pour Rita Falk":                                off + "days=1 start=2026-11-27 worker=[Rita Falk]",
		"streiche den Urlaub von Eva Brandt am Freitag":               cancel + "from=2026-11-27 worker=[Eva Brandt]",
		// An article behind a preposition is none itself, and no place.
		"marca 2 dias de férias para a Teresa Nunes a partir de 2026-12-07":        off + "absence_type=vacation days=2 start=2026-12-07 worker=[Teresa Nunes]",
		"marca férias para a Teresa Nunes na sexta-feira":                          off + "absence_type=vacation start=2026-11-27 worker=[Teresa Nunes]",
		"regista dois dias de baixa para a Teresa Nunes a partir de segunda-feira": off + "absence_type=sick days=2 start=2026-11-23 worker=[Teresa Nunes]",
		"quantos dias de férias tem a Teresa Nunes":                                balance + "worker=[Teresa Nunes]",
		"cuántos días libres le quedan a Marta Gil":                                balance + "worker=[Marta Gil]",
		// Both ends of a period.
		"show Grace Okafor's time off between December 1 and December 20": list + "from=2026-12-01 to=2026-12-20 worker=[Grace Okafor]",
		"show Grace Okafor's time off from December 1 to December 20":     list + "from=2026-12-01 to=2026-12-20 worker=[Grace Okafor]",
		"show the time off of Grace Okafor between December 1 and 20":     list + "from=2026-12-01 to=2026-12-20 worker=[Grace Okafor]",
		// What somebody shall be told, wherever.
		"write in the operations channel that the lift works again": send + "channel=operations message=[the lift works again]",
		"let the operations channel know the lift is fixed":         send + "channel=operations message=[the lift is fixed]",
		"schreib im Kanal operations, dass der Aufzug wieder fährt": send + "channel=operations message=[der Aufzug wieder fährt]",
		"écris dans le canal operations que l'ascenseur remarche":   send + "channel=operations message=[l'ascenseur remarche]",
		"escreve no canal operations que o elevador voltou":         send + "channel=operations message=[o elevador voltou]",
		"avisa a equipa de que o elevador voltou":                   send + "channel=general message=[o elevador voltou]",
		"escribe en el canal operations que el ascensor funciona":   send + "channel=operations message=[el ascensor funciona]",
		// What it shall say, before and behind the verb.
		`crea un chatflow llamado "Portero" que diga "Buenas"`:            create + "name=Portero reply=Buenas",
		`cria um chatflow chamado "Guia" que responda "Olá"`:              create + "name=Guia reply=Olá",
		`erstelle einen Chatflow namens "Pförtner", der "Guten Tag" sagt`: create + "name=Pförtner reply=[Guten Tag]",
		`erstelle einen Chatflow, der "Guten Tag" antwortet`:              create + "reply=[Guten Tag]",
		// None of these asks for anything.
		"see you on Monday":             "",
		"I was off on Friday":           "",
		"Rita Falk was off last Friday": "",
		"the meeting is on Thursday":    "",
		"let operations know":           "",
		// Nor does this say whom, and "de vendas" is nothing that is to be told.
		"diz à equipa de vendas que o servidor voltou":       "",
		"dile al equipo de ventas que el servidor ha vuelto": "",
	}
}
