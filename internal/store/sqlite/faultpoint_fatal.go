//go:build faultpoint

package sqlite

import (
	"fmt"
	"os"
	"syscall"
)

// faultPoint kills the process at a commit, for tests. The file named by MANIFOLD_FAULTPOINT
// contains "before 17" or "after 17": the process kills itself before or after its 17th commit
// since the file appeared. It first removes the file, so that this happens once. With "count 0"
// the process is not killed. The size of the file with suffix .count is the number of commits.
type faultPoint struct {
	order   string
	commits int
}

// Committing is called right before a commit.
func (f *faultPoint) Committing() { f.reached("before", 1) }

// Committed is called right after a commit, before it is reported to anyone.
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
