package telegram

import (
	"context"
	"encoding/json"

	"github.com/manifold-run/manifold/orchestrator"
)

// noted is what the bot keeps of an update that is under way, for the next start.
type noted struct {
	// Tries is how often it was begun and came to nothing.
	Tries int `json:"tries,omitempty"`
	// Month is that of the conversation that it belongs to, if it is not its own.
	Month string `json:"month,omitempty"`
	// Live is the message that shows progress, Gates the one that has buttons, and
	// Shown what that one shows.
	Live  int    `json:"live,omitempty"`
	Gates int    `json:"gates,omitempty"`
	Shown string `json:"shown,omitempty"`
}

// jobOf takes up an item with what was noted of it.
func jobOf(r orchestrator.Received) job {
	j := job{received: r}
	if r.Reply != "" && json.Unmarshal([]byte(r.Reply), &j.noted) != nil {
		j.noted = noted{} // it is shown anew
	}
	return j
}

// note keeps what is noted of a job, also while the bot is being stopped.
func (b *Bot) note(ctx context.Context, j job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	body, err := json.Marshal(j.noted)
	if err == nil {
		err = b.inbox.NoteReply(ctx, b.channel, j.received.ID, string(body))
	}
	if err != nil {
		b.cfg.Logger.WarnContext(ctx, "telegram cannot note how far an update is", errAttr(err))
	}
}
