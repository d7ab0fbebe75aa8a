package intent

import (
	"context"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
)

// Adapter asks the model's reader where there is one. When that gives no reading, the
// local one stands, and the understanding says so. It is safe for concurrent use.
type Adapter struct {
	local, model Reader
}

// NewAdapter makes an adapter; model is nil where there is none.
func NewAdapter(local, model Reader) *Adapter { return &Adapter{local: local, model: model} }

// HasModel reports whether a model reads messages.
func (a *Adapter) HasModel() bool { return a.model != nil }

// Understand reads a message. The error is about the request itself, or the local
// reader's.
func (a *Adapter) Understand(ctx context.Context, req Request) (Understanding, error) {
	if req.Catalog == nil {
		return Understanding{}, contracts.Errorf(contracts.CodeInvalid, "understand a message: there is no catalog")
	}
	if n := utf8.RuneCountInString(req.Message); n > contracts.MaxMessageChars {
		return Understanding{}, contracts.Errorf(contracts.CodeTooLarge, "the message has %d characters; at most %d can be read", n, contracts.MaxMessageChars)
	}
	if a.model == nil || req.Local {
		return a.local.Understand(ctx, req)
	}
	u, fault := a.model.Understand(ctx, req)
	if fault == nil {
		return u, nil
	}
	spent := u.Calls
	u, err := a.local.Understand(ctx, req)
	u.Calls, u.ModelFault = spent, fault.Error()
	return u, err
}
