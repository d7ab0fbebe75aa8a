package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.40.0/genaiconv"
	"go.opentelemetry.io/otel/semconv/v1.40.0/httpconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// instruments are the metrics besides those of requests. All label values are bounded: states and
// kinds by the code, domains by the registrations, models by the configuration.
type instruments struct {
	runs, waits metric.Float64Histogram
	calls       metric.Float64Histogram
	gates       metric.Int64Counter
	rejections  metric.Int64Counter
	unfollowed  metric.Int64Counter
	requests    httpconv.ClientRequestDuration
	asked       genaiconv.ClientOperationDuration
	tokens      genaiconv.ClientTokenUsage

	byCall    *labels[callLabels]
	byRun     *labels[runLabels]
	byRequest *labels[requestLabels]
}

// seconds returns bucket bounds for durations from milliseconds to minutes. slow returns those
// for durations that may include people.
func seconds() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60)
}

func slow() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(.1, .5, 1, 5, 15, 60, 300, 900, 3600, 4*3600, 24*3600, 7*24*3600)
}

func newInstruments(m metric.Meter) (instruments, error) {
	s := instruments{
		byCall: labelsOf(func(l callLabels) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("manifold.domain", l.domain), attribute.String("manifold.side_effect", l.class), attribute.String("manifold.reply", l.reply)}
		}),
		byRun: labelsOf(func(l runLabels) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("manifold.run.state", l.state), attribute.String("manifold.run.verdict", l.verdict)}
		}),
		byRequest: labelsOf(requestLabels.attributes),
	}
	errs := make([]error, 9)
	s.runs, errs[0] = m.Float64Histogram("manifold.run.machine.duration", metric.WithUnit("s"), metric.WithDescription("What machines took of runs that have ended, without the time in which people alone were waited for."), slow())
	s.waits, errs[1] = m.Float64Histogram("manifold.run.human.duration", metric.WithUnit("s"), metric.WithDescription("For how long runs that have ended waited for people alone."), slow())
	s.calls, errs[2] = m.Float64Histogram("manifold.domain.call.duration", metric.WithUnit("s"), metric.WithDescription("Calls of domains, with what came of each."), seconds())
	s.gates, errs[3] = m.Int64Counter("manifold.gates.opened", metric.WithUnit("{gate}"), metric.WithDescription("Questions that runs have put to people."))
	s.rejections, errs[4] = m.Int64Counter("manifold.verifier.rejections", metric.WithUnit("{rejection}"), metric.WithDescription("Results that a check did not let pass as verified."))
	s.unfollowed, errs[5] = m.Int64Counter("manifold.telemetry.runs.dropped", metric.WithUnit("{run}"), metric.WithDescription("Runs that ended and were not told of, because too many ended at once."))
	s.asked, errs[6] = genaiconv.NewClientOperationDuration(m, metric.WithExplicitBucketBoundaries(.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	s.tokens, errs[7] = genaiconv.NewClientTokenUsage(m, metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576))
	s.requests, errs[8] = httpconv.NewClientRequestDuration(m, seconds())
	return s, errors.Join(errs...)
}

// Sources are queried when metrics are collected.
type Sources struct {
	// Counts returns the number of runs by state.
	Counts func(context.Context) (contracts.RunCounts, error)
	// Stats returns the statistics of the newest runs.
	Stats func(context.Context) (metrics.Stats, error)
	// Domains returns the registered domains.
	Domains func() []contracts.DomainView
}

// How long query results are cached: counts are one query, but statistics load whole runs with
// their ledgers.
const (
	countsEvery = 30 * time.Second
	statsEvery  = 5 * time.Minute
)

// look caches the last results of the sources.
type look struct {
	from Sources
	now  func() time.Time

	mu     sync.Mutex // guards the fields below
	counts told[contracts.RunCounts]
	stats  told[metrics.Stats]
}

// told is a cached result with the time of its query.
type told[T any] struct {
	at   time.Time
	what T
}

func (t *told[T]) read(ctx context.Context, now time.Time, every time.Duration, look func(context.Context) (T, error)) (T, error) {
	if t.at.IsZero() || now.Sub(t.at) >= every {
		what, err := look(ctx)
		if err != nil {
			return t.what, err // retried at the next collection
		}
		t.at, t.what = now, what
	}
	return t.what, nil
}

func (l *look) read(ctx context.Context) (contracts.RunCounts, metrics.Stats, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts, err := l.counts.read(ctx, l.now(), countsEvery, l.from.Counts)
	stats, statsErr := l.stats.read(ctx, l.now(), statsEvery, l.from.Stats)
	return counts, stats, errors.Join(err, statsErr)
}

// Watch registers the sources for the collection of metrics and starts reporting finished runs.
// It must be called once, before anything runs.
func (t *Telemetry) Watch(from Sources, now func() time.Time) (err error) {
	if t == nil {
		return nil
	}
	t.watch.Do(func() {
		t.runs.begin(now)
		err = t.observe(&look{from: from, now: now})
	})
	return err
}

func (t *Telemetry) observe(l *look) error {
	runs, err := t.meter.Int64ObservableGauge("manifold.runs", metric.WithUnit("{run}"), metric.WithDescription("Runs by state, at most the newest 10,000."))
	if err != nil {
		return err
	}
	safety, err := t.meter.Int64ObservableGauge("manifold.safety.violations", metric.WithUnit("{violation}"), metric.WithDescription("What must never happen, among the newest runs: each counter is 0, or something is broken."))
	if err != nil {
		return err
	}
	up, err := t.meter.Int64ObservableGauge("manifold.domain.up", metric.WithDescription("Whether a domain answers as healthy."))
	if err != nil {
		return err
	}
	_, err = t.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		for _, d := range l.from.Domains() {
			o.ObserveInt64(up, oneIf(d.Health == contracts.HealthOK), metric.WithAttributes(attribute.String("manifold.domain", d.Domain)))
		}
		counts, stats, err := l.read(ctx)
		if err != nil {
			return err
		}
		for _, state := range runStates() {
			o.ObserveInt64(runs, int64(counts.States[state]), metric.WithAttributes(attribute.String("manifold.run.state", string(state))))
		}
		for name, n := range map[string]int{
			"approvals_bypassed": stats.Safety.ApprovalsBypassed, "write_collisions": stats.Safety.WriteCollisions,
			"failed_resumes": stats.Safety.FailedResumes, "audit_holes": stats.Safety.AuditHoles,
		} {
			o.ObserveInt64(safety, int64(n), metric.WithAttributes(attribute.String("manifold.safety.counter", name)))
		}
		return nil
	}, runs, safety, up)
	return err
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// runStates returns all states, so that the metric is 0 for states without runs.
func runStates() []contracts.RunState {
	return []contracts.RunState{
		contracts.RunRunning, contracts.RunWaiting, contracts.RunCancelling, contracts.RunFailed, contracts.RunRejected,
		contracts.RunCancelled, contracts.RunDegraded, contracts.RunCompleted,
	}
}
