//go:build faultpoint

package sqlite

import (
	"fmt"
	"os"
	"syscall"
)

// faultPoint is where a store commits. The file that MANIFOLD_FAULTPOINT names holds "before 17" or "after 17":
// the process kills itself on that side of its 17th commit since the file is there,
// and takes the file away first, so that it dies once. With "count 0" it lives. How
// many commits there were is the size of the file beside it, named .count.
type faultPoint struct {
	order   string
	commits int
}

// Committing is right before a commit.
func (f *faultPoint) Committing() { f.reached("before", 1) }

// Committed is right after one, before anybody learns of it.
func (f *faultPoint) Committed() { f.reached("after", 0) }

func (f *faultPoint) reached(side string, more int) {
	name := os.Getenv("MANIFOLD_FAULTPOINT")
	order, err := os.ReadFile(name)
	if err != nil {
		return
	}
	if string(order) != f.order {
		f.order, f.commits = string(order), 0
	}
	f.commits += more
	if more > 0 {
		if file, err := os.OpenFile(name+".count", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = file.WriteString(".")
			_ = file.Close()
		}
	}
	if f.order == fmt.Sprint(side, " ", f.commits) {
		_ = os.Remove(name)
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	}
}
