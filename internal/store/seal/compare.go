package seal

import (
	"context"
	"fmt"
	"strings"
)

// Sealed is a stored seal.
type Sealed struct {
	Scope   string
	Version int64
	Sum     []byte
}

// Source is what a database gives to whoever compares it, in one state. Ids are
// in the order of their bytes.
type Source interface {
	// Seals are those after a scope, in order.
	Seals(ctx context.Context, after string, limit int) ([]Sealed, error)
	// Rows visits the rows of a table whose key, the name of a column, lies in a
	// span; "" stands for all rows: what each belongs to, and what is hashed of it,
	// which is the source's own until the next row.
	Rows(ctx context.Context, table Table, key string, span Span, visit func(scope string, values []any)) error
}

// Span is what lies after one key and up to another; nil is no bound.
type Span struct{ After, UpTo *string }

const (
	// pageOfSeals is how many scopes are compared at a time: it bounds the memory.
	pageOfSeals = 1000
	// mostUnsealed bounds the scopes without a seal that are told of one page.
	mostUnsealed = 10 * pageOfSeals
)

// Compare tells of each scope whose rows are not those that were sealed, and how
// many seals there are. It keeps sums for a page of scopes at a time; of more
// than ten thousand scopes between two pages that have rows and no seal it tells
// of so many only.
func (s *Sealer) Compare(ctx context.Context, from Source, differs func(scope string)) (seals int, err error) {
	err = s.pages(ctx, from, mostUnsealed, func(page []Sealed, sums map[string]Sum) error {
		seals += len(page)
		for _, seal := range page {
			if !s.Fits(seal, sums[seal.Scope]) {
				differs(seal.Scope)
			}
			delete(sums, seal.Scope)
		}
		for scope, sum := range sums {
			if sum != (Sum{}) {
				differs(scope)
			}
		}
		return nil
	})
	return seals, err
}

// SealAll makes the seals of all rows as they stand. The versions of those that
// are there go on, because the log has leaves of them.
func (s *Sealer) SealAll(ctx context.Context, from Source, store func(Sealed) error) error {
	return s.pages(ctx, from, 0, func(page []Sealed, sums map[string]Sum) error {
		for _, old := range page {
			if err := store(s.Seal(old.Scope, old.Version+1, sums[old.Scope])); err != nil {
				return err
			}
			delete(sums, old.Scope)
		}
		for scope, sum := range sums {
			if err := store(s.Seal(scope, 1, sum)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pages sums up the rows of all scopes, for a page of seals at a time.
func (s *Sealer) pages(ctx context.Context, from Source, most int, visit func([]Sealed, map[string]Sum) error) error {
	var after string
	done := map[string]*string{} // of each kind of scope, up to which key
	for ended := false; !ended; {
		page, err := from.Seals(ctx, after, pageOfSeals)
		if err != nil {
			return err
		}
		ended = len(page) < pageOfSeals
		sums := make(map[string]Sum, len(page))
		for _, seal := range page {
			sums[seal.Scope], after = Sum{}, seal.Scope
		}
		for _, kind := range []string{GlobalScope, RunScope, SessionScope} {
			if err := s.sumPage(ctx, from, kind, lastOf(page, kind), ended, done, most, sums); err != nil {
				return err
			}
		}
		if err := visit(page, sums); err != nil {
			return err
		}
	}
	return nil
}

// sumPage adds the rows of one kind of scope up to the last seal of it on a page,
// and all that are left when the seals have ended.
func (s *Sealer) sumPage(ctx context.Context, from Source, kind string, last *string, ended bool, done map[string]*string, most int, sums map[string]Sum) error {
	span := Span{After: done[kind], UpTo: last}
	if ended {
		span.UpTo = nil
	}
	if last == nil && !ended || kind == GlobalScope && done[GlobalScope] != nil {
		return nil
	}
	done[kind] = last
	return s.sumUp(ctx, from, kind, span, most, sums)
}

// lastOf is the key of the last seal of a kind on a page.
func lastOf(page []Sealed, kind string) (last *string) {
	for _, seal := range page {
		if key, ok := strings.CutPrefix(seal.Scope, kind); ok && (kind != GlobalScope || key == "") {
			last = &key
		}
	}
	return last
}

// sumUp adds the rows of one kind of scope.
func (s *Sealer) sumUp(ctx context.Context, from Source, kind string, span Span, most int, sums map[string]Sum) error {
	for _, t := range Tables() {
		key, ok := t.Key(kind)
		if !ok {
			continue
		}
		err := from.Rows(ctx, t, key, span, func(scope string, values []any) {
			if !strings.HasPrefix(scope, kind) {
				return // a gate of a run, found by its session
			}
			if _, known := sums[scope]; known || most == 0 || len(sums) < most {
				sums[scope] = sums[scope].Plus(s.Of(t.Name, scope, values))
			}
		})
		if err != nil {
			return fmt.Errorf("read the table %s: %w", t.Name, err)
		}
	}
	return nil
}
