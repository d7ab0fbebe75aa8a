package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday"
)

// options are the flags; each can also be set by an environment variable.
type options struct {
	listen, keys                          string
	url, tenant, tokenURL, clientID       string
	clientSecret, refreshToken, authorize domainkit.Secret
	tokenStore, jwtUser, jwtAudience      string
	jwtKey                                domainkit.Secret
	zone                                  string
	absenceJSON                           bool
	paths                                 workday.Paths
	mcpURL, mcpTools, reportFile          string
	blueprint                             string
	loginListen                           string
	login                                 workday.LoginConfig
	loginSecret, loginKey                 domainkit.Secret
	dryRun                                bool
	hosts, kinds                          string
	self, reports, all, people            string
	loopback                              bool
	rps                                   float64
}

func parse(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	var o options
	flags := domainkit.NewFlags("workday-domain", getenv, stderr)
	flags.Text(&o.listen, "listen", "WORKDAY_LISTEN", "127.0.0.1:8091", "address to listen on")
	flags.Text(&o.keys, "keys", "WORKDAY_KEYS", "", "SQLite file for idempotency keys; in memory unless given")
	flags.Text(&o.url, "tenant-url", "WORKDAY_URL", "", "REST host, such as https://wd2-impl-services1.workday.com")
	flags.Text(&o.tenant, "tenant", "WORKDAY_TENANT", "", "name of the tenant")
	flags.Text(&o.tokenURL, "token-url", "WORKDAY_TOKEN_URL", "", "OAuth 2 token endpoint; made of host and tenant unless given")
	flags.Text(&o.clientID, "client-id", "WORKDAY_CLIENT_ID", "", "id of the API client")
	flags.Secret(&o.clientSecret, "client-secret", "WORKDAY_CLIENT_SECRET", "the secret of the API client")
	flags.Secret(&o.refreshToken, "refresh-token", "WORKDAY_REFRESH_TOKEN", "the first refresh token")
	flags.Text(&o.tokenStore, "token-store", "WORKDAY_TOKEN_STORE", "", "file that keeps the refresh token, which changes at each use")
	flags.Secret(&o.jwtKey, "jwt-key", "WORKDAY_JWT_KEY", "the RSA key in PEM that signs assertions, for an API client of the type JWT bearer; instead of secret and refresh token")
	flags.Text(&o.jwtUser, "jwt-user", "WORKDAY_JWT_USER", "", "user name of the integration system user of whom assertions speak")
	flags.Text(&o.jwtAudience, "jwt-audience", "WORKDAY_JWT_AUDIENCE", "wd", "audience of assertions")
	flags.Text(&o.zone, "time-zone", "WORKDAY_TIME_ZONE", "UTC", "time zone in which days begin and end, such as Europe/Lisbon")
	flags.BoolVar(&o.absenceJSON, "absence-json", getenv("WORKDAY_ABSENCE_JSON") == "true", "post absences as JSON, for services before v5, instead of a form ($WORKDAY_ABSENCE_JSON)")
	flags.Secret(&o.authorize, "authorization", "WORKDAY_AUTHORIZATION", "the bearer token that callers of this service send")
	flags.Text(&o.paths.Common, "path-common", "WORKDAY_PATH_COMMON", "/ccx/api/v1/{tenant}", "base path of the common service")
	flags.Text(&o.paths.Staffing, "path-staffing", "WORKDAY_PATH_STAFFING", "/ccx/api/staffing/v7/{tenant}", "base path of the staffing service")
	flags.Text(&o.paths.Absence, "path-absence", "WORKDAY_PATH_ABSENCE", "/ccx/api/absenceManagement/v5/{tenant}", "base path of absence management")
	flags.Text(&o.paths.Process, "path-process", "WORKDAY_PATH_PROCESS", "/ccx/api/businessProcess/v1/{tenant}", "base path of business processes")
	flags.Text(&o.paths.WQL, "path-wql", "WORKDAY_PATH_WQL", "/ccx/api/wql/v1/{tenant}", "base path of queries in WQL")
	flags.Text(&o.paths.Reports, "path-reports", "WORKDAY_PATH_REPORTS", "/ccx/service/customreport2/{tenant}", "base path of custom reports")
	flags.Text(&o.paths.Recruiting, "path-recruiting", "WORKDAY_PATH_RECRUITING", "/ccx/api/recruiting/v4/{tenant}", "base path of recruiting")
	flags.Text(&o.reportFile, "reports", "WORKDAY_REPORTS", "", `JSON file of the custom reports that may be run, such as {"Headcount": {"path": "owner/Headcount", "prompts": ["Organization"]}}`)
	flags.Text(&o.mcpURL, "mcp-url", "WORKDAY_MCP_URL", "", "Workday's MCP server, such as https://us.agent.workday.com/mcp, to read people from instead of REST")
	flags.Text(&o.mcpTools, "mcp-tools", "WORKDAY_MCP_TOOLS", "", "what that server calls its tools, such as searchForWorker=acme_search")
	flags.Text(&o.blueprint, "blueprint", "WORKDAY_BLUEPRINT", "", "file of the snapshot by which flows get the tools of that server; \"workday-domain blueprint\" writes it")
	flags.BoolVar(&o.dryRun, "dry-run", false, "of \"workday-domain blueprint\": say what is new, and write nothing")
	flags.Text(&o.login.Dir, "logins", "WORKDAY_LOGINS", "", "folder that keeps the logins of people, who see their own inbox and decide what waits for them; nobody can unless given")
	flags.Text(&o.login.URL, "login-url", "WORKDAY_LOGIN_URL", "", "address at which browsers reach --login-listen, such as https://manifold.example.com/workday")
	flags.Text(&o.loginListen, "login-listen", "WORKDAY_LOGIN_LISTEN", "127.0.0.1:8092", "address to listen on for people who log in")
	flags.Text(&o.login.AuthorizeURL, "authorize-url", "WORKDAY_AUTHORIZE_URL", "", "where people log in at the tenant; made of host and tenant unless given")
	flags.Text(&o.login.ClientID, "login-client-id", "WORKDAY_LOGIN_CLIENT_ID", "", "id of the API client with the grant type authorization code; that of --client-id unless given")
	flags.Secret(&o.loginSecret, "login-client-secret", "WORKDAY_LOGIN_CLIENT_SECRET", "the secret of that API client")
	flags.Secret(&o.loginKey, "login-key", "WORKDAY_LOGIN_KEY", "the key, of at least 32 characters, that the logins are encrypted with; former ones behind it still open theirs; one is made beside the folder of --logins unless given")
	flags.Text(&o.hosts, "allowed-hosts", "WORKDAY_ALLOWED_HOSTS", "workday.com,myworkday.com", "suffixes of hosts to which secrets may be sent")
	flags.Text(&o.kinds, "absence-types", "WORKDAY_ABSENCE_TYPES", "", "the tenant's absence types, such as vacation=Annual Leave,sick=Sickness")
	flags.Text(&o.self, "self-roles", "WORKDAY_SELF_ROLES", "*", "roles that may ask about themselves; * is anybody")
	flags.Text(&o.reports, "report-roles", "WORKDAY_REPORT_ROLES", "*", "roles that may ask about those who report to them")
	flags.Text(&o.all, "all-roles", "WORKDAY_ALL_ROLES", workday.RoleHR, "roles that may ask about anybody")
	flags.Text(&o.people, "people", "WORKDAY_PEOPLE", "", "JSON file that says which worker (Workday ID) a principal is, where neither address nor employee number says it")
	flags.BoolVar(&o.loopback, "allow-loopback", getenv("WORKDAY_ALLOW_LOOPBACK") == "true", "permit a tenant on this machine, such as workday-sandbox ($WORKDAY_ALLOW_LOOPBACK)")
	rps, err := strconv.ParseFloat(cmp.Or(getenv("WORKDAY_RPS"), "5"), 64)
	if err != nil {
		return options{}, fmt.Errorf("WORKDAY_RPS: %w", err)
	}
	flags.Float64Var(&o.rps, "rps", rps, "requests a second to the tenant ($WORKDAY_RPS)")
	err = flags.Parse(args)
	return o, err
}

