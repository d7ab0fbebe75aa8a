package slot

import (
	"strings"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// sense is what a parameter is about, as far as its name tells, and what a
// preposition announces.
type sense uint16

const (
	sensePlace  sense = 1 << iota // where
	senseSource                   // from where, from whom
	senseTarget                   // to where, to whom
	senseMaker                    // by whom
	senseTopic                    // about what
	senseMeans                    // with what, how
	senseTime                     // when
	senseKind                     // of what kind
)

// cues are the closed classes of words that tell what a text stands for. They
// are the same for every subject; what belongs to a subject comes from its
// manifest.
type cues struct {
	names    map[string]sense // stems of words in names of parameters
	preps    map[string]sense // folded prepositions
	particle map[string]bool
	calendar map[string]bool // months, days of the week, seasons
	titles   map[string]bool // before names, with a dot
	deictic  map[string]bool // words that point at a time
	// unsaid are words that stand for what is said elsewhere, or not at all.
	unsaid map[string]bool
	// capitalising are the articles of languages in which every noun has a capital.
	capitalising map[string]bool
	// verbal are everyday verbs and adverbs that stand around names.
	verbal map[string]bool
	// german and foreign tell languages apart that do and do not give every noun
	// a capital.
	german, foreign map[string]bool
	// english tells English from the others; shared are prepositions of others that
	// are words of another kind in English.
	english, shared map[string]bool
	// utters are the stems of verbs that what is said follows.
	utters map[string]bool
	// tells are verbs of telling and asking in the form of a request.
	tells map[string]bool
	// generic are the stems of words that stand in requests about anything.
	generic map[string]bool
	speech  map[string]bool // stems of names of parameters that hold what somebody says
	proper  map[string]bool // stems of names of parameters whose values are names
	// money, share and count are the stems of names of parameters that are sums of
	// money, shares of something, and how many there are.
	money, share, count map[string]bool
	code                map[string]bool // stems of names of parameters whose values are codes
	// written are those of values that are written as no word is, with the signs of
	// which one is in them.
	written map[string]string
	// openers are words before a name in small letters: "são paulo".
	openers map[string]bool
}

// line is a sense with its words, English first, then Portuguese, Spanish,
// German and French.
type line struct {
	sense sense
	words string
}

func nameLines() []line {
	return []line{
		{sensePlace, "place location city town country state region area address venue county district province continent island station airport street neighborhood"},
		{sensePlace, "lugar local localizacao cidade pais estado regiao endereco bairro ciudad region direccion provincia ort stadt land standort gegend adresse strasse ville lieu pays quartier"},
		{senseSource, "from source origin start departure begin base sender partida origem inicio remetente origen salida von quelle start abfahrt ursprung absender depart origine"},
		{senseTarget, "to target destination end arrival recipient receiver destino chegada destinatario llegada nach ziel ankunft empfanger arrivee destinataire"},
		{senseMaker, "author artist creator maker writer singer composer director painter designer brand manufacturer publisher actor producer owner autor autora artista criador cantor marca fabricante kunstler hersteller autor besitzer auteur marque fabricant"},
		{senseTopic, "topic subject theme keyword query about category question tema assunto asunto palavra thema betreff suchbegriff sujet"},
		{senseMeans, "method model mode tool way technique material platform metodo modelo modo ferramenta methode modell werkzeug weise outil"},
		{senseKind, "type kind genre category style cuisine material sort class species color subject field discipline sport diet brand department tipo genero categoria estilo material especie art gattung kategorie stil sorte farbe genre categorie style"},
		{senseTime, "date time day month year season period timeframe when dia mes ano data epoca fecha estacion tag monat jahr datum zeit jour mois annee saison"},
	}
}

func prepositionLines() []line {
	return []line{
		{sensePlace | senseTime, "in at on within during around em no na nos nas en im am bei beim dans durante wahrend pendant a"},
		{sensePlace, "near nearby inside outside across throughout close perto cerca nahe pres chez"},
		{senseSource | senseMaker, "from since desde de del von vom aus ab seit depuis do da dos das du des"},
		{senseTarget, "to into towards toward onto until para ate hacia hasta nach zu zum zur bis vers jusqu au aux"},
		{senseMaker, "by por pelo pela durch par"},
		{senseTopic, "about on regarding concerning sobre acerca uber sur"},
		{senseMeans, "with using via through com con mit avec usando utilizando mittels"},
		{0, "of for between against among under over above below without per like than as fur pour entre zwischen gegen unter contra contre sem ohne sans sin"},
	}
}

func newCues() *cues {
	c := &cues{names: map[string]sense{}, preps: map[string]sense{}}
	for _, l := range nameLines() {
		for _, stem := range text.Stems(l.words) {
			c.names[stem] |= l.sense
		}
	}
	for _, l := range prepositionLines() {
		for w := range strings.FieldsSeq(l.words) {
			c.preps[w] |= l.sense
		}
	}
	c.particle = wordSet("of de da do dos das di du del la las van von der den the al el le")
	c.calendar = wordSet("january february march april may june july august september october november december " +
		"monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall winter weekend " +
		"janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro primavera verao outono inverno " +
		"enero febrero marzo mayo junio julio septiembre octubre noviembre diciembre verano otono invierno " +
		"januar februar marz mai juni juli oktober dezember fruhling sommer herbst montag dienstag mittwoch donnerstag freitag samstag sonntag")
	c.titles = wordSet("mr mrs ms dr prof st sr sra jr")
	c.deictic = wordSet("next last this past coming upcoming current previous recent latest ongoing now right proximo proxima ultimo ultima passado passada atual este esta " +
		"nachste nachsten nachster letzte letzten letzter diese diesen dieser kommende kommenden aktuelle aktuellen prochain prochaine dernier derniere ce cette")
	c.unsaid = wordSet("given specified provided following mentioned certain particular specific respective corresponding dado dada dados dadas especificado especificada seguinte certo certa determinado determinada " +
		"gegebene gegebenen folgende folgenden bestimmte bestimmten angegebene angegebenen genannte genannten donne donnee suivant suivante certain certaine")
	c.capitalising = wordSet("der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner")
	c.verbal = wordSet("ainda ja tem tinha tenho temos esta estao resta restam sobra sobram falta faltam fica ficam noch schon hat haben hatte bleibt bleiben ubrig heute " +
		"aun todavia ya tiene tienen queda quedan restan falta faltan encore deja reste restent")
	c.utters = stemSet(utterances)
	c.tells = wordSet("tell ask notify inform remind let avisa avise informa pergunta pergunte diz dile pregunta pregunte sag sage frag frage informiere dis demande previens")
	c.generic = stemSet("detail information info list name amount number data result example thing way kind stuff fact search look provide retrieve fetch tell help detalhe informacao lista nome exemplo nombre ejemplo einzelheiten liste information nom exemple")
	c.german, c.foreign = wordSet(germanWords), wordSet(foreignWords)
	c.english = wordSet("the an is are was were of to for with from what how who where which and my me you i please find get show give can could would need want at by this that it in")
	c.shared = wordSet("a no do as um am on per des du en em au aux par pour con des bei")
	c.speech = stemSet("text message content body comment note sentence description question review prompt statement reason texto mensagem conteudo comentario nota frase descricao pergunta motivo " +
		"mensaje contenido nachricht inhalt kommentar notiz satz beschreibung frage grund texte contenu commentaire phrase")
	c.proper = stemSet("city country state county town person author artist actor player company organization brand team league " +
		"cidade pais estado pessoa autor artista empresa organizacao marca equipe clube ciudad persona equipo " +
		"stadt land staat person autor kunstler firma unternehmen marke mannschaft verein ville pays entreprise equipe")
	c.money = stemSet("price cost amount budget salary income revenue fee payment balance loan principal deposit investment wage debt expense dividend profit sale fund cash equity tax asset " +
		"preco custo valor orcamento salario receita taxa saldo precio costo monto presupuesto importe preis kosten betrag gehalt gebuhr prix cout montant")
	c.share = stemSet("percent percentage pct rate ratio share fraction probability discount interest frequency yield margin taxa percentual porcentaje tasa prozent anteil zinssatz taux pourcentage")
	c.count = stemSet("count number num limit top quantity amount max size total n results quantidade numero cantidad anzahl menge nombre")
	c.written = map[string]string{}
	for signs, names := range map[string]string{
		"/\\.~_":     "path file filename folder directory url uri link website endpoint repository repo ficheiro arquivo caminho archivo ruta datei pfad fichier chemin",
		".:":         "ip host hostname server domain version",
		"@":          "email mail sender recipient handle user username account",
		"#":          "color colour hex tag channel",
		"0123456789": "phone telephone mobile telefone telefono telefon hash",
	} {
		for stem := range stemSet(names) {
			c.written[stem] = signs
		}
	}
	c.openers = wordSet("sao san santa santo saint los las la el le les der den du des al")
	c.code = stemSet("id identifier number code sku reference key token docket serial version numero codigo referencia nummer kennung schlussel numero clef")
	return c
}

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

func stemSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, stem := range text.Stems(words) {
		out[stem] = true
	}
	return out
}

// senseOf tells what a parameter is about. "from_city" is a place and a source.
func (c *cues) senseOf(words []string) sense {
	var s sense
	for _, w := range words {
		s |= c.names[w]
	}
	return s
}
