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

// LoginsConfig describes how people log in at a server, each with an account of their own.
type LoginsConfig struct {
	// Dir holds the tokens, a file for each person.
	Dir string
	// Keys encrypt the files, and seal links [files are not encrypted, and the key of
	// links lies in Dir].
	Keys [][]byte
	// PublicURL is where the browsers of people reach the bridge.
	PublicURL string
	// Login is what each login is like; its Server, File and Show are not used.
	Login Login
	// Server is the server; its Tokens are used to list its tools.
	Server Config
}

// Logins is an MCP server that is called with the account of the requester. Who has none
// yet is asked to log in, by a link that is theirs.
type Logins struct {
	cfg   LoginsConfig
	base  *Server
	pages login.Pages[*flow]
	// links seals those that name a person, files what is in Dir.
	links, files login.Vault

	mu      sync.Mutex // guards servers
	servers map[string]*Server
}

var (
	_ bridge.Source = (*Logins)(nil)
	_ http.Handler  = (*Logins)(nil)
)

const (
	// errLoginEnded is the type of error for tokens that can be renewed no more.
	errLoginEnded = "domain.login_ended"
	// questionCode is the id of the question for the code of a login.
	questionCode = "code"
	// maxPeople bounds the connections that are held.
	maxPeople = 256
	// maxGuesses is how often a code may be wrong.
	maxGuesses = 5
	// codeTime is how long a code is good.
	codeTime = 24 * time.Hour
)

// NewLogins makes a source; it does not connect.
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

// Close ends all connections.
func (l *Logins) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := []error{l.base.Close()}
	for _, s := range l.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// asking is what a question for a login leaves with the core: what the call was given
// before it.
type asking struct {
	Login  bool                  `json:"login"`
	Before *contracts.GivenInput `json:"before,omitempty"`
}

// Call calls a tool with the account of the person who asks.
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

// ask asks a person to log in.
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

// file is where something of a person is kept; a person is no part of a file's name.
func (l *Logins) file(who, kind string) string {
	return filepath.Join(l.cfg.Dir, contracts.HashBytes([]byte(who))+kind)
}

// The purposes that keys are derived for.
const (
	forTokens = "tokens of a bridge"
	forLinks  = "links to log in by"
)

// The kinds of files of a person.
const (
	kindTokens  = ".tokens.json"
	kindWaiting = ".waiting.json"
)

// serverOf is the server as a person sees it.
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
		go func() { _ = held.Close() }() // calls under way end with it; they are told so
	}
	l.servers[who] = s
	return s, nil
}

// forget gives up the connection of a person.
func (l *Logins) forget(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.servers[who]; s != nil {
		delete(l.servers, who)
		go func() { _ = s.Close() }() // nobody waits for that
	}
}

// waiting is a login that counts when whoever it is for has said its code: a link may
// have been opened by somebody else.
type waiting struct {
	Grant   *login.Grant `json:"grant"`
	Code    string       `json:"code_sha256"`
	Until   time.Time    `json:"until"`
	Guesses int          `json:"guesses,omitempty"`
}

// keep keeps the tokens of a login until its code is said, and gives the code.
func (l *Logins) keep(who string, g *login.Grant) (code string, err error) {
	code = rand.Text()[:10]
	w := waiting{Grant: g, Code: contracts.HashBytes([]byte(code)), Until: l.cfg.Login.Now().Add(codeTime)}
	return code[:5] + "-" + code[5:], l.files.Save(l.file(who, kindWaiting), w)
}

// confirm takes over a login by its code.
func (l *Logins) confirm(who, code string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.file(who, kindWaiting)
	var w waiting
	_, err := l.files.Load(file, &w)
	if _, there := os.Stat(l.file(who, kindTokens)); errors.Is(err, fs.ErrNotExist) && there == nil {
		return nil // it was taken over before, and the call is a repeat
	}
	if err != nil || w.Grant == nil || l.cfg.Login.Now().After(w.Until) {
		return errors.New("Nobody has logged in by the link yet, or too long ago.") //nolint:staticcheck,revive // a sentence for people
	}
	said := contracts.HashBytes([]byte(strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))))
	if subtle.ConstantTimeCompare([]byte(said), []byte(w.Code)) != 1 {
		if w.Guesses++; w.Guesses >= maxGuesses {
			_ = os.Remove(file) // it is over either way: the next answer finds no login, or the same count
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
		go func() { _ = s.Close() }() // it has the tokens of before
	}
	return os.Remove(file)
}

// client is the one that the authorisation server knows; it is registered once.
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

// remember keeps the client that was registered; for the address that it was registered
// with.
func (l *Logins) remember(g *login.Grant) error {
	return l.files.Save(filepath.Join(l.cfg.Dir, "client.json"), login.Grant{Resource: l.cfg.PublicURL, ClientID: g.ClientID, ClientSecret: g.ClientSecret})
}

// account is how a login is shown to whoever opens its link.
func (l *Logins) account() string { return cmp.Or(hostOf(l.cfg.Server.URL), l.cfg.Server.URL) }
