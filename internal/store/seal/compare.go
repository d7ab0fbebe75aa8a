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

// Source gives access to the rows and seals of a database in one snapshot. Ids are in byte order.
type Source interface {
	// Seals returns up to limit seals after a scope, in order.
	Seals(ctx context.Context, after string, limit int) ([]Sealed, error)
	// Rows visits the rows of a table whose column key is within a span; key "" visits all rows.
	// visit gets the scope of a row and its values to hash, which are valid only until the next
	// row.
	Rows(ctx context.Context, table Table, key string, span Span, visit func(scope string, values []any)) error
}

// Span is the range of keys after After up to and including UpTo. nil means unlimited.
type Span struct{ After, UpTo *string }

const (
	// pageOfSeals is the number of scopes compared at a time. It limits the memory.
	pageOfSeals = 1000
	// mostUnsealed is the maximum number of scopes per page, including those without a seal.
	mostUnsealed = 10 * pageOfSeals
)

// Compare calls differs for each scope whose rows do not match its seal, and returns the number
// of seals. It keeps the sums of one page of scopes in memory. Of scopes that have rows but no
// seal, it therefore reports at most about ten thousand per page.
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

// SealAll computes the seals of all rows as they are. Versions of existing seals are incremented,
// because the log has recorded the old ones.
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

// pages sums the rows of all scopes, one page of seals at a time.
func (s *Sealer) pages(ctx context.Context, from Source, most int, visit func([]Sealed, map[string]Sum) error) error {
	var after string
	done := map[string]*string{} // by kind of scope, the last key that was summed
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

// sumPage adds the rows of one kind of scope up to its last seal on a page, or all remaining rows
// on the last page.
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

// lastOf returns the key of the last seal of a kind on a page, nil if there is none.
func lastOf(page []Sealed, kind string) (last *string) {
	for _, seal := range page {
		if key, ok := strings.CutPrefix(seal.Scope, kind); ok && (kind != GlobalScope || key == "") {
			last = &key
		}
	}
	return last
}

// sumUp adds the rows of one kind of scope within a span.
func (s *Sealer) sumUp(ctx context.Context, from Source, kind string, span Span, most int, sums map[string]Sum) error {
	for _, t := range Tables() {
		key, ok := t.Key(kind)
		if !ok {
			continue
		}
		err := from.Rows(ctx, t, key, span, func(scope string, values []any) {
			if !strings.HasPrefix(scope, kind) {
				return // a gate of a run, which is summed by its run
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
