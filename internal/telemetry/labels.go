package telemetry

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels caches the attribute sets of a metric by their values. There are few, and creating one
// costs more than recording a measurement.
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

// callLabels are the labels of a domain call, runLabels those of a finished run, requestLabels
// those of an outgoing request.
type callLabels struct{ domain, class, reply string }

type runLabels struct{ state, verdict string }

type requestLabels struct {
	method, host string
	status       int // 0 for none
	fault        string
}
