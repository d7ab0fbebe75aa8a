package ask

import "sync"

// tried caches test results by graph and tests, so that repeated proposals do not ask the flow
// again.
type tried struct {
	mu    sync.Mutex
	said  map[string]string
	order []string
}

func (t *tried) get(key string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	said, known := t.said[key]
	return said, known
}

func (t *tried) put(key, said string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said == nil {
		t.said = map[string]string{}
	}
	if _, known := t.said[key]; !known {
		t.order = append(t.order, key)
	}
	t.said[key] = said
	for len(t.order) > trialsKept {
		delete(t.said, t.order[0])
		t.order = t.order[1:]
	}
}
