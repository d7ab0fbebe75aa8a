package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// scratch is a folder that all tests share.
var scratch string

// trained is a data folder of the demo with trained models: training takes most of a start, and all
// tests have the same domains.
var trained = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "trained")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	return dir, run(ctx, []string{"--embeddings", "off", "--addr", "127.0.0.1:0", "--data", dir}, io.Discard, io.Discard, func(stage) { stop() })
})

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "manifold-demo-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	scratch = dir
	return m.Run()
}

// folder copies the trained data folder for one test.
func folder(t *testing.T) string {
	t.Helper()
	from, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "demo")
	if err := os.CopyFS(data, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(data, "server", "audit.keys") // a copy may be readable by others
	if err := os.Chmod(keys, 0o600); err != nil {
		t.Fatal(err)
	}
	return data
}

// start runs the demo in a folder of its own, until the returned function is called or the test ends.
func start(t *testing.T, args ...string) (stage, *bytes.Buffer, func()) {
	t.Helper()
	return startOn(t, folder(t), args...)
}

// startOn runs the demo on a data folder, until the returned function is called or the test ends.
func startOn(t *testing.T, data string, args ...string) (stage, *bytes.Buffer, func()) {
	t.Helper()
	args = append([]string{"--embeddings", "off", "--addr", "127.0.0.1:0", "--data", data}, args...)
	ctx, stop := context.WithCancel(context.Background())
	ready, done, out := make(chan stage, 1), make(chan error, 1), &bytes.Buffer{}
	go func() {
		done <- run(ctx, args, out, io.Discard, func(s stage) { ready <- s })
	}()
	end := sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the demo ends with %v", err)
		}
	})
	t.Cleanup(end)
	select {
	case s := <-ready:
		return s, out, end
	case err := <-done:
		done <- nil
		t.Fatalf("the demo does not start: %v", err)
		return stage{}, nil, nil
	}
}

func with(t *testing.T, s stage, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: s.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wait() client.Opt { return client.Opt{Wait: 30 * time.Second} }

// printed returns the words of the line with this prefix.
func printed(t *testing.T, guide, begin string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(begin) + `(.*)$`).FindStringSubmatch(guide)
	if found == nil {
		t.Fatalf("the guide has no line %q:\n%s", begin, guide)
	}
	return begin + found[1]
}

// TestTheFourThingsToTry follows the guide, with the commands that it prints.
func TestTheFourThingsToTry(t *testing.T) {
	t.Parallel()
	s, out, _ := start(t)
	guide := out.String()
	if !strings.Contains(guide, "export MANIFOLD_KEY="+s.Keys.Requester) || !strings.Contains(guide, s.URL) {
		t.Errorf("guide:\n%s", guide)
	}
	rita, otto := with(t, s, s.Keys.Requester), with(t, s, s.Keys.Approver)
	compare(t, rita, strings.TrimPrefix(printed(t, guide, "manifold ask compare"), "manifold ask "))
	request(t, rita, otto, strings.TrimPrefix(printed(t, guide, "manifold ask request"), "manifold ask "))
	decide(t, s, guide)
	join(t, s, rita, strings.TrimPrefix(printed(t, guide, "manifold ask search"), "manifold ask "))
	request(t, rita, otto, quoted(printed(t, guide, "manifold ask 'create")))
	answer(t, rita, quoted(printed(t, guide, "manifold ask 'put")))
}

