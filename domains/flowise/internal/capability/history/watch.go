package history

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// watched is the snapshot with the progress of Watch per server.
const watched = "watched"

// Watch polls all servers until ctx ends, and stores edits made in Flowise's UI as versions. A
// server that does not answer is retried at the next interval.
func Watch(ctx context.Context, s *site.Site, every time.Duration) {
	for {
		for _, in := range s.Pool.Instances() {
			if _, err := Sweep(ctx, s, in.ID); err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "a server was not looked at", slog.String("instance", in.ID), slog.String("error", flow.Hide(err.Error())))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Sweep stores the current state of all flows of a server that changed since the last sweep, and
// returns their number. Flowise lists the last changed first, so Sweep reads little if little has
// changed.
func Sweep(ctx context.Context, s *site.Site, instance string) (int, error) {
	client, err := s.Pool.Client(instance)
	if err != nil {
		return 0, site.Failure(err)
	}
	until, err := watermark(ctx, s, instance)
	if err != nil {
		return 0, err
	}
	kept, newest := 0, until
	for page := 1; ; page++ {
		got, err := client.ListFlows(ctx, api.FlowQuery{Page: page, Limit: pageSize})
		if err != nil {
			return kept, site.Failure(err)
		}
		old := false
		for _, f := range got.Flows {
			// Times have a resolution of 1 s, so changes in the same second are read again.
			if old = f.UpdatedDate.Before(until); old {
				break
			}
			is, err := keep(ctx, s, instance, f)
			if err != nil {
				return kept, err
			}
			if is {
				kept++
			}
			if f.UpdatedDate.After(newest) {
				newest = f.UpdatedDate
			}
		}
		if old || len(got.Flows) < pageSize {
			break
		}
	}
	if newest.After(until) {
		return kept, s.Data.PutSnapshot(ctx, instance, watched, []byte(newest.UTC().Format(time.RFC3339)))
	}
	return kept, nil
}

// pageSize is how many flows are read at once, with their graphs.
const pageSize = 50

// watermark returns the time of the last change that was read.
func watermark(ctx context.Context, s *site.Site, instance string) (time.Time, error) {
	raw, _, err := s.Data.Snapshot(ctx, instance, watched)
	if err != nil || raw == nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, string(raw))
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // what cannot be read is looked at from the beginning
	}
	return at, nil
}

// keep stores a version of a flow, unless its newest version is the same or a running write of this
// domain will store it.
func keep(ctx context.Context, s *site.Site, instance string, f api.Flow) (bool, error) {
	if strings.HasPrefix(f.Name, site.TrialPrefix) {
		return false, nil
	}
	last, total, err := s.Data.Versions(ctx, instance, f.ID, 1)
	if err != nil {
		return false, err
	}
	sha := site.HashOf(f.FlowData)
	v := store.Version{
		Instance: instance, ChatflowID: f.ID, Name: f.Name, Kind: string(f.Type), SHA256: sha, Reason: site.FirstSeen, CreatedAt: f.UpdatedDate.UTC(),
	}
	if total > 0 {
		v.Reason = site.EditedInFlowise
		if last[0].SHA256 == sha && last[0].Name == f.Name {
			return false, nil
		}
		ours, err := s.Data.Expected(ctx, instance, f.ID, sha)
		if err != nil || ours && last[0].Name == f.Name {
			return false, err
		}
	}
	if total > 0 && v.CreatedAt.Before(last[0].CreatedAt) {
		v.CreatedAt = last[0].CreatedAt // the server's times have a resolution of 1 s
	}
	_, err = s.Data.Record(ctx, v, f.FlowData)
	return err == nil, err
}
