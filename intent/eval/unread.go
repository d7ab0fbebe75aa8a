package eval

import (
	"cmp"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// mostUnread bounds what a report lists.
const mostUnread = 100

// Unread is a part of messages of which nothing is done, though it may matter: an
// author reads there which values, frames and words are missing.
type Unread struct {
	Text  string              `json:"text"`
	Class contracts.WordClass `json:"class"`
	Times int                 `json:"times"`
	// Say is the first of the messages, Capability what it was read as.
	Say        string `json:"say"`
	Capability string `json:"capability"`
}

// leaving is an outcome with what the reading of its message leaves over.
func (o outcome) leaving(u intent.Understanding, catalog *contracts.Catalog) outcome {
	for _, in := range u.Intents {
		if in.Utterance == nil {
			continue
		}
		for _, class := range []contracts.WordClass{contracts.WordUnresolved, contracts.WordUnused} {
			for _, text := range in.Utterance.Texts(class) {
				o.unread = append(o.unread, Unread{Text: text, Class: class, Times: 1, Say: o.c.Text, Capability: in.Ref()})
			}
		}
		if entry, ok := catalog.Capability(in.Ref()); ok && entry.Policy.SideEffectClass.Writes() && u.Outcome == contracts.ReadingAccepted {
			o.writes++
			if in.Utterance.HasOmissions() {
				o.marked++
			}
		}
	}
	return o
}

// unread is what is left over in all messages of a draw, most often first.
func (r *running) unread() []Unread {
	type part struct {
		text  string
		class contracts.WordClass
	}
	at := map[part]int{}
	var out []Unread
	for _, o := range r.outcomes {
		for _, u := range o.unread {
			k, known := at[part{u.Text, u.Class}]
			if !known {
				at[part{u.Text, u.Class}] = len(out)
				out = append(out, u)
				continue
			}
			out[k].Times++
		}
	}
	slices.SortStableFunc(out, func(a, b Unread) int { return cmp.Compare(b.Times, a.Times) })
	return out[:min(len(out), mostUnread)]
}

// marks tells at how many gates of writes something is marked as not used: approvers
// who see that often stop reading.
func (f *figures) marks(outcomes []outcome) {
	writes, marked := 0, 0
	for _, o := range outcomes {
		writes, marked = writes+o.writes, marked+o.marked
	}
	f.share("writes_marked", marked, writes)
}
