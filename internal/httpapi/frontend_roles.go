package httpapi

import (
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/orchestrator/access"
)

// lastRoles caches the roles that frontends reported last for their users. An approval link bypasses
// the frontend, so this is the latest information when it is used. It is held in memory, as
// long as a link may be valid: after a restart, a link has the roles of its creation until the
// frontend reports the person again.
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

// newLastRoles returns a cache whose entries expire after ttl.
func newLastRoles(ttl time.Duration, now func() time.Time) *lastRoles {
	return &lastRoles{ttl: ttl, now: now, people: map[personOfKey]rolesAt{}}
}

// Note stores the roles of a person that a frontend speaks for.
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

// Narrow limits a person's roles to those that the frontend reported last.
func (l *lastRoles) Narrow(who access.Principal) access.Principal {
	l.mu.Lock()
	told, known := l.people[personOfKey{who.KeyID, who.Forwarded}]
	l.mu.Unlock()
	if known {
		who.Roles = slices.DeleteFunc(slices.Clone(who.Roles), func(r access.Role) bool { return !slices.Contains(told.roles, r) })
	}
	return who
}
