package world

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// The states of a source.
const (
	Up          = "up"
	Maintenance = "maintenance"
)

// Change is one write that took effect.
type Change struct {
	ID         string `json:"id"`
	Capability string `json:"capability"`
	// Of is what was changed, To is what it became.
	Of string `json:"of"`
	To any    `json:"to"`
	// Was is what it was before, where that can be set again.
	Was string `json:"was,omitempty"`
	At  string `json:"at"`
}

// Summary words the change.
func (c Change) Summary() string { return fmt.Sprintf("%s: %v (%s)", c.Of, c.To, c.ID) }

// Book keeps changes and settings. Invariant: each key has at most one change, and
// a setting is what the newest change of it says.
type Book struct {
	now func() time.Time

	mu       sync.Mutex // guards all below
	byKey    map[string]Change
	changes  []Change
	settings map[string]string
}

// NewBook opens a book in which everything is set as the world has it.
func NewBook(w *World, now func() time.Time) *Book {
	b := &Book{now: now, byKey: map[string]Change{}, settings: map[string]string{}}
	for _, s := range Sources() {
		b.settings["source/"+s] = Up
	}
	for i := range w.Campaigns {
		b.settings["budget/"+w.Campaigns[i].ID] = fmt.Sprint(w.Campaigns[i].DailyBudget)
	}
	for i := range w.Candidates {
		b.settings["stage/"+w.Candidates[i].ID] = w.Candidates[i].Stage
	}
	return b
}

// Setting returns the value of a setting now.
func (b *Book) Setting(kind, id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settings[kind+"/"+id]
}

// Settings returns all of a kind, by id.
func (b *Book) Settings(kind string) map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]string{}
	for k, v := range b.settings {
		if id, ok := strings.CutPrefix(k, kind+"/"); ok {
			out[id] = v
		}
	}
	return out
}

// Note writes a change under its key, once: a repeat gets the first. It returns the
// change its id, its time and what was before; set names the setting that it is,
// if it is one.
func (b *Book) Note(key string, c Change, set string) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if done, ok := b.byKey[key]; ok {
		return done
	}
	c.ID, c.Was, c.At = fmt.Sprintf("ch-%04d", len(b.changes)+1), b.settings[set], b.now().UTC().Format(time.RFC3339)
	b.byKey[key] = c
	b.changes = append(b.changes, c)
	if set != "" {
		b.settings[set] = fmt.Sprint(c.To)
	}
	return c
}

// Made returns the change of a key.
func (b *Book) Made(key string) (Change, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.byKey[key]
	return c, ok
}

// By returns the changes of a capability, the oldest first.
func (b *Book) By(capability string) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.changes), func(c Change) bool { return c.Capability != capability })
}
