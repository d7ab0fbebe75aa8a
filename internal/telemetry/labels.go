package telemetry

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels keeps the attribute sets of a metric by the values that they are made of. There
// are few, and to make one costs more than to measure with it.
type labels[K comparable] struct {
	of func(K) []attribute.KeyValue

	mu   sync.RWMutex // guards made
	made map[K][]metric.RecordOption
}

func labelsOf[K comparable](of func(K) []attribute.KeyValue) *labels[K] {
	return &labels[K]{of: of, made: map[K][]metric.RecordOption{}}
}

func (l *labels[K]) at(values K) []metric.RecordOption {
	l.mu.RLock()
	out, ok := l.made[values]
	l.mu.RUnlock()
	if ok {
		return out
	}
	out = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(l.of(values)...))}
	l.mu.Lock()
	l.made[values] = out
	l.mu.Unlock()
	return out
}

// callLabels are those of a call of a domain, runLabels of a run that has ended, and
// requestLabels of a request that is made.
type callLabels struct{ domain, class, reply string }

type runLabels struct{ state, verdict string }

type requestLabels struct {
	method, host string
	status       int // 0 for none
	fault        string
}
