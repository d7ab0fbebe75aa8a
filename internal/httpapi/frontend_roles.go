package httpapi

import (
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/orchestrator/access"
)

// lastRoles keeps what frontends said last of their users' roles. A link goes
// round the frontend, so this is what is known of them when it is used. It is
// kept in memory, and as long as a link may count: after a restart, a link has
// the roles of its making until the frontend names the person again.
type lastRoles struct {
	ttl time.Duration
	now func() time.Time

	mu     sync.Mutex // guards the fields below
	people map[personOfKey]rolesAt
	swept  time.Time
}

type personOfKey struct{ keyID, person string }

type rolesAt struct {
	roles []access.Role
	at    time.Time
}

// newLastRoles keeps them for ttl.
func newLastRoles(ttl time.Duration, now func() time.Time) *lastRoles {
	return &lastRoles{ttl: ttl, now: now, people: map[personOfKey]rolesAt{}}
}

// Note keeps the roles of a person whom a frontend speaks for.
func (l *lastRoles) Note(who access.Principal) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > l.ttl {
		l.swept = now
		for who, told := range l.people {
			if now.Sub(told.at) > l.ttl {
				delete(l.people, who)
			}
		}
	}
	l.people[personOfKey{who.KeyID, who.Forwarded}] = rolesAt{slices.Clone(who.Roles), now}
}

// Narrow leaves of somebody's roles those that the frontend named last.
func (l *lastRoles) Narrow(who access.Principal) access.Principal {
	l.mu.Lock()
	told, known := l.people[personOfKey{who.KeyID, who.Forwarded}]
	l.mu.Unlock()
	if known {
		who.Roles = slices.DeleteFunc(slices.Clone(who.Roles), func(r access.Role) bool { return !slices.Contains(told.roles, r) })
	}
	return who
}
