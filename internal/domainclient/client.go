package domainclient

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// Config bounds the client; zero values take the defaults in brackets.
type Config struct {
	// Lookup resolves the NAME of an authorization "env:NAME". Without it no
	// registration can carry an authorization.
	Lookup func(name string) (value string, found bool)
	// Control is asked before every dial with the resolved address; an SSRF
	// guard goes here. Nil allows every address.
	Control func(network, address string, c syscall.RawConn) error
	// Bridge serves the bridge of a domain that has one, and ends it; not for long if it is
	// only tried. Nil: there are none.
	Bridge func(at registry.Endpoint, tried bool) (handler http.Handler, end func())
	// Transport goes around that of each domain; nil for none.
	Transport func(http.RoundTripper) http.RoundTripper
	// MaxConcurrent bounds the calls in flight to one domain [64].
	MaxConcurrent int
	// MaxBigAnswers bounds the answers beyond 1 MiB that reads of one domain
	// may have in memory [2].
	MaxBigAnswers int
	// QueueWait is how long a call waits for room in a full lane before it is
	// sent back as busy [1s].
	QueueWait time.Duration
	// BreakerThreshold is the number of failures in a row that open a
	// domain's breaker [8].
	BreakerThreshold int
	// BreakerPause is the first pause of an open breaker [1s]; it doubles up
	// to BreakerPauseMax [30s].
	BreakerPause    time.Duration
	BreakerPauseMax time.Duration
	// FetchTimeout bounds one attempt to get a manifest [30s], HealthTimeout
	// a health check [5s].
	FetchTimeout  time.Duration
	HealthTimeout time.Duration
	// Now is the clock [time.Now].
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.MaxConcurrent = cmp.Or(c.MaxConcurrent, 64)
	c.MaxBigAnswers = cmp.Or(c.MaxBigAnswers, 2)
	c.QueueWait = cmp.Or(c.QueueWait, time.Second)
	c.BreakerThreshold = cmp.Or(c.BreakerThreshold, 8)
	c.BreakerPause = cmp.Or(c.BreakerPause, time.Second)
	c.BreakerPauseMax = cmp.Or(c.BreakerPauseMax, 30*time.Second)
	c.FetchTimeout = cmp.Or(c.FetchTimeout, contracts.MaxExchange)
	c.HealthTimeout = cmp.Or(c.HealthTimeout, 5*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Client holds a lane for each domain. It is safe for concurrent use.
type Client struct {
	cfg Config

	mu    sync.Mutex // guards lanes
	lanes map[string]*lane
}

var _ registry.Fetcher = (*Client)(nil)

// New makes a client.
func New(cfg Config) (*Client, error) {
	if cfg.MaxConcurrent < 0 || cfg.MaxBigAnswers < 0 || cfg.BreakerThreshold < 0 {
		return nil, contracts.Invalid("domain client: limits must not be negative")
	}
	return &Client{cfg: cfg.withDefaults(), lanes: map[string]*lane{}}, nil
}

// Close gives up all idle connections, and ends bridges; other calls in flight end by
// themselves.
func (c *Client) Close() {
	c.mu.Lock()
	lanes := c.lanes
	c.lanes = map[string]*lane{}
	c.mu.Unlock()
	for _, l := range lanes {
		l.close()
	}
}

// Forget drops what is kept for a domain that was unregistered.
func (c *Client) Forget(domain string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.lanes[domain]; ok {
		go l.close() // a bridge may take its time
		delete(c.lanes, domain)
	}
}

// lane returns the domain's lane; a new address makes a new one, because what
// was learned about the old one says nothing about it.
func (c *Client) lane(at registry.Endpoint) *lane {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lanes[at.Domain]
	if ok && l.url == at.URL {
		return l
	}
	if ok {
		go l.close() // a bridge may take its time
	}
	l = newLane(c.cfg, at, false)
	c.lanes[at.Domain] = l
	return l
}

// visit returns a lane for a request that is no call: the domain's own where it
// fits. An address that is only tried, before it is registered, gets one that
// is thrown away, so that trying it disturbs nothing.
func (c *Client) visit(at registry.Endpoint) (l *lane, leave func()) {
	c.mu.Lock()
	own, ok := c.lanes[at.Domain]
	c.mu.Unlock()
	switch {
	case ok && own.url == at.URL:
		return own, func() {}
	case !ok && at.Domain != "":
		return c.lane(at), func() {}
	}
	l = newLane(c.cfg, at, true)
	return l, l.close
}

// authorization returns the header's value for a registration's authorization.
func (c *Client) authorization(at registry.Endpoint) (string, error) {
	if at.Authorization == "" {
		return "", nil
	}
	name, ok := strings.CutPrefix(at.Authorization, "env:")
	if !ok {
		return "", contracts.Errorf(contracts.CodeUnauthorized, "the authorization of domain %s must be \"env:NAME\"", at.Domain)
	}
	if c.cfg.Lookup != nil {
		if value, found := c.cfg.Lookup(name); found && value != "" {
			return value, nil
		}
	}
	return "", contracts.Errorf(contracts.CodeUnauthorized,
		"the authorization of domain %s is not set: the server has no variable %s", at.Domain, name)
}

// lane is everything that one domain has for itself.
type lane struct {
	url       string
	transport *http.Transport
	http      *http.Client
	breaker   *breaker
	slots     chan struct{}
	big       chan struct{}
	queueWait time.Duration
	// closeBridge ends the in-process bridge that the lane leads to, if it does.
	closeBridge func()
}

func newLane(cfg Config, at registry.Endpoint, tried bool) *lane {
	l := &lane{
		url:       at.URL,
		transport: newTransport(cfg),
		breaker: &breaker{
			threshold: cfg.BreakerThreshold, shortest: cfg.BreakerPause, longest: cfg.BreakerPauseMax, now: cfg.Now,
		},
		slots:       make(chan struct{}, cfg.MaxConcurrent),
		big:         make(chan struct{}, cfg.MaxBigAnswers),
		queueWait:   cfg.QueueWait,
		closeBridge: func() {},
	}
	if cfg.Bridge != nil && at.Bridge.Given() {
		l.closeBridge = serveInProcess(l.transport, func() (http.Handler, func()) { return cfg.Bridge(at, tried) })
	}
	var way http.RoundTripper = l.transport
	if cfg.Transport != nil {
		way = cfg.Transport(way)
	}
	l.http = &http.Client{
		Transport: way,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is an answer, never a way
		},
	}
	return l
}

// close gives up what the lane holds.
func (l *lane) close() {
	l.transport.CloseIdleConnections()
	l.closeBridge()
}

func newTransport(cfg Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: cfg.Control}
	return &http.Transport{
		Proxy: nil, // a proxy would hide the address from Control
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &trackedConn{Conn: conn}, nil
		},
		// HTTP/1 only: one request at a time on a connection is what makes
		// "nothing was written" certain.
		ForceAttemptHTTP2:      false,
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    cfg.MaxConcurrent,
		IdleConnTimeout:        60 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// enter waits for room in the lane, but not for long. The caller that is let
// in must call leave; the other gets the reason and when to ask again.
func (l *lane) enter(ctx context.Context, limit time.Duration) (wait time.Duration, why string) {
	if !l.take(ctx, min(l.queueWait, limit/4)) {
		return jitter(100 * time.Millisecond), "has as many calls in flight as it may"
	}
	if wait, ok := l.breaker.admit(); !ok {
		<-l.slots
		return jitter(wait), "is given a pause after failures in a row"
	}
	return 0, ""
}

func (l *lane) take(ctx context.Context, patience time.Duration) bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case l.slots <- struct{}{}:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	}
}

func (l *lane) leave(o outcome) {
	l.breaker.record(o)
	<-l.slots
}
