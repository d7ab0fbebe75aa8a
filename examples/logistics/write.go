package logistics

import (
	"context"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// write adds a write. The outcome of an interrupted one is looked up in the book.
func write[In any](svc *domainkit.Service, d *domain, name string, fn func(call domainkit.Call, in In) (world.Change, error)) error {
	resolve := domainkit.LookUp(func(_ context.Context, call domainkit.Call, _ In) (*bool, any, error) {
		c, made := d.book.Made(call.IdempotencyKey)
		return &made, c, nil
	})
	return domainkit.Add(svc, domainkit.Capability{Name: name, Resolve: resolve}, func(_ context.Context, call domainkit.Call, in In) (world.Change, error) {
		return fn(call, in)
	})
}

// note records a change.
func (d *domain) note(call domainkit.Call, of string, to any, set string) world.Change {
	return d.book.Note(call.IdempotencyKey, world.Change{Capability: call.Capability, Of: of, To: to}, set)
}

// byKey are the parameters of a look-up by idempotency key.
type byKey struct {
	Key string `json:"key" description:"The idempotency key of the request." min:"1" max:"200"`
}

// fate is the outcome of a request.
type fate struct {
	Found   bool          `json:"found"`
	Applied bool          `json:"applied"`
	Change  *world.Change `json:"change,omitempty"`
}

// findChange reports whether a request took effect.
func (d *domain) findChange(_ domainkit.Call, in byKey) (fate, error) {
	c, ok := d.book.Made(in.Key)
	if !ok {
		return fate{}, nil
	}
	return fate{true, true, &c}, nil
}
