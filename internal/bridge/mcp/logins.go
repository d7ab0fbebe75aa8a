package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/internal/bridge"
)

// LoginsConfig configures logins of people, each with an account of their own.
type LoginsConfig struct {
	// Dir holds the tokens, one file per person.
	Dir string
	// Keys encrypt the files and seal the links [files are not encrypted, and the key of the links
	// is in Dir].
	Keys [][]byte
	// PublicURL is the URL of the bridge for people's browsers.
	PublicURL string
	// Login configures each login; its Server, File and Show are not used.
	Login Login
	// Server configures the server; its Tokens are used to list the tools.
	Server Config
}

// Logins is an MCP server that is called with the account of the requester. A requester without an
// account gets a personal login link.
type Logins struct {
	cfg   LoginsConfig
	base  *Server
	pages login.Pages[*flow]
	// links seals the names of people in links, files the files in Dir.
	links, files login.Vault

	mu      sync.Mutex // guards servers
	servers map[string]*Server
}

var (
	_ bridge.Source = (*Logins)(nil)
	_ http.Handler  = (*Logins)(nil)
)

const (
	// errLoginEnded is the error type for tokens that can no longer be renewed.
	errLoginEnded = "domain.login_ended"
	// questionCode is the id of the question for a login code.
	questionCode = "code"
	// maxPeople bounds the open connections.
	maxPeople = 256
	// maxGuesses bounds the wrong codes per login.
	maxGuesses = 5
	// codeTime is how long a code is valid.
	codeTime = 24 * time.Hour
)

// NewLogins returns a source. It does not connect.
func NewLogins(cfg LoginsConfig) (*Logins, error) {
	if cfg.Server.URL == "" || cfg.Dir == "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "logins of people need the URL of an MCP server, and a folder")
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	if err := errors.Join(secure(cfg.Server.URL), secure(cfg.PublicURL)); err != nil {
		return nil, err
	}
	if cfg.Login.Now == nil {
		cfg.Login.Now = time.Now
	}
	cfg.Login.Server = cfg.Server.URL
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	at, err := url.Parse(cfg.PublicURL)
	if err != nil {
		return nil, err
	}
	l := &Logins{cfg: cfg, servers: map[string]*Server{}}
	l.pages.URL, l.pages.Path, l.pages.Now = cfg.PublicURL, at.Path+loginPath, cfg.Login.Now
	if l.files, err = login.NewVault(cfg.Keys, forTokens); err != nil {
		return nil, err
	}
	sealing := cfg.Keys
	if len(sealing) == 0 {
		key, _, err := login.KeyIn(filepath.Join(cfg.Dir, "link.key"))
		if err != nil {
			return nil, err
		}
		sealing = [][]byte{key}
	}
	if l.links, err = login.NewVault(sealing, forLinks); err != nil {
		return nil, err
	}
	l.base, err = New(cfg.Server)
	return l, err
}

// Definitions lists the tools.
func (l *Logins) Definitions(ctx context.Context, selected *bridge.Select) ([]bridge.Definition, error) {
	return l.base.Definitions(ctx, selected)
}

// Close closes all connections.
func (l *Logins) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := []error{l.base.Close()}
	for _, s := range l.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// asking is the state of a login question: the input that the call had before it.
type asking struct {
	Login  bool                  `json:"login"`
	Before *contracts.GivenInput `json:"before,omitempty"`
}

// Call calls a tool with the account of the requester.
func (l *Logins) Call(ctx context.Context, c bridge.Call) (contracts.ToolResult, error) {
	who := c.Context.Principal.Subject()
	if who == "" {
		return contracts.ToolResult{}, domainkit.Refusef(contracts.ErrUnauthorized, "nobody is named in whose account %s is to be called", c.Name)
	}
	var said asking
	if in := c.Context.Input; in != nil && json.Unmarshal([]byte(in.State), &said) == nil && said.Login {
		c.Context.Input = said.Before
		code, _ := in.Answers[questionCode].(string)
		if err := l.confirm(who, code); err != nil {
			return contracts.ToolResult{}, l.ask(c, who, err.Error())
		}
	}
	server, err := l.serverOf(ctx, who)
	if errors.Is(err, fs.ErrNotExist) || contracts.CodeOf(err) == contracts.CodeUnauthorized { // encrypted with a key that is gone, say
		return contracts.ToolResult{}, l.ask(c, who, "")
	}
	if err != nil {
		return contracts.ToolResult{}, err
	}
	result, err := server.Call(ctx, c)
	if ended, ok := errors.AsType[*contracts.ToolError](err); ok && ended.Type == errLoginEnded {
		l.forget(who)
		return contracts.ToolResult{}, l.ask(c, who, "")
	}
	return result, err
}

// ask returns the error that asks a person to log in.
func (l *Logins) ask(c bridge.Call, who, why string) error {
	state, err := json.Marshal(asking{Login: true, Before: c.Context.Input})
	if err != nil {
		return err
	}
	link, err := l.link(who)
	if err != nil {
		return err
	}
	prompt := "Log in with your own account by the link, and answer with the code that it shows."
	return domainkit.Ask(contracts.InputRequest{State: string(state), Questions: []contracts.InputQuestion{{
		ID: questionCode, Prompt: strings.TrimSpace(why + " " + prompt), Link: l.cfg.PublicURL + loginPath + link,
		Schema: map[string]any{"type": "string", "minLength": 1, "maxLength": 40},
	}}}, "%s is called with the account of whoever asks, who has not logged in yet", c.Name)
}

