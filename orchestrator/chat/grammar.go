package chat

import (
	"strings"
	"unicode"
)

// Verb is what a command asks for.
type Verb string

// The verbs. Everything that is none of them is a request or an answer.
const (
	Approve Verb = "approve"
	Reject  Verb = "reject"
	Status  Verb = "status"
	Cancel  Verb = "cancel"
	List    Verb = "list"
	Help    Verb = "help"
)

// Command is a message that is nothing but a command.
type Command struct {
	Verb Verb
	// Codes are the gates that are named, in upper case; a bare command has none.
	Codes []string
}

// words are the whole messages, in several languages, that mean a verb. A
// phrase of more words than these is never a command.
var words = map[string]Verb{
	"approve": Approve, "approved": Approve, "i approve": Approve, "lgtm": Approve, "yes approve": Approve,
	"freigeben": Approve, "freigegeben": Approve, "genehmigen": Approve, "genehmigt": Approve,
	"aprovar": Approve, "aprovado": Approve, "aprovo": Approve,
	"aprobar": Approve, "aprobado": Approve, "apruebo": Approve,
	"approuver": Approve, "approuvé": Approve, "j'approuve": Approve,
	"reject": Reject, "rejected": Reject, "i reject": Reject, "deny": Reject,
	"ablehnen": Reject, "abgelehnt": Reject, "rejeitar": Reject, "rejeitado": Reject, "rejeito": Reject,
	"rechazar": Reject, "rechazado": Reject, "rechazo": Reject, "refuser": Reject, "refusé": Reject,
	"status": Status, "estado": Status, "show status": Status, "stand": Status, "statut": Status, "show details": Status,
	"cancel": Cancel, "cancel run": Cancel, "stop": Cancel, "abbrechen": Cancel, "cancelar": Cancel, "annuler": Cancel,
	"list gates": List, "gates": List, "what is waiting": List, "list waiting": List,
	"help": Help, "hilfe": Help, "ajuda": Help, "ayuda": Help, "aide": Help,
}

// Parse reads a command: the whole message must be a known word or phrase,
// followed by nothing but gate codes. "yes but skip step 3" is no command, and
// neither is a text that merely contains the word.
func Parse(message string) (Command, bool) {
	text := strings.TrimFunc(message, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!?…✓✅👍", r) })
	if text == "" || len(text) > 200 || strings.ContainsAny(text, "\n\r") {
		return Command{}, false
	}
	fields := strings.Fields(strings.ReplaceAll(text, ",", " "))
	var codes []string
	for len(fields) > 1 && isCode(fields[len(fields)-1]) {
		codes = append([]string{strings.ToUpper(fields[len(fields)-1])}, codes...)
		fields = fields[:len(fields)-1]
		if last := strings.ToLower(fields[len(fields)-1]); len(fields) > 1 && (last == "and" || last == "und" || last == "e" || last == "y") {
			fields = fields[:len(fields)-1]
		}
	}
	verb, known := words[strings.ToLower(strings.Join(fields, " "))]
	return Command{Verb: verb, Codes: codes}, known
}

// codeLength is the length of a gate's code; its letters and digits are those
// that people do not take for one another.
const codeLength = 5

func isCode(s string) bool {
	if len(s) != codeLength {
		return false
	}
	return strings.IndexFunc(strings.ToUpper(s), func(r rune) bool {
		return !strings.ContainsRune("23456789ABCDEFGHJKMNPQRSTUVWXYZ", r)
	}) < 0
}
