package answer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// WhoIs says who is asking, as far as is known here.
func WhoIs(who access.Principal) string {
	roles := make([]string, len(who.Roles))
	for n, r := range who.Roles {
		roles[n] = string(r)
	}
	name := "You are **" + chat.Escape(who.Subject()) + "** here."
	if who.Shared() {
		name = "I do not know who you are: this connection (" + chat.Escape(who.Subject()) + ") speaks for everybody who uses it."
	}
	return name + " Your roles: " + chat.Escape(cmp.Or(strings.Join(roles, ", "), "none")) + "."
}

// Age says in words how long ago something was.
func Age(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(d / unit.of); {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}
