package local

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// Matcher reads a message against a catalog. It is the seam between the gates,
// which are the same for everybody, and what ranks the capabilities.
type Matcher interface {
	// Match gives the requests of a message in the order of the sentence, each
	// with its candidates, best first. It never decides whether to act.
	Match(ctx context.Context, q Query) ([]Clause, error)
}

// Scorer gives texts vectors of length 1 that are the more alike the more the
// texts mean the same, in whatever words and language. With one, requests are
// found that share no word with what is known of a capability. It tells nothing
// of values or of what must not be done: "delete it" and "do not delete it" are
// nearly the same to it.
type Scorer interface {
	// Model names what computes: vectors of two models cannot be compared.
	Model() string
	// Prepare gives the vectors of many texts of a catalog, in their order. It may
	// take minutes, and stops when ctx does.
	Prepare(ctx context.Context, texts []string) ([][]float32, error)
	// Score gives the vector of a part of a message while somebody waits: what does
	// not answer within the scorer's own bound is an error, and the message is read
	// without it.
	Score(ctx context.Context, text string) ([]float32, error)
}

// Query is a message and what may be chosen for it.
type Query struct {
	Message string
	Catalog *contracts.Catalog
	// Domain limits the candidates to one domain; empty means all.
	Domain string
	// Only limits the candidates to these capabilities; empty means all.
	Only []string
	// Roles are the caller's; a capability with allowed_roles needs one of them.
	Roles []string
	// AnyRole lifts the limit, for tests of a catalog.
	AnyRole bool
	// Phase limits the candidates to a phase; empty means all.
	Phase string
	// Now resolves relative dates in its location; zero leaves them unread.
	Now time.Time
}

// Clause is one request in a message.
type Clause struct {
	// Text is the part of the message, Span its place in bytes.
	Text string
	Span [2]int
	// Candidates are the capabilities that it may mean, best first.
	Candidates []Candidate
	// After are the indexes of clauses that must come before.
	After []int
	// Rejected tells that the clause says what must not be done.
	Rejected bool
	// Source names the matcher.
	Source string
}

// Candidate is one reading of a clause.
type Candidate struct {
	Entry      *contracts.CapabilityEntry
	Confidence float64
	// Score orders candidates; it is no probability.
	Score      float64
	Parameters map[string]any
	Evidence   map[string]contracts.Evidence
	Missing    []string
	// Held tells that the words ask for no such action, or not plainly: it must
	// be confirmed whatever the confidence is. Note says why, for people.
	Held bool
	Note string
	// Exact tells that the clause is an example or the name word for word.
	Exact bool

	// Said is the message with what each word is to this reading; only the best
	// reading of a clause has it.
	Said *contracts.Said

	// operated tells that a word such as "except" or "if" is among what is not used.
	operated bool
	// excepted tells one that leaves something out: what is read would be too much.
	excepted bool
	// unknown tells words of the command itself that the capability does not know.
	unknown bool
	// lost tells one in a language that its domain does not have, of whose words some
	// are not read that may tell which of few values is meant.
	lost bool
	// told tells that values that are needed stand beside the request ("Ana is ill"), or any
	// that cannot be meant for something else.
	told bool
	// stated are the parameters whose value a statement beside the request says.
	stated []string
	// several are values beside each other for a parameter that takes one.
	several map[string][]slots.Mention
	// modality is that of the most similar example. explained is how many content
	// words the reading accounts for, contested how many parameters the words
	// name twice.
	modality  modality.Modality
	nearest   float64 // likeness to that example
	explained float64
	contested int
	begins    bool // the clause begins with the verb of its sentences
	informs   bool // the clause begins with a verb of telling or sending
	gives     bool // it gives what the clause says that is wanted
	// unraised is the confidence that it has once words of its clause are left over; 0 if that
	// makes no difference.
	unraised float64
}
