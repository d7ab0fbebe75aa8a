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

// Config configures a Client. Zero values take the defaults given in brackets.
type Config struct {
	// Lookup resolves the NAME of an authorization "env:NAME". If it is nil, registrations cannot
	// have an authorization.
	Lookup func(name string) (value string, found bool)
	// Control is called before every dial with the resolved address, for an SSRF guard. If it is
	// nil, every address is allowed.
	Control func(network, address string, c syscall.RawConn) error
	// Bridge returns the handler for a bridged domain and a function that ends it. tried means
	// that it is only tested before registration. If it is nil, there are no bridges.
	Bridge func(at registry.Endpoint, tried bool) (handler http.Handler, end func())
	// Transport wraps the transport of each domain, if it is not nil.
	Transport func(http.RoundTripper) http.RoundTripper
	// MaxConcurrent is the maximum number of concurrent calls to one domain [64].
	MaxConcurrent int
	// MaxBigAnswers is the maximum number of responses beyond 1 MiB in memory for reads of one
	// domain [2].
	MaxBigAnswers int
	// QueueWait is how long a call waits in a full lane before it returns as busy [1s].
	QueueWait time.Duration
	// BreakerThreshold is the number of consecutive failures that open a domain's breaker [8].
	BreakerThreshold int
	// BreakerPause is the first pause of an open breaker [1s]. It doubles up to BreakerPauseMax
	// [30s].
	BreakerPause    time.Duration
	BreakerPauseMax time.Duration
	// FetchTimeout is the time limit of a manifest request [30s], HealthTimeout that of a health
	// check [5s].
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

// Client has one lane per domain. It is safe for concurrent use.
type Client struct {
	cfg Config

	mu    sync.Mutex // guards lanes
	lanes map[string]*lane
}

var _ registry.Fetcher = (*Client)(nil)

// New returns a new client, or an error if a limit is negative.
func New(cfg Config) (*Client, error) {
	if cfg.MaxConcurrent < 0 || cfg.MaxBigAnswers < 0 || cfg.BreakerThreshold < 0 {
		return nil, contracts.Invalid("domain client: limits must not be negative")
	}
	return &Client{cfg: cfg.withDefaults(), lanes: map[string]*lane{}}, nil
}

// Close closes idle connections and ends bridges. Other calls in flight continue.
func (c *Client) Close() {
	c.mu.Lock()
	lanes := c.lanes
	c.lanes = map[string]*lane{}
	c.mu.Unlock()
	for _, l := range lanes {
		l.close()
	}
}

// Forget releases the lane of a domain that was unregistered.
func (c *Client) Forget(domain string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.lanes[domain]; ok {
		go l.close() // ending a bridge may take time
		delete(c.lanes, domain)
	}
}

// lane returns the domain's lane. A new address gets a new lane, because the state of the old one
// does not apply.
func (c *Client) lane(at registry.Endpoint) *lane {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lanes[at.Domain]
	if ok && l.url == at.URL {
		return l
	}
	if ok {
		go l.close() // ending a bridge may take time
	}
	l = newLane(c.cfg, at, false)
	c.lanes[at.Domain] = l
	return l
}

// visit returns a lane for a request that is not a call. An address that is only tested before
// registration gets a temporary lane, so that the test does not affect the domain's own lane.
// leave must be called afterwards.
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

// authorization returns the header value for a registration's authorization.
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

// lane holds the connections and limits of one domain.
type lane struct {
	url       string
	transport *http.Transport
	http      *http.Client
	breaker   *breaker
	slots     chan struct{}
	big       chan struct{}
	queueWait time.Duration
	// closeBridge ends the in-process bridge of the lane, if it has one.
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
			return http.ErrUseLastResponse // a redirect is returned as the response
		},
	}
	return l
}

// close releases the resources of the lane.
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
		// HTTP/1 only: with one request at a time per connection it is certain whether anything
		// was written.
		ForceAttemptHTTP2:      false,
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    cfg.MaxConcurrent,
		IdleConnTimeout:        60 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// enter waits a limited time for a slot in the lane. On success why is empty and the caller must
// call leave. Otherwise why is the reason and wait the time before a retry.
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
