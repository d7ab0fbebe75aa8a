package local_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local"
)

func TestSmallTalk(t *testing.T) {
	t.Parallel()
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, all := range map[local.Talk][]string{
		local.TalkThanks: {
			"thanks a bunch, you're the best", "ok great, thank you so much for your help!", "ach super, vielen lieben Dank dir", "danke, das war sehr hilfreich",
			"perfeito, muito obrigada pela ajuda", "obrigado, ficou ótimo", "mil gracias, me ha ayudado mucho", "vale, perfecto, gracias", "super, merci à vous", "un grand merci pour ton aide", "grazie mille, sei stato gentile", "ottimo, grazie di cuore", "that's just what I needed, cheers", "passt, danke", "era isso, obrigada", "great, that's everything I wanted to know", "danke, mehr wollte ich nicht wissen", "gracias, es todo lo que necesitaba", "era só isso que eu queria, obrigada", "merci, c'est tout ce qu'il me fallait", "grazie, era tutto quello che cercavo",
		},
		local.TalkFarewell: {
			"ok bye, see you tomorrow", "right, that's everything for now", "so, das war's für heute, bis morgen", "schönen Feierabend noch", "tchau, até amanhã", "por hoje é só", "bueno, nada más por ahora, hasta luego", "bonne soirée à tous", "c'est tout pour aujourd'hui", "allora ciao, a domani", "buona serata a tutti",
		},
		local.TalkWellbeing: {
			"hey, how are you doing today?", "how's everything going", "na, wie geht's dir heute so?", "alles klar bei dir?", "oi, tudo bem com você?", "como vai isso hoje?", "hola, ¿qué tal estás?", "¿cómo va todo?", "salut, comment ça va ?", "tu vas bien aujourd'hui ?", "ciao, come stai oggi?", "tutto bene?", "is anybody there?", "ist jemand da?", "¿hay alguien ahí?",
		},
		local.TalkAsker: {
			"who am I to you, actually?", "what's my role here?", "als wer bin ich hier angemeldet?", "wer bin ich eigentlich?", "afinal quem sou eu aqui?", "que papéis tenho?", "¿sabes quién soy?", "¿qué permisos tengo aquí?", "qui suis-je, au juste ?", "tu sais qui je suis ?", "ma chi sono io qui?", "che ruolo ho?", "can you tell me who I am?", "kannst du mir sagen, wer ich bin?", "¿me puedes decir quién soy?", "mi sai dire chi sono?",
		},
		local.TalkAbout: {
			"so what can you do for me?", "who are you exactly", "are you a bot?", "was kannst du denn alles?", "wie funktioniert das hier?", "o que você consegue fazer?", "és um robô?", "¿qué puedes hacer por mí?", "y tú ¿quién eres?", "tu peux faire quoi ?", "comment ça marche ?", "che cosa sai fare?", "sei un robot?", "do you speak Spanish?", "welche Sprachen sprichst du?",
			"just joined the company! what sort of questions can you actually answer?", "ich bin ganz neu hier, was für Sachen kannst du denn eigentlich?", "sou nova aqui, que tipo de coisa você realmente faz?", "es mi primer día aquí, ¿qué tipo de cosas puedes hacer?",
			"c'est ma première semaine ici, quel genre de choses peux-tu vraiment faire ?", "è il mio primo giorno qui, che genere di cose puoi fare davvero?",
		},
		local.TalkApprovals: {
			"why do all of these things need approval?", "how do approvals work here?", "warum muss hier alles erst genehmigt werden?", "wieso brauche ich dafür eine Freigabe?", "por que tudo aqui precisa de aprovação?", "como funcionam as aprovações?", "¿por qué hay que aprobar todo?", "pourquoi faut-il toujours une validation ?", "perché serve sempre un'approvazione?",
		},
		local.TalkGreeting: {"good morning everyone!", "hello there, nice to meet you", "guten Morgen zusammen", "boa tarde a todos", "muy buenas tardes", "bonjour à tous", "buongiorno a tutti"},
	} {
		for _, message := range all {
			if got, _ := a.SmallTalk(message); got != kind {
				t.Errorf("%q is %q, not %q", message, got, kind)
			}
		}
	}
}

func TestSmallTalkAsksForNothing(t *testing.T) {
	t.Parallel()
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{
		"", "yes", "ok", "ok, go ahead", "no", "yes please do it", "5", "tomorrow", "thanks, now delete it", "thanks, and the price of Apple?", "how is the sales bot doing?",
		"who is Ana Souza?", "who am I meeting tomorrow?", "why was Bruno's request rejected?", "hello world bot", "say hello to everybody in sales", "thanks but cancel the other one",
		"danke, lösche ihn", "wie geht der Import voran?", "obrigado, apaga o bot", "gracias, bórralo", "merci, supprime-le", "grazie, cancellalo", "what can Support Bot do?", "approve all", "ja bitte", "sim, pode aprovar", "what is waiting for my approval?",
		"that's all for Bruno", "that's all I need to change for Bruno", "show me all I need", "tell everybody thanks", "sag allen danke", "can you say hello to the team", "cool", "that one", "show me", "tell me", "do it for me", "I am good to go, approve it", "wish the team a good day in general", "what kind of leave can I take?", "my first day was in May", "what topics does Ana cover?", "welche Aufgaben hat Vera?", "show me the menu", "what questions did people ask?",
	} {
		if kind, ok := a.SmallTalk(message); ok {
			t.Errorf("%q is taken for %q", message, kind)
		}
	}
}

func TestWhatIsNothingButValues(t *testing.T) {
	t.Parallel()
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"5", "5 days, from Tuesday", "für Vera ab Dienstag", "para a Vera", "a partir del martes", "à partir de mardi", "da martedì", "above 70", `"at least one more"`, "Vera Lang"} {
		if !a.Values(said, false) {
			t.Errorf("%q says more than values", said)
		}
	}
	for _, said := range []string{
		"not 5", "never on Tuesday", "5 if Vera agrees", "one more day", "5 less", "at least 5", "about 5", "another 5 days", "noch 5 Tage", "mindestens 5", "mais 5 dias", "pelo menos 5",
		"otros 5 días", "5 jours de plus", "au moins 5", "altri 5 giorni", "all but Vera",
	} {
		if a.Values(said, false) {
			t.Errorf("%q is taken for values alone", said)
		}
	}
	if a.Values("wer ist sein Chef", true) || !a.Values("Vera", true) {
		t.Error("what asks or points is another request")
	}
}
