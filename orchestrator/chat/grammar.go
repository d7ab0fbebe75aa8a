package chat

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/manifold-run/manifold/orchestrator"
)

// Verb is the verb of a command.
type Verb = orchestrator.Verb

// The verbs. Any other message is a request or an answer.
const (
	Approve Verb = "approve"
	Reject  Verb = "reject"
	// Assent is a bare yes or no. It decides nothing; at a gate the reply explains how to decide.
	Assent Verb = "assent"
	Status Verb = "status"
	Cancel Verb = "cancel"
	List   Verb = "list"
	Help   Verb = "help"
)

// Command is a message that consists only of a command.
type Command struct {
	Verb Verb
	// Codes are the gates in the command, in upper case; a bare command has none.
	Codes []string
	// Topic is the topic of help, or the number of a write to undo, or All.
	Topic string
}

// words maps whole messages, in several languages, to their verb. A message with additional words
// is not a command.
var words = map[string]Verb{
	"approve": Approve, "approved": Approve, "i approve": Approve, "lgtm": Approve, "yes approve": Approve,
	"freigeben": Approve, "freigegeben": Approve, "genehmigen": Approve, "genehmigt": Approve,
	"aprovar": Approve, "aprovado": Approve, "aprovo": Approve,
	"aprobar": Approve, "aprobado": Approve, "apruebo": Approve,
	"approuver": Approve, "approuvé": Approve, "j'approuve": Approve,
	"approva": Approve, "approvo": Approve, "approvato": Approve,
	"reject": Reject, "rejected": Reject, "i reject": Reject, "deny": Reject, "withdraw": Reject,
	"ablehnen": Reject, "abgelehnt": Reject, "rejeitar": Reject, "rejeitado": Reject, "rejeito": Reject,
	"rechazar": Reject, "rechazado": Reject, "rechazo": Reject, "refuser": Reject, "refusé": Reject,
	"rifiuta": Reject, "rifiuto": Reject, "rifiutato": Reject,
	"status": Status, "estado": Status, "show status": Status, "stand": Status, "statut": Status, "stato": Status, "show details": Status,
	"cancel": Cancel, "cancel run": Cancel, "stop": Cancel, "abbrechen": Cancel, "cancelar": Cancel, "annuler": Cancel, "annulla": Cancel,
	"list": List, "list gates": List, "gates": List, "what is waiting": List, "list waiting": List,
	"help": Help, "hilfe": Help, "ajuda": Help, "ayuda": Help, "aide": Help, "aiuto": Help,
	"help me": Help, "what can you do": Help, "what can you do for me": Help, "what can i do": Help, "what can i do here": Help, "what can i ask": Help,
	"was kannst du": Help, "was kannst du tun": Help, "was kann ich fragen": Help, "o que você pode fazer": Help, "o que você faz": Help,
	"qué puedes hacer": Help, "que peux-tu faire": Help, "cosa puoi fare": Help,
	"yes": Assent, "yes please": Assent, "ok": Assent, "okay": Assent, "go": Assent, "go ahead": Assent, "do it": Assent, "sure": Assent,
	"ja": Assent, "sim": Assent, "si": Assent, "sí": Assent, "sì": Assent, "oui": Assent,
	"no": Assent, "nein": Assent, "não": Assent, "non": Assent,
}

// noes are the words of Assent that, with a code, reject the gate.
var noes = []string{"no", "nein", "não", "non"}

// greetings are messages without content. They are no commands: if a question asks for the text of
// a message, "hello" is the answer.
var greetings = []string{
	"hi", "hello", "hey", "good morning", "hallo", "moin", "guten tag", "guten morgen",
	"olá", "oi", "bom dia", "hola", "buenos días", "bonjour", "salut", "ciao", "buongiorno",
}

// IsGreeting reports whether a message is only a greeting.
func IsGreeting(message string) bool {
	text := strings.TrimFunc(norm.NFC.String(message), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(greetings, strings.ToLower(text))
}

// IsAffirmative reports whether a message is a bare yes. It may answer a question with one option,
// but is never an approval.
func IsAffirmative(message string) bool {
	c, ok := Parse(message)
	return ok && c.Verb == Assent && !slices.ContainsFunc(noes, func(no string) bool { return strings.HasPrefix(strings.ToLower(strings.TrimSpace(message)), no) })
}

// joiners may be between two codes.
var joiners = []string{"and", "und", "e", "y", "et"}

// Parse reads a command: the whole message must be a known word or phrase, followed only by gate
// codes. "yes but skip step 3" is no command, and neither is an approval as a question or a text
// that merely contains the word.
func Parse(message string) (Command, bool) {
	text := strings.TrimFunc(norm.NFC.String(message), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!…¿¡"+yesMarks+noMarks, r) })
	if text == "" || len(text) > 200 || strings.ContainsAny(strings.TrimSpace(message), "\n\r") {
		return Command{}, false
	}
	asked := strings.HasSuffix(text, "?")
	text = strings.ReplaceAll(strings.TrimRight(text, "? "), "’", "'")
	fields := strings.Fields(strings.ReplaceAll(text, ",", " "))
	phrase, codes := strings.ToLower(strings.Join(fields, " ")), []string(nil)
	verb, known := words[phrase]
	if !known && thanks(phrase) {
		verb, known = Thanks, true
	}
	if !known { // "list gates" looks as if it ended with a code
		fields, codes = cutCodes(fields)
		phrase = strings.ToLower(strings.Join(fields, " "))
		verb, known = words[phrase]
	}
	switch {
	case !known:
		if verb, ok := takesBack(text); ok && (verb == Undo || !asked) {
			return Command{Verb: verb}, true
		}
		return leading(text)
	case verb == Assent && len(codes) > 0:
		if slices.Equal(upper(codes), codes) { // "yes Peter" has no code
			verb = Approve
			if slices.Contains(noes, phrase) {
				verb = Reject
			}
			break
		}
		return Command{}, false
	case verb != Approve && verb != Reject:
		return Command{Verb: verb}, len(codes) == 0 // "cancel Peter" is a request
	}
	return Command{Verb: verb, Codes: upper(codes)}, !asked && !contradicted(verb, message)
}

// yesMarks and noMarks are signs that people write next to a word.
const yesMarks, noMarks = "✓✅👍", "❌👎"

// contradicted reports whether the sign next to the verb says the opposite, so that the meaning is
// unclear.
func contradicted(verb Verb, message string) bool {
	if verb == Reject {
		return strings.ContainsAny(message, yesMarks)
	}
	return strings.ContainsAny(message, noMarks)
}

// cutCodes splits the codes off the end of a message.
func cutCodes(fields []string) (rest, codes []string) {
	for len(fields) > 1 && isCode(fields[len(fields)-1]) {
		codes = append(codes, fields[len(fields)-1])
		fields = fields[:len(fields)-1]
		if last := strings.ToLower(fields[len(fields)-1]); len(fields) > 1 && slices.Contains(joiners, last) {
			fields = fields[:len(fields)-1]
		}
	}
	slices.Reverse(codes)
	return fields, codes
}

func upper(codes []string) []string {
	var out []string
	for _, c := range codes {
		out = append(out, strings.ToUpper(c))
	}
	return out
}

// codeLength is the length of a gate's code. Its alphabet has no characters that are easily
// confused.
const codeLength = 5

func isCode(s string) bool {
	if len(s) != codeLength {
		return false
	}
	return strings.IndexFunc(strings.ToUpper(s), func(r rune) bool {
		return !strings.ContainsRune("23456789ABCDEFGHJKMNPQRSTUVWXYZ", r)
	}) < 0
}