// file returns the path of a person's file. Its name is a hash of the person.
func (l *Logins) file(who, kind string) string {
	return filepath.Join(l.cfg.Dir, contracts.HashBytes([]byte(who))+kind)
}

// The purposes that keys are derived for.
const (
	forTokens = "tokens of a bridge"
	forLinks  = "links to log in by"
)

// The kinds of a person's files.
const (
	kindTokens  = ".tokens.json"
	kindWaiting = ".waiting.json"
)

// serverOf returns the server with a person's account.
func (l *Logins) serverOf(ctx context.Context, who string) (*Server, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.servers[who]; s != nil {
		return s, nil
	}
	file := l.file(who, kindTokens)
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	tokens, err := OpenTokens(ctx, TokensConfig{
		File: file, Server: l.cfg.Server.URL, Keys: l.cfg.Keys, HTTP: l.cfg.Login.HTTP, Now: l.cfg.Login.Now, Logger: l.cfg.Server.Logger,
		Ended: func() *contracts.ToolError {
			return domainkit.Refusef(errLoginEnded, "the login at %s has ended", l.cfg.Server.URL)
		},
	})
	if err != nil {
		return nil, err
	}
	cfg := l.cfg.Server
	cfg.Tokens, cfg.HTTP.Authorize = tokens, nil
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	for other, held := range l.servers {
		if len(l.servers) < maxPeople {
			break
		}
		delete(l.servers, other)
		go func() { _ = held.Close() }() // calls in progress end with it and return an error
	}
	l.servers[who] = s
	return s, nil
}

// forget closes the connection of a person.
func (l *Logins) forget(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.servers[who]; s != nil {
		delete(l.servers, who)
		go func() { _ = s.Close() }() // no need to wait
	}
}

// waiting is a login that counts once its person has entered its code: the link may have been opened
// by somebody else.
type waiting struct {
	Grant   *login.Grant `json:"grant"`
	Code    string       `json:"code_sha256"`
	Until   time.Time    `json:"until"`
	Guesses int          `json:"guesses,omitempty"`
}

// keep stores the tokens of a login until its code is entered, and returns the code.
func (l *Logins) keep(who string, g *login.Grant) (code string, err error) {
	code = rand.Text()[:10]
	w := waiting{Grant: g, Code: contracts.HashBytes([]byte(code)), Until: l.cfg.Login.Now().Add(codeTime)}
	return code[:5] + "-" + code[5:], l.files.Save(l.file(who, kindWaiting), w)
}

// confirm accepts a login by its code.
func (l *Logins) confirm(who, code string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.file(who, kindWaiting)
	var w waiting
	_, err := l.files.Load(file, &w)
	if _, there := os.Stat(l.file(who, kindTokens)); errors.Is(err, fs.ErrNotExist) && there == nil {
		return nil // it was accepted before, and the call is a repeat
	}
	if err != nil || w.Grant == nil || l.cfg.Login.Now().After(w.Until) {
		return errors.New("Nobody has logged in by the link yet, or too long ago.") //nolint:staticcheck,revive // a sentence for people
	}
	said := contracts.HashBytes([]byte(strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))))
	if subtle.ConstantTimeCompare([]byte(said), []byte(w.Code)) != 1 {
		if w.Guesses++; w.Guesses >= maxGuesses {
			_ = os.Remove(file) // ignored: the next answer finds no login, or the same count
		} else if err := l.files.Save(file, w); err != nil {
			return err
		}
		return errors.New("This is not the code.") //nolint:staticcheck,revive // a sentence for people
	}
	if err := l.files.Save(l.file(who, kindTokens), w.Grant); err != nil {
		return err
	}
	if s := l.servers[who]; s != nil {
		delete(l.servers, who)
		go func() { _ = s.Close() }() // it has the old tokens
	}
	return os.Remove(file)
}

// client returns the client at the authorization server, "" if one must be registered.
func (l *Logins) client() (id, secret string) {
	if l.cfg.Login.ClientID != "" {
		return l.cfg.Login.ClientID, l.cfg.Login.ClientSecret
	}
	var known login.Grant
	if _, err := l.files.Load(filepath.Join(l.cfg.Dir, "client.json"), &known); err != nil || known.Resource != l.cfg.PublicURL {
		return "", "" // one is registered
	}
	return known.ClientID, known.ClientSecret
}

// remember stores the registered client, with the URL that it was registered for.
func (l *Logins) remember(g *login.Grant) error {
	return l.files.Save(filepath.Join(l.cfg.Dir, "client.json"), login.Grant{Resource: l.cfg.PublicURL, ClientID: g.ClientID, ClientSecret: g.ClientSecret})
}

// account returns the account's name for the login page.
func (l *Logins) account() string { return cmp.Or(hostOf(l.cfg.Server.URL), l.cfg.Server.URL) }
