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
	// Of is the changed object, To its new value.
	Of string `json:"of"`
	To any    `json:"to"`
	// Was is the previous value, if it can be restored.
	Was string `json:"was,omitempty"`
	At  string `json:"at"`
}

// Summary implements domainkit.Summarizer.
func (c Change) Summary() string { return fmt.Sprintf("%s: %v (%s)", c.Of, c.To, c.ID) }

// Book stores changes and settings. Invariant: each key has at most one change, and a setting has
// the value of its newest change. It is safe for concurrent use.
type Book struct {
	now func() time.Time

	mu       sync.Mutex // guards all below
	byKey    map[string]Change
	changes  []Change
	settings map[string]string
}

// NewBook returns a book with the settings of the world.
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

// Setting returns the current value of a setting.
func (b *Book) Setting(kind, id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settings[kind+"/"+id]
}

// Settings returns all settings of a kind, by id.
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

// Note records a change under its key, once: a retry gets the first change. It sets the change's
// id, time and previous value. set is the setting that the change is about, or "".
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

// Made returns the change with a key.
func (b *Book) Made(key string) (Change, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.byKey[key]
	return c, ok
}

// By returns the changes of a capability, oldest first.
func (b *Book) By(capability string) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.changes), func(c Change) bool { return c.Capability != capability })
}
