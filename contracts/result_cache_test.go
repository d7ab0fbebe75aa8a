package contracts

import (
	"fmt"
	"testing"
)

// TestWhatIsUsedStaysAndTheRestIsLetGo checks that the cache is bounded and keeps the entries
// that are used again.
func TestWhatIsUsedStaysAndTheRestIsLetGo(t *testing.T) {
	t.Parallel()
	c := newResultCache[int](1000)
	text := func(n int) []byte { return fmt.Appendf(nil, "%0100d", n) }
	c.Put(text(0), 0)
	for n := 1; n <= 200; n++ {
		c.Put(text(n), n)
		if _, ok := c.Get(text(0)); !ok {
			t.Fatalf("what is used is gone after %d others", n)
		}
	}
	held := 0
	for n := range 201 { // the youngest last, because a hit keeps an entry
		if v, ok := c.Get(text(n)); ok {
			if held++; v != n {
				t.Errorf("%d is kept as %d", n, v)
			}
		}
	}
	if held < 10 || held > 20 {
		t.Errorf("%d texts of 100 bytes are held, and a generation has 1000", held)
	}
	if _, ok := c.Get(text(1)); ok {
		t.Error("what nobody asked for is held for ever")
	}
}

// TestATextOverTheBoundIsKeptAlone checks that an oversized text replaces the other entries and
// is evicted next.
func TestATextOverTheBoundIsKeptAlone(t *testing.T) {
	t.Parallel()
	c := newResultCache[string](10)
	c.Put([]byte("longer than ten bytes"), "long")
	if v, ok := c.Get([]byte("longer than ten bytes")); !ok || v != "long" {
		t.Error("it is not kept")
	}
	for n := range 30 {
		c.Put(fmt.Append(nil, n), "short")
	}
	if _, ok := c.Get([]byte("longer than ten bytes")); ok {
		t.Error("it is kept for ever")
	}
}
