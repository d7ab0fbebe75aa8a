package telegram

import (
	"context"
	"log/slog"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/telegram/render"
)

func errAttr(err error) slog.Attr { return slog.Any("error", err) }

// answers ends updates: with the whole of an answer, or with what went wrong. An
// update is finished once its answer was sent or can never be; until then the
// next start takes it up.
type answers struct {
	out    *sender
	box    *box
	logger *slog.Logger
}

// reply sends the whole of an answer and finishes the update that asked for it. It
// reports whether all of it arrived.
func (a *answers) reply(ctx context.Context, j job, at place, parts []render.Part) bool {
	_, err := a.out.deliver(ctx, at, j.noted.Live, parts)
	if err != nil && ctx.Err() != nil {
		j.noted.Tries = 0 // it was stopped, and has not failed
		a.box.note(ctx, j)
		return false
	}
	a.box.finish(ctx, j.received.ID)
	return err == nil
}

// failed reports what went wrong; what is ours to mend stays in the log.
func (a *answers) failed(ctx context.Context, j job, err error) []render.Part {
	code := contracts.CodeOf(err)
	if code == contracts.CodeInternal || code == "" {
		a.logger.ErrorContext(ctx, "telegram update failed", slog.String("update_id", j.received.ID), errAttr(err))
		return render.Plain("Something went wrong here; the log has it under update " + j.received.ID + ".")
	}
	return render.Plain(err.Error())
}
