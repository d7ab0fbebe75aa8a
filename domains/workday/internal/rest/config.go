// Package rest is a client of Workday's REST services: OAuth 2 with rotating refresh tokens,
// paging, rate limits, and errors that say whether a write may have taken place.
//
// Reads are retried. Writes are sent once. They are resent only if the tenant certainly did not
// process them (401, 429, or no byte was sent). Any other failure of a write is an Error with
// MayHaveApplied set. The caller must then look for the write; the package has no policy for that.
package rest

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domainkit/login"
)

// Config configures the connection to a tenant. BaseURL, Tenant, ClientID and either ClientSecret
// and Tokens or JWT are required.
type Config struct {
	// BaseURL is the REST host, for example https://wd2-impl-services1.workday.com.
	BaseURL string
	Tenant  string
	// TokenURL is the OAuth 2 token endpoint [BaseURL/ccx/oauth2/{tenant}/token].
	TokenURL     string
	ClientID     string
	ClientSecret string
	// Tokens stores the refresh token between calls and restarts.
	Tokens login.Store
	// JWT authenticates with a signed assertion; ClientSecret and Tokens are then not needed.
	JWT   *JWT
	Paths Paths
	// AbsenceJSON posts absences as JSON, as services before v5 expect; v5 expects a form with the
	// part jsonData.
	AbsenceJSON bool

	// AllowedHosts are the host suffixes to which secrets may be sent [workday.com, myworkday.com].
	// Loopback requires AllowLoopback and is the only target of plain HTTP.
	AllowedHosts  []string
	AllowLoopback bool

	// RequestsPerSecond and Burst limit the requests to the tenant [5, 10]; a negative rate means
	// no limit.
	RequestsPerSecond float64
	Burst             int
	// MaxConcurrency limits the concurrent requests [4].
	MaxConcurrency int
	// Attempts is the maximum number of attempts of a read [4].
	Attempts int
	// BackoffMin and BackoffMax bound the wait between attempts [200ms, 5s]. A Retry-After above
	// BackoffMax is returned as an error.
	BackoffMin, BackoffMax time.Duration
	// Timeout is the timeout of one HTTP exchange [20s].
	Timeout time.Duration
	// Transport sends the requests [a clone of http.DefaultTransport].
	Transport http.RoundTripper
	Now       func() time.Time
	Logger    *slog.Logger
}

// Paths are the base paths of the services; {tenant} is replaced. They differ between tenants.
type Paths struct {
	Common, Staffing, Absence, Process string
	// WQL is the path of queries, Reports that of custom reports.
	WQL, Reports, Recruiting string
}

// WithDefaults returns the paths with empty ones set to Workday's defaults.
func (p Paths) WithDefaults() Paths {
	return Paths{
		Common:   cmp.Or(p.Common, "/ccx/api/v1/{tenant}"),
		Staffing: cmp.Or(p.Staffing, "/ccx/api/staffing/v7/{tenant}"),
		Absence:  cmp.Or(p.Absence, "/ccx/api/absenceManagement/v5/{tenant}"),
		Process:  cmp.Or(p.Process, "/ccx/api/businessProcess/v1/{tenant}"),
		WQL:      cmp.Or(p.WQL, "/ccx/api/wql/v1/{tenant}"),
		Reports:  cmp.Or(p.Reports, "/ccx/service/customreport2/{tenant}"),

		Recruiting: cmp.Or(p.Recruiting, "/ccx/api/recruiting/v4/{tenant}"),
	}
}

func (p Paths) forTenant(tenant string) Paths {
	fill := func(path string) string {
		return strings.TrimSuffix(strings.ReplaceAll(path, "{tenant}", url.PathEscape(tenant)), "/")
	}
	return Paths{
		Common: fill(p.Common), Staffing: fill(p.Staffing), Absence: fill(p.Absence), Process: fill(p.Process),
		WQL: fill(p.WQL), Reports: fill(p.Reports), Recruiting: fill(p.Recruiting),
	}
}

func (c *Config) setDefaults() {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	c.TokenURL = cmp.Or(c.TokenURL, c.BaseURL+"/ccx/oauth2/"+url.PathEscape(c.Tenant)+"/token")
	c.Paths = c.Paths.WithDefaults().forTenant(c.Tenant)
	if c.AllowedHosts == nil {
		c.AllowedHosts = []string{"workday.com", "myworkday.com"}
	}
	c.RequestsPerSecond = cmp.Or(c.RequestsPerSecond, 5)
	c.Burst = cmp.Or(c.Burst, 10)
	c.MaxConcurrency = cmp.Or(c.MaxConcurrency, 4)
	c.Attempts = cmp.Or(c.Attempts, 4)
	c.BackoffMin = cmp.Or(c.BackoffMin, 200*time.Millisecond)
	c.BackoffMax = cmp.Or(c.BackoffMax, 5*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 20*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func (c *Config) validate() error {
	wanted := map[string]string{"base URL": c.BaseURL, "tenant": c.Tenant, "client id": c.ClientID}
	if c.JWT == nil {
		wanted["client secret"] = c.ClientSecret
	}
	for name, value := range wanted {
		if value == "" {
			return fmt.Errorf("workday client: no %s", name)
		}
	}
	if c.JWT != nil && (c.JWT.Key == nil || c.JWT.Subject == "") {
		return fmt.Errorf("workday client: an assertion needs a key and a subject")
	}
	if c.Tokens == nil && c.JWT == nil {
		return fmt.Errorf("workday client: no token store")
	}
	if c.MaxConcurrency < 1 || c.Attempts < 1 || c.Burst < 1 {
		return fmt.Errorf("workday client: concurrency, attempts and burst must be positive")
	}
	if err := c.checkHost(c.BaseURL); err != nil {
		return err
	}
	return c.checkHost(c.TokenURL)
}

// checkHost returns an error for a host that is not Workday's, to which no secrets may be sent.
func (c *Config) checkHost(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("workday url %q: %w", raw, err)
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || (ip != nil && ip.IsLoopback()) {
		if !c.AllowLoopback {
			return fmt.Errorf("workday url %q: loopback is not allowed", raw)
		}
		return nil
	}
	if u.Scheme != "https" {
		return fmt.Errorf("workday url %q: https is required", raw)
	}
	for _, suffix := range c.AllowedHosts {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return nil
		}
	}
	return fmt.Errorf("workday url %q: host is not in the list of allowed hosts", raw)
}
