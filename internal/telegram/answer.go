package telegram

import (
	"context"
	"log/slog"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/telegram/render"
)

func errAttr(err error) slog.Attr { return slog.Any("error", err) }

// answers finishes updates: with a complete answer, or with an error. An update is finished once its
// answer was sent or can never be sent; until then, the next start resumes it.
type answers struct {
	out    *sender
	box    *box
	logger *slog.Logger
}

// reply sends a complete answer and finishes its update. It reports whether all of it was sent.
func (a *answers) reply(ctx context.Context, j job, at place, parts []render.Part) bool {
	_, err := a.out.deliver(ctx, at, j.noted.Live, parts)
	if err != nil && ctx.Err() != nil {
		j.noted.Tries = 0 // stopped, which is not a failed try
		a.box.note(ctx, j)
		return false
	}
	a.box.finish(ctx, j.received.ID)
	return err == nil
}

// failed returns the message for an error; internal errors are only logged.
func (a *answers) failed(ctx context.Context, j job, err error) []render.Part {
	code := contracts.CodeOf(err)
	if code == contracts.CodeInternal || code == "" {
		a.logger.ErrorContext(ctx, "telegram update failed", slog.String("update_id", j.received.ID), errAttr(err))
		return render.Plain("Something went wrong here; the log has it under update " + j.received.ID + ".")
	}
	return render.Plain(err.Error())
}
