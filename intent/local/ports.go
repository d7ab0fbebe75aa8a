package local

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// Matcher ranks the capabilities of a catalog for a message. It separates the ranking from the
// gates.
type Matcher interface {
	// Match returns the requests of a message in the order of the sentence, each with its
	// candidates, best first. It never decides whether to act.
	Match(ctx context.Context, q Query) ([]Clause, error)
}

// Scorer computes sentence embeddings of length 1, so that texts with a similar meaning have a
// high dot product in any language. With a scorer, requests match that share no word with a
// capability. Embeddings say nothing about values or negation: "delete it" and "do not delete it"
// are nearly equal.
type Scorer interface {
	// Model identifies the embedding model. Vectors of two models cannot be compared.
	Model() string
	// Prepare returns the embeddings of many texts of a catalog, in their order. It may take
	// minutes, and stops when ctx is cancelled.
	Prepare(ctx context.Context, texts []string) ([][]float32, error)
	// Score returns the embedding of a part of a message while a user waits. It returns an error
	// if it exceeds its own time limit, and the message is read without it.
	Score(ctx context.Context, text string) ([]float32, error)
}

// Query is a message with restrictions on the candidates.
type Query struct {
	Message string
	Catalog *contracts.Catalog
	// Domain limits the candidates to one domain; empty means all.
	Domain string
	// Only limits the candidates to these capabilities; empty means all.
	Only []string
	// Roles are the roles of the caller; a capability with allowed_roles needs one of them.
	Roles []string
	// AnyRole disables the role check, for tests of a catalog.
	AnyRole bool
	// Phase limits the candidates to a phase; empty means all.
	Phase string
	// Now resolves relative dates in its location; zero leaves them unread.
	Now time.Time
}

// Clause is one request in a message.
type Clause struct {
	// Text is the text of the clause, Span its byte range in the message.
	Text string
	Span [2]int
	// Candidates are the possible capabilities, best first.
	Candidates []Candidate
	// After holds the indexes of clauses that must be executed before.
	After []int
	// Rejected is set if the clause forbids the action.
	Rejected bool
	// Source identifies the matcher.
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
	// Held is set if the message does not plainly ask for the action. It must then be confirmed at
	// any confidence. Note gives the reason for the user.
	Held bool
	Note string
	// Exact is set if the clause equals an example or the name.
	Exact bool

	// Said is the message with the role of each word; only the best candidate of a clause has it.
	Said *contracts.Utterance

	// operated is set if an operator such as "except" or "if" is unused.
	operated bool
	// excepted is set if an excluding operator is unused, so that the result would be too large.
	excepted bool
	// unknown is set if the command has words that the capability does not know.
	unknown bool
	// unreadForeign is set in a language that the domain does not support, if an unread word may
	// select an enum value.
	unreadForeign bool
	// fromStatement is set if a required value comes from a statement beside the request ("Ana is
	// ill"), or an unambiguous value does.
	fromStatement bool
	// stated lists the parameters whose value comes from a statement beside the request.
	stated []string
	// several holds coordinated values for a single-value parameter.
	several map[string][]slots.Mention
	// modality is that of the most similar example. explained is the number of content words that
	// the candidate explains, contested the number of parameters with two conflicting values.
	modality  modality.Modality
	nearest   float64 // similarity to that example
	explained float64
	contested int
	begins    bool // the clause begins with a verb of its examples
	informs   bool // the clause begins with a verb of telling or sending
	gives     bool // it provides what the clause asks for
	// confidenceIfUnread is the confidence if words of the clause are unread; 0 if that makes no
	// difference.
	confidenceIfUnread float64
}
