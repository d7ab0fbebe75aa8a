// Command compare measures two states of this repository: the benchmarks of an older commit and
// those of the working tree, in turn, so that other load of the machine affects both alike.
//
//	go run ./bench/compare -base 5ac7812
//
// It prints the medians with their middle halves and exits with 1 if something got slower beyond
// its spread, or allocates more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// options has what is compared, and how long.
type options struct {
	base, bench, time string
	packages          []string
	rounds            int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	worse, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	case worse:
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) (worse bool, err error) {
	o, err := parse(args, progress)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "base")
	if _, err := command(ctx, ".", "git", "worktree", "add", "--detach", tree, o.base); err != nil {
		return false, err
	}
	defer func() {
		_, cleaning := command(context.WithoutCancel(ctx), ".", "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, cleaning)
	}()
	var all []comparison
	for _, pkg := range o.packages {
		base, now := newSeries(), newSeries()
		binaries := [2]string{filepath.Join(dir, "base.test"), filepath.Join(dir, "now.test")}
		for i, root := range []string{tree, "."} {
			if _, err := command(ctx, root, "go", "test", "-trimpath", "-c", "-o", binaries[i], pkg); err != nil {
				return false, err
			}
		}
		for round := range o.rounds {
			fmt.Fprintf(progress, "%s, round %d of %d\n", pkg, round+1, o.rounds)
			for _, i := range [2]int{round % 2, 1 - round%2} { // each is first equally often
				text, err := command(ctx, filepath.Join([]string{tree, "."}[i], pkg), binaries[i],
					"-test.run", "^$", "-test.bench", o.bench, "-test.benchtime", o.time, "-test.benchmem", "-test.timeout", "30m")
				if err != nil {
					return false, err
				}
				[]series{base, now}[i].add(text)
			}
		}
		all = append(all, compare(pkg, base, now)...)
	}
	return report(out, o, all)
}

func parse(args []string, usage io.Writer) (options, error) {
	o := options{}
	var packages string
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.base, "base", "", "the commit to compare with")
	flags.StringVar(&o.bench, "bench", "Run/.*/.*/manifold$|Chain|API|Compile|Commit|Read", "which benchmarks, as in go test -bench")
	flags.StringVar(&o.time, "benchtime", "1s", "how long each takes in a round, as in go test -benchtime")
	flags.StringVar(&packages, "packages", "./bench,./planner,./internal/store/sqlite", "the packages that have them, with commas")
	flags.IntVar(&o.rounds, "rounds", 7, "rounds of both, at least 5")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.packages = strings.Split(packages, ",")
	switch {
	case o.base == "" || flags.NArg() > 0:
		return o, errors.New("say what to compare with: go run ./bench/compare -base COMMIT")
	case o.rounds < 5:
		return o, fmt.Errorf("%d rounds say little; at least 5 are needed", o.rounds)
	}
	return o, nil
}

// command runs a program in a folder and returns its output.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // programs that this one has built, git and go
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
