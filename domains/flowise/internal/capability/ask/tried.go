package ask

import "sync"

// tried remembers the result of tests, by what was tested: the same graph with the
// same tests is not asked again for each look at a proposal.
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
