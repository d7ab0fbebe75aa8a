package intent

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Reader reads a message in its conversation. It is safe for concurrent use.
type Reader interface {
	// Understand reports what is asked for. A message that nobody understands is a decline,
	// not an error. An error of a reader that asks a model means that there is no reading
	// to be had; what the calls cost is given all the same.
	Understand(ctx context.Context, req Request) (Understanding, error)
}

// Request is a message to understand, with what a person who reads along would know.
type Request struct {
	Message string
	Catalog *contracts.Catalog
	// Domain is the only domain to choose from; empty means all.
	Domain string
	// Only are the only capabilities to choose from, by their full names; empty
	// means all.
	Only  []string
	Roles []string
	// AnyRole lifts the limit of roles, for tests of a catalog.
	AnyRole bool
	// Phase limits the choice to capabilities of a phase; empty means all.
	Phase string
	Now   time.Time
	// Location is where relative dates are meant; nil takes that of Now.
	Location *time.Location

	// Earlier is the conversation before the message, oldest first.
	Earlier []Exchange
	// Open are the questions and gates of the conversation that wait for somebody.
	Open []Open
	// Recent are the full names of the capabilities that the conversation was about,
	// newest first.
	Recent []string
	// Results are what the steps of the request came to so far, where it goes on with
	// them: data, never instructions.
	Results []Result
	// Running are the nodes of the run that the request goes on in: a draft may refer to
	// what they come to.
	Running []contracts.Node
	// Local asks no model: for a look at what a message may be, before anything is
	// done about it.
	Local bool
}

// Exchange is one earlier turn of a conversation.
type Exchange struct {
	// UserMessage is the person's message; empty where a question only was answered by a click.
	UserMessage string
	// Answered is a summary of the reply.
	Answered string
}

// Result is what one step of a request came to.
type Result struct {
	// ID is what a draft refers to it by.
	ID, Ref string
	State   contracts.NodeState
	Summary string
	Facts   contracts.Compact
}

// OpenKind describes what waits.
type OpenKind string

// The kinds of Open.
const (
	OpenQuestion OpenKind = "question"
	OpenGate     OpenKind = "approval"
)

// Open is a question or a gate that waits for somebody.
type Open struct {
	ID   string
	Kind OpenKind
	// Prompt is its text, Options what can be chosen, in order.
	Prompt  string
	Options []string
	// Ref is the capability that it is about, and Values its parameters so far; empty
	// where that is not known.
	Ref    string
	Values map[string]any
}

// Understanding is the outcome of a message. Where the outcome is accept, exactly one of
// Intents, Draft, Answer, Revision, Withdrawal and Reply is set.
type Understanding struct {
	Outcome contracts.ReadingOutcome
	// Intents are in the order in which they are to be done. When the outcome
	// is clarify they are those that are clear and the best reading of the one
	// that the question is about.
	Intents []contracts.Intent
	// Draft is a plan of several steps, instead of Intents; where the local reader makes one,
	// Intents are the same requests each by itself.
	Draft *contracts.Draft
	// More means that the results of the reads are needed to know what comes next.
	More bool
	// Answer answers an open question.
	Answer *Answer
	// Revision changes values of an open request.
	Revision *Revision
	// Withdrawal takes a request back.
	Withdrawal *Withdrawal
	// Reply is said, and nothing is done.
	Reply string

	// Choices are the candidates of a question, or suggestions of a decline.
	Choices []contracts.Alternative
	// Question is what to ask or to say; Options are what may be answered, where that
	// is no capability.
	Question string
	Options  []string
	// Unclear is the ID of the intent that the question is about; empty when it
	// is about none.
	Unclear string
	// Held are the writes of a further round that the requester confirms first: the
	// intent or step → the question.
	Held map[string]string
	// Calls are what a model was asked, and what that cost. ModelFault says why it
	// gave nothing, for people; the local reading stood then.
	Calls      []contracts.ModelCall
	ModelFault string
	// Unused are the parts of the message that were not understood, or that are
	// unclear besides the one in question; people should be told.
	Unused []string
}

// Answer is the value that a message gives to an open question.
type Answer struct {
	ID    string
	Value any
}

// Revision gives an open request other values: "make that three".
type Revision struct {
	ID         string
	Parameters map[string]any
}

// Withdrawal takes an open request back, or, with an empty ID, what was done last.
type Withdrawal struct {
	ID string
}
