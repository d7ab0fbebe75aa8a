package text

import "strings"

// Lexicon is the closed set of words that belong to language itself: what
// carries grammar, politeness or reference, whatever the subject is.
type Lexicon struct {
	function map[string]bool
	filler   map[string]bool
	pronoun  map[string]bool
	kin      map[string]Kinds
}

// NewLexicon gives the words of English, Portuguese, Spanish, German and
// French.
func NewLexicon() *Lexicon {
	l := &Lexicon{function: set(functionWords), filler: set(fillerWords), pronoun: set(pronounWords), kin: kinOf(kinWords)}
	for w := range l.pronoun {
		l.function[w] = true
	}
	return l
}

// Function tells words such as "the", "of" and "for". Their folded form is
// asked for.
func (l *Lexicon) Function(fold string) bool { return l.function[fold] }

// Filler tells greetings and words of politeness.
func (l *Lexicon) Filler(fold string) bool { return l.filler[fold] }

// Pronoun tells words that refer to something said elsewhere.
func (l *Lexicon) Pronoun(fold string) bool { return l.pronoun[fold] }

// Asks tells words that make a question.
func Asks(fold string) bool {
	switch fold {
	case "who", "whom", "whose", "what", "which", "where", "when", "why", "how",
		"quem", "qual", "quais", "onde", "quando", "quanto", "quantos", "quantas", "como", "quien", "cual", "donde", "cuando", "cuanto", "cuantos",
		"wer", "was", "wo", "wann", "wie", "warum", "welche", "welcher", "qui", "quel", "quelle", "combien":
		return true
	}
	return false
}

// Terms gives the features of all light words.
func (l *Lexicon) Terms() []uint32 {
	out := make([]uint32, 0, len(l.function)+len(l.filler))
	for _, words := range []map[string]bool{l.function, l.filler} {
		for w := range words {
			out = append(out, hash('w', stem(w), ""))
		}
	}
	return unique(out)
}

// Light tells tokens that say nothing about the subject.
func (l *Lexicon) Light(fold string) bool { return l.function[fold] || l.filler[fold] }

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

const functionWords = `
a an the of to in on at by for from with without into onto over under above below about as than off up down out
and or but nor so if then else when while until till since before after because though although unless once
is are was were be been being am do does did done doing have has had having can could will would shall should may might must
what which who whom whose where why how there here this that these those such no not yes any some all each every both either neither
much many more most less least very too also just only even still again already yet now right s t d m ll re ve
dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent havent hasnt hadnt mustnt
i o os as um uma uns umas de da do das dos em no na nos nas ao aos por para pela pelo com sem e ou mas se que qual quais quando quanto
quanta como onde esta este isso isto essa esse ser estar ter foi sao tem temos tenho tinha estao ainda ja
el la los las un una unos unas del al en con sin y u pero cual cuales cuando cuanto donde es son lo tiene tienen tengo aun todavia ya
der die das den dem des ein eine einen einem einer und oder aber von zu zum zur im mit ohne fur auf ist sind war wie was wer wo wann bei habe haben hatte noch schon
primeiro primero primera primeira zuerst erst first firstly abord danach anschliessend hinterher depois despues luego ensuite puis afterwards
il elle te lui se on nous l j n c qu ne y que ce cette ces cet un une la
le les du au aux et ou mais dans sur avec sans pour par est sont quel quelle quels quelles combien encore deja`

const fillerWords = `
please pls plz kindly thanks thank hi hello hey dear ok okay well alright sure morning evening afternoon cheers sorry excuse
show give tell see get display know find check
could would like want need wanna let lets lemme gonna just maybe perhaps
quero queria gostaria preciso pode podes poderia podia mochte mochten wurde wurden will soll sollen werden bitte quiero quisiera
mostra mostre mostrar diz diga diga-me dime dame dinos muestra muestre mostrar ensena zeig zeige zeigen sag sage gib gebe montre montrez dis dites donne donnez
podes podem poderias podias voce voces puedes puede podrias podria podeis kannst konntest konnten koennen konnen wurdest wurden peux peut pouvez pourrais pourriez veux voudrais voudrions aimerais mochte brauche brauchen necesito necesita precisa besoin ai tu vous sie du ich
favor plait obrigado obrigada ola oi bom dia gracias hola bitte danke hallo merci bonjour svp`

const pronounWords = `
it its he him his she her hers they them their theirs we us our ours you your yours i me my mine myself
one ones himself herself itself themselves same
ele ela eles elas dele dela deles delas seu sua meu minha lhe
ella ellos ellas suyo suya mi ihn ihm ihr sie sein seine mein meine elle lui leur son sa mon ma`
