package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestTheReadmeIsPlayed runs the commands of the README against the demo, and finds each line of output
// that it shows. Ids, codes, times and ports may differ; its Monday is moved to a future one.
func TestTheReadmeIsPlayed(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo and builds the command line")
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &readmePlay{t: t, days: movedDays(t, string(raw), time.Now())}
	p.stage, _, _ = start(t)
	p.manifold = filepath.Join(t.TempDir(), "manifold")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.manifold, "../manifold").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	played := 0
	for _, block := range regexp.MustCompile("(?ms)^```\\n(\\$ .*?)^```").FindAllStringSubmatch(string(raw), -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, shown, _ := strings.Cut(step, "\n")
			p.step(command, shown)
			played++
		}
	}
	if played < 10 {
		t.Errorf("%d commands were found in the README", played)
	}
}

// readmePlay is the shell of a reader of the README.
type readmePlay struct {
	t        *testing.T
	stage    stage
	manifold string
	days     *strings.Replacer
	codes    []string // of the open gate: in the README, and actual
	port     string
}

// movedDays maps the README's Monday and the day after to the next Monday that the demo's guide would
// print, in the three formats of the README.
func movedDays(t *testing.T, readme string, now time.Time) *strings.Replacer {
	t.Helper()
	first := regexp.MustCompile(`from (\d{4}-\d\d-\d\d)`).FindStringSubmatch(readme)
	if first == nil {
		t.Fatal("the README asks for no days")
	}
	from, err := time.Parse(time.DateOnly, first[1])
	if err != nil {
		t.Fatal(err)
	}
	to, err := time.Parse(time.DateOnly, monday(now))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for day := range 2 {
		for _, layout := range []string{time.DateOnly, "Mon 2 Jan 2006", "January 2"} {
			pairs = append(pairs, from.AddDate(0, 0, day).Format(layout), to.AddDate(0, 0, day).Format(layout))
		}
	}
	return strings.NewReplacer(pairs...)
}

func (p *readmePlay) step(command, shown string) {
	p.t.Helper()
	command, shown = p.days.Replace(command), p.days.Replace(shown)
	var got string
	switch words := strings.Fields(command); {
	case words[0] == "python3":
		p.serve(words)
		return
	case strings.HasPrefix(command, "manifold approve"):
		got = p.approve(words[2])
	case strings.HasPrefix(command, "manifold domain"):
		got = p.join(command)
	case command == "manifold run show":
		got = p.run(p.stage.Keys.Requester, command+" --watch")
	default:
		p.approveOpen()
		got = p.run(p.stage.Keys.Requester, command)
	}
	if m := approveCode.FindStringSubmatch(got); m != nil {
		if was := approveCode.FindStringSubmatch(shown); was != nil {
			p.codes = []string{was[1], m[1]}
		}
	}
	p.compare(command, shown, got)
}

var approveCode = regexp.MustCompile(`manifold approve ([A-Z0-9]{5})`)

// run returns the output of a command; waiting for a person is not a failure.
func (p *readmePlay) run(key, command string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(p.manifold)+":"+os.Getenv("PATH"), "MANIFOLD_URL="+p.stage.URL, "MANIFOLD_KEY="+key)
	out, err := cmd.CombinedOutput()
	const waiting = 3
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != waiting) {
		p.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// approve shows Otto the gate and approves what was shown. Without a terminal that needs the hash.
func (p *readmePlay) approve(code string) string {
	p.t.Helper()
	if len(p.codes) != 2 || p.codes[0] != code {
		p.t.Fatalf("the README approves %s, but what it showed is %v", code, p.codes)
	}
	code = p.codes[1]
	p.codes = nil
	shown := p.run(p.stage.Keys.Approver, "manifold gates "+code)
	var gate contracts.Interrupt
	if err := json.Unmarshal([]byte(p.run(p.stage.Keys.Approver, "manifold --json gates "+code)), &gate); err != nil || gate.Action == nil {
		p.t.Fatalf("gate %s: %v", code, err)
	}
	return shown + p.run(p.stage.Keys.Approver, "manifold approve "+code+" --sha256 "+gate.ActionSHA256)
}

// approveOpen approves the gates that the README leaves to the reader.
func (p *readmePlay) approveOpen() {
	p.t.Helper()
	if len(p.codes) == 2 {
		p.approve(p.codes[0])
		p.run(p.stage.Keys.Requester, "manifold run show --watch")
	}
}

// serve starts the Python domain on a free port.
func (p *readmePlay) serve(words []string) {
	p.t.Helper()
	listener, err := listen(p.t.Context(), "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	_, p.port, _ = strings.Cut(listener.Addr().String(), ":")
	_ = listener.Close()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, words[0], filepath.Join("../..", words[1]), p.port)
	if err := cmd.Start(); err != nil {
		stop()
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
	})
}

// join registers the Python domain as admin, once it answers.
func (p *readmePlay) join(command string) string {
	p.t.Helper()
	admin, err := os.ReadFile(p.stage.AdminKeyFile)
	if err != nil {
		p.t.Fatal(err)
	}
	url := "http://127.0.0.1:" + p.port
	register(p.t, with(p.t, p.stage, strings.TrimSpace(string(admin))), url)
	return p.run(strings.TrimSpace(string(admin)), regexp.MustCompile(`http://\S+`).ReplaceAllString(command, url))
}

// compare finds each line that the README shows in the output.
func (p *readmePlay) compare(command, shown, got string) {
	p.t.Helper()
	printed := map[string]bool{}
	for line := range strings.SplitSeq(got, "\n") {
		printed[sameLine(line)] = true
	}
	for line := range strings.SplitSeq(shown, "\n") {
		want := sameLine(line)
		if want == "" || want == "…" || strings.HasPrefix(want, "Approve this?") || printed[want] {
			continue
		}
		p.t.Errorf("$ %s\nshows in the README\n  %s\nand prints\n%s", command, want, got)
	}
}

var (
	spaces  = regexp.MustCompile(`\s+`)
	differs = regexp.MustCompile(`[0-9a-f]{32}|\b(?:approve|reject|answer) [A-Z0-9]{5}\b|^[A-Z0-9]{5} is|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
)

// sameLine returns a line without the parts that differ between runs.
func sameLine(line string) string {
	return differs.ReplaceAllString(strings.TrimSpace(spaces.ReplaceAllString(line, " ")), "*")
}