func (o options) config(logger *slog.Logger) (_ workday.Config, err error) {
	clientSecret, err1 := o.clientSecret.Read()
	refresh, err2 := o.refreshToken.Read()
	tokens, err3 := o.authorize.Tokens()
	kinds, err4 := parsePairs("absence type", o.kinds)
	people, err5 := readObject[string]("people", o.people)
	signs, err6 := o.readJWT()
	zone, err7 := time.LoadLocation(o.zone)
	reports, err8 := readObject[workday.Report]("reports", o.reportFile)
	tools, err9 := parsePairs("tool", o.mcpTools)
	loginSecret, err10 := o.loginSecret.Read()
	keys, err11 := o.loginKey.Read()
	if err := errors.Join(err11, err10, err1, err2, err3, err4, err5, err6, err7, err8, err9); err != nil {
		return workday.Config{}, err
	}
	cfg := workday.Config{
		Tenant: workday.Tenant{
			URL: o.url, Name: o.tenant, TokenURL: o.tokenURL, ClientID: o.clientID, ClientSecret: clientSecret,
			Paths: o.paths, AbsenceJSON: o.absenceJSON, JWT: signs, AllowedHosts: strings.Split(o.hosts, ","), AllowLoopback: o.loopback, RequestsPerSecond: o.rps,
		},
		Access:       workday.Access{Self: roles(o.self), Reports: roles(o.reports), All: roles(o.all), People: people},
		AbsenceTypes: kinds, Reports: reports, Authorization: tokens, Zone: zone, Logger: logger,
	}
	if o.mcpURL != "" {
		cfg.MCP = &workday.MCP{URL: o.mcpURL, Tools: tools, Blueprint: o.blueprint}
	}
	switch {
	case signs != nil:
	case o.tokenStore != "":
		cfg.Tenant.Tokens = workday.FileTokens(o.tokenStore, refresh)
	case o.loopback && refresh != "":
		cfg.Tenant.Tokens = workday.MemoryTokens(refresh)
	default:
		return workday.Config{}, errors.New("--token-store is required: the tenant replaces the refresh token at each use")
	}
	if o.login.Dir == "" {
		return cfg, nil
	}
	o.login.ClientSecret = loginSecret
	for key := range strings.FieldsSeq(keys) {
		o.login.Keys = append(o.login.Keys, []byte(key))
	}
	cfg.Logins, err = workday.OpenLogins(cfg, o.login)
	return cfg, err
}