// decide lets the manager log in by her link and approve Rita's request in Workday, with the
// messages of the guide.
func decide(t *testing.T, s stage, guide string) {
	t.Helper()
	helena := with(t, s, s.Keys.Manager)
	inbox, approve := quoted(printed(t, guide, "MANIFOLD_KEY="+s.Keys.Manager+" manifold ask 'what")), printed(t, guide, "MANIFOLD_KEY="+s.Keys.Manager+" manifold ask \"approve")
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/login`).FindString(said(t, helena, inbox))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		if q := req.URL.Query(); strings.HasSuffix(req.URL.Path, "/authorize") { // added by the tenant's form
			q.Set("login_hint", s.ManagerLogin)
			req.URL.RawQuery = q.Encode()
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if page, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(page), "You have logged in as Helena Duarte") {
		t.Fatalf("%v %s", err, page)
	}
	if all := said(t, helena, inbox); !strings.Contains(all, `"Ana Souza"`) {
		t.Errorf("the inbox: %s", all)
	}
	words := approve[strings.Index(approve, "\"")+1 : len(approve)-1]
	session, err := helena.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || session.Interrupt == nil || session.Interrupt.Review != contracts.EyesOwn {
		t.Fatalf("%+v %v", session, err)
	}
	if _, err := helena.Approve(t.Context(), *session.Interrupt, "", wait()); err != nil {
		t.Fatal(err)
	}
	if run, err := client.AwaitRun(t.Context(), helena, session.Interrupt.RunID); err != nil || run.State != contracts.RunCompleted {
		t.Errorf("%s %v", run.State, err)
	}
}

// said returns the complete text of an answer.
func said(t *testing.T, who *client.Client, words string) string {
	t.Helper()
	session, err := who.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(session)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func compare(t *testing.T, rita *client.Client, words string) {
	t.Helper()
	session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || session.Answer == nil || session.Answer.Verdict.Status != contracts.VerdictVerified {
		t.Fatalf("%+v %v", session, err)
	}
	var people []string
	for _, row := range session.Answer.Blocks[0].Rows {
		if name, ok := row[0].(string); ok && !slices.Contains(people, name) {
			people = append(people, name)
		}
	}
	if !slices.Equal(people, []string{"Ana Souza", "Bruno Lima", "Carla Mendes"}) {
		t.Errorf("the table is of %v", people)
	}
}

func request(t *testing.T, rita, otto *client.Client, words string) {
	t.Helper()
	session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || session.Interrupt == nil || session.Interrupt.Type != contracts.InterruptWriteApproval {
		t.Fatalf("%+v %v", session, err)
	}
	if _, err := rita.Approve(t.Context(), *session.Interrupt, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeForbidden {
		t.Errorf("who asks approves: %v", err)
	}
	if _, err := otto.Approve(t.Context(), *session.Interrupt, "", wait()); err != nil {
		t.Fatal(err)
	}
	view, err := client.AwaitRun(t.Context(), rita, session.RunIDs[0])
	if err != nil || view.State != contracts.RunCompleted || view.Verdict.Status != contracts.VerdictVerified {
		t.Fatalf("%s %+v %v", view.State, view.Verdict, err)
	}
	if !slices.ContainsFunc(view.Verdict.Checks, func(c contracts.Check) bool { return c.Name == "read_back" && c.OK }) {
		t.Errorf("it was not read back: %+v", view.Verdict.Checks)
	}
}

// quoted returns the words between single quotes.
func quoted(line string) string {
	_, words, _ := strings.Cut(line, "'")
	return strings.TrimSuffix(words, "'")
}

// answer asks the new chatflow a question.
func answer(t *testing.T, rita *client.Client, words string) {
	t.Helper()
	session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || session.Answer == nil || !strings.Contains(fmt.Sprint(session.Answer.Blocks), "Good morning") {
		t.Fatalf("%+v %v", session, err)
	}
}

// join starts the Python domain, if Python is installed.
func join(t *testing.T, s stage, rita *client.Client, words string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("there is no python3 here: the third thing is not tried")
		return
	}
	addr, err := freeAddr(t.Context(), strings.TrimPrefix(s.URL, "http://")) // taken: another is found
	if err != nil {
		t.Fatal(err)
	}
	listener, err := listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	addr = listener.Addr().String()
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(addr)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, python, "../../examples/bookshelf/domain.py", port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
	})
	admin, err := os.ReadFile(s.AdminKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	register(t, with(t, s, strings.TrimSpace(string(admin))), "http://"+addr)
	session, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || session.Answer == nil || !strings.Contains(session.Answer.Blocks[0].Text, "1 books found") {
		t.Errorf("%+v %v", session.Answer, err)
	}
}

// register retries until the service answers.
func register(t *testing.T, admin *client.Client, url string) {
	t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		report, err := admin.RegisterDomain(t.Context(), contracts.Registration{Domain: "bookshelf", URL: url})
		if err == nil && report.Outcome == contracts.DomainActive {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%+v %v", report, err)
		}
	}
}

// TestEveryDomainServesAndEachRoleAsks requests the workflow of each role of the marketplace with its
// key, and with another one.
func TestEveryDomainServesAndEachRoleAsks(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo")
	s, out, _ := start(t)
	domains, err := with(t, s, s.Keys.Requester).Domains(t.Context())
	if err != nil || len(domains) != 5 {
		t.Fatalf("%+v %v", domains, err)
	}
	for _, d := range domains {
		if d.Outcome != contracts.DomainActive {
			t.Errorf("%s is %s: %+v", d.Domain, d.Outcome, d)
		}
	}
	for i, key := range []string{s.Keys.Driver, s.Keys.Recruiter, s.Keys.Admin, s.Keys.Carrier} {
		words := quoted(printed(t, out.String(), "MANIFOLD_KEY="+key+" manifold ask '"))
		session, err := with(t, s, key).StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
		if err != nil || len(session.RunIDs) != 1 || session.Answer == nil && session.Interrupt == nil {
			t.Errorf("%s: %+v %v", words, session, err)
		}
		for j, other := range []string{s.Keys.Driver, s.Keys.Recruiter, s.Keys.Admin, s.Keys.Carrier, s.Keys.Requester} {
			if i == j {
				continue
			}
			session, err := with(t, s, other).StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range session.RunIDs { // a read that everybody may use can match closely
				if view, err := with(t, s, other).Run(t.Context(), id, client.Opt{}); err != nil || strings.HasPrefix(string(view.Plan.Strategy), "workflow:") {
					t.Errorf("%s with the key of somebody else: %s %v", words, view.Plan.Strategy, err)
				}
			}
		}
	}
}

func TestAFolderKeepsKeysAndAnAddressInUseIsNoObstacle(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo")
	listener, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	data := folder(t)
	first, _, end := startOn(t, data, "--addr", listener.Addr().String())
	if strings.HasSuffix(first.URL, listener.Addr().String()) {
		t.Errorf("served at %s, which is somebody else's", first.URL)
	}
	end()
	again, _, _ := startOn(t, data)
	if again.Keys != first.Keys {
		t.Error("the second start has other keys")
	}
	if me, err := with(t, again, again.Keys.Approver).Whoami(t.Context()); err != nil || me.Subject != "otto" {
		t.Errorf("%+v %v", me, err)
	}
}

func TestFaultyArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--bogus"}, {"please"}, {"--flowise-watch", "0s"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard, nil); err == nil {
			t.Errorf("%v are accepted", args)
		}
	}
}

func TestTheDayIsAMondayThatIsNotNear(t *testing.T) {
	t.Parallel()
	for day := range 14 {
		now := time.Date(2026, 11, 21+day, 23, 0, 0, 0, time.UTC)
		at, err := time.Parse(time.DateOnly, monday(now))
		if ahead := at.Sub(now); err != nil || at.Weekday() != time.Monday || ahead < 12*24*time.Hour || ahead > 22*24*time.Hour {
			t.Errorf("%s leads to %s", now, at)
		}
	}
}

// TestTheModelThatFollowsAScript does the guide's fifth step, which needs the model. Another
// message gets no call, and the local reading is used.
func TestTheModelThatFollowsAScript(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts a demo")
	s, out, _ := start(t, "--model", "scripted")
	rita := with(t, s, s.Keys.Requester)
	words := strings.TrimPrefix(printed(t, out.String(), "manifold ask how much longer"), "manifold ask ")
	r, err := rita.StartSession(t.Context(), contracts.StartSession{Message: words}, wait())
	if err != nil || r.Status != contracts.SessionCompleted || r.Tokens.Out == 0 || len(r.RunIDs) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	for key, chosen := range map[string]string{s.Keys.Driver: "Silver Creek Lines pays most", s.Keys.Admin: "in everybody's way", s.Keys.Carrier: "before they leave the yard"} {
		of := quoted(printed(t, out.String(), "MANIFOLD_KEY="+key+" manifold ask '"))
		r, err := with(t, s, key).StartSession(t.Context(), contracts.StartSession{Message: of}, wait())
		if err != nil || r.Answer == nil || !strings.Contains(fmt.Sprint(r.Answer.Blocks), chosen) || r.Tokens.Out == 0 {
			t.Errorf("%s: %+v, %v", of, r, err)
		}
	}
	r, err = rita.StartSession(t.Context(), contracts.StartSession{Message: "what is for lunch"}, wait())
	if err != nil || len(r.RunIDs) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err := mind(t.Context(), "gpt", ""); err == nil {
		t.Error("a model that the demo does not have is taken")
	}
}
