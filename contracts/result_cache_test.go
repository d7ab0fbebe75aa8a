package contracts

import (
	"fmt"
	"testing"
)

// TestWhatIsUsedStaysAndTheRestIsLetGo: however many texts come, few are held, and
// those that are asked for again are among them.
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
	for n := range 201 { // the youngest last, since a look keeps them
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

// TestATextOverTheBoundIsKeptAlone: it takes the place of what was there, and goes next.
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