// readJWT reads the key that signs assertions, if one is configured.
func (o options) readJWT() (*workday.JWT, error) {
	pem, err := o.jwtKey.Read()
	if err != nil || pem == "" {
		return nil, err
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(pem))
	if err != nil {
		return nil, fmt.Errorf("--jwt-key: %w", err)
	}
	return &workday.JWT{Key: key, Subject: o.jwtUser, Audience: o.jwtAudience}, nil
}

// roles parses a list of roles; an empty list matches nobody.
func roles(text string) []string {
	list := []string{}
	for role := range strings.SplitSeq(text, ",") {
		if role = strings.TrimSpace(role); role != "" {
			list = append(list, role)
		}
	}
	return list
}

// readObject reads a JSON object from a file.
func readObject[T any](what, path string) (map[string]T, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no file, nothing in it
	}
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	var out map[string]T
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("%s %s: must be an object by names: %w", what, path, err)
	}
	return out, nil
}

func parsePairs(what, text string) (map[string]string, error) {
	out := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, name, found := strings.Cut(pair, "=")
		if !found || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%s %q: must be %s=name", what, pair, strings.ReplaceAll(what, "absence type", "kind"))
		}
		out[strings.TrimSpace(key)] = strings.TrimSpace(name)
	}
	return out, nil
}
