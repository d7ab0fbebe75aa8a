package render

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// The data of buttons: the kind, the id of the gate or question, and the hash of the action or the
// number of the option. Telegram allows 64 bytes.
const (
	Approve = "a"
	Reject  = "r"
	Option  = "o"
	maxData = 64
	// HashPart is the used length of an action's hash in hex digits: 128 bits.
	HashPart = 32
)

func buttonData(kind, id, rest string) string { return kind + ":" + id + ":" + rest }

func gateData(kind string, i contracts.Interrupt) string {
	return buttonData(kind, i.InterruptID, i.ActionSHA256[:min(HashPart, len(i.ActionSHA256))])
}

// Ended returns the message for a gate that is no longer open.
func Ended(i contracts.Interrupt) string {
	by := "somebody"
	if n := len(i.Decisions); n > 0 {
		by = i.Decisions[n-1].DecidedBy
	}
	switch i.Status {
	case contracts.InterruptSuperseded:
		return i.Code + " no longer counts: what it was about has changed, or was cancelled. /gates shows what waits now."
	case contracts.InterruptExpired:
		return i.Code + " has expired; ask for it again."
	default:
		return fmt.Sprintf("%s is %s, by %s.", i.Code, i.Status, by)
	}
}
