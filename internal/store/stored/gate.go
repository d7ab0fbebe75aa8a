package stored

import (
	"cmp"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Reader holds the columns of a gate that determine who may see it.
type Reader struct {
	// Roles are the roles that may decide, never nil.
	Roles         []string
	Domain, Class string
}

// ReaderOf returns the columns that determine who may see a gate.
func ReaderOf(i contracts.Interrupt) Reader {
	r := Reader{Roles: []string{}}
	if asked := access.AskedRoles(i); len(asked) > 0 {
		r.Roles = Texts(asked)
	}
	r.Domain = access.DomainOf(i)
	if i.Action != nil {
		r.Class = string(i.Action.Policy.SideEffectClass)
	}
	return r
}

// SettleInterrupt sets the optional fields of a new interrupt.
func SettleInterrupt(i *contracts.Interrupt, runID string, at time.Time) {
	i.RunID = cmp.Or(i.RunID, runID)
	i.Status = cmp.Or(i.Status, contracts.InterruptOpen)
	i.CreatedAt = OrTime(i.CreatedAt, at)
}

// Texts converts a slice of string types to strings. It never returns nil.
func Texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}
