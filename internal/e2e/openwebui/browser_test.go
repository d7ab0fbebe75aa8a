package openwebui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// tab is a page of a Chromium in which somebody is signed in.
type tab struct {
	*person

	ctx   context.Context //nolint:containedctx // it is the handle of the tab
	close context.CancelFunc
}

// chromium is the one browser of all tests. It is started by the first that
// needs it.
func (s *stage) chromium(t *testing.T) context.Context {
	t.Helper()
	if s.browser != nil {
		return s.browser
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Fatal("no Chromium is installed (Debian: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(s.dir, "chromium")), chromedp.WindowSize(1280, 1000),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, end := chromedp.NewContext(allocator)
	s.closers = append(s.closers, func() error {
		end() // and is waited for
		stop()
		return nil
	})
	if err := chromedp.Do(browser); err != nil {
		t.Fatal(err)
	}
	s.browser = browser
	return browser
}

// browse opens Open WebUI as somebody sees it who has signed in. Nothing is
// shared with other tabs: each has cookies and storage of its own.
func (s *stage) browse(t *testing.T, email string) *tab {
	t.Helper()
	b := &tab{person: s.signIn(t, email)}
	b.ctx, b.close = chromedp.NewContext(s.chromium(t), chromedp.WithNewBrowserContext())
	t.Cleanup(b.close)
	if err := chromedp.Do(b.ctx); err != nil { // a tab lives as long as the context of its first call
		t.Fatal(err)
	}
	token, err := json.Marshal(b.token)
	if err != nil {
		t.Fatal(err)
	}
	b.visit("/static/favicon.png") // a page that asks nobody to sign in
	b.until("sign in", "localStorage.token = "+string(token))
	// What is new in this version covers the page of whoever has not read it.
	version := struct {
		Version string `json:"version"`
	}{}
	b.send("GET", "/api/version", nil, &version)
	settings := map[string]any{"ui": map[string]any{"version": version.Version}}
	b.send("POST", "/api/v1/users/user/settings/update", settings, nil)
	return b
}

func (b *tab) visit(path string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(b.s.webui+path)); err != nil {
		b.t.Fatalf("visit %s: %v", path, err)
	}
}

// open starts a chat with a model.
func (b *tab) open(model string) {
	b.t.Helper()
	b.visit("/?models=" + model)
	b.until("open a chat", "document.querySelector('#chat-input')")
}

// say types a message and sends it.
func (b *tab) say(words string) {
	b.t.Helper()
	b.until("focus", "document.querySelector('#chat-input').focus(), document.activeElement.id === 'chat-input'")
	if _, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: words}); err != nil {
		b.t.Fatal(err)
	}
	b.until("send "+words, click("#send-message-button:not([disabled])"))
}

// click is JavaScript that clicks on the last element that can be seen.
func click(selector string) string {
	return fmt.Sprintf(`(e => e ? (e.click(), true) : false)([...document.querySelectorAll(%s)].filter(e => e.offsetParent).at(-1))`, strconv.Quote(selector))
}

// press clicks on the last thing that can be seen of those that a selector
// finds and that begin with these words.
func (b *tab) press(selector, words string) {
	b.t.Helper()
	b.until("press "+words, fmt.Sprintf(`(e => e ? (e.click(), true) : false)([...document.querySelectorAll(%s)]
		.filter(e => e.offsetParent && e.innerText.trim().startsWith(%s)).at(-1))`, strconv.Quote(selector), strconv.Quote(words)))
}

// chips and card are where approvals can be clicked.
const (
	chips = "button[aria-label^='Follow up:']"
	card  = "section button"
)

// chatID is the id of the chat that is open, once it has one.
func (b *tab) chatID() (id string) {
	b.t.Helper()
	b.until("the chat has an address", "location.pathname.startsWith('/c/')")
	path, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.pathname"))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimPrefix(path, "/c/")
}

// until waits until a piece of JavaScript says true.
func (b *tab) until(what, script string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		holds, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean(("+script+"))"))
		switch {
		case err == nil && holds:
			return
		case time.Now().After(deadline):
			b.shoot("failed")
			b.t.Fatalf("%s: it did not come to that (%v); the page says:\n%s", what, err, b.text())
		}
	}
}

// misses reports whether these words are nowhere on the page.
func (b *tab) misses(words string) bool {
	b.t.Helper()
	return !strings.Contains(b.text(), words)
}

// sees waits until the page shows these words.
func (b *tab) sees(words string) {
	b.t.Helper()
	b.until("see "+words, "document.body.innerText.includes("+strconv.Quote(words)+")")
}

func (b *tab) text() string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// count counts what a CSS selector finds.
func (b *tab) count(selector string) int {
	b.t.Helper()
	n, err := chromedp.Run(b.ctx, chromedp.Evaluate[int]("document.querySelectorAll("+strconv.Quote(selector)+").length"))
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// shoot writes what is to be seen into a folder, for people to look at.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("OPENWEBUI_SCREENSHOTS")
	if dir == "" {
		dir = "../../../bin/openwebui"
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), picture, 0o600)
	}
	if err != nil {
		b.t.Logf("screenshot %s: %v", name, err)
	}
}
