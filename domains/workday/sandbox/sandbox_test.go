package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

const (
	tenantName = "manifold_dpt1"
	common     = "/ccx/api/v1/" + tenantName
	absence    = "/ccx/api/absenceManagement/v5/" + tenantName
	processes  = "/ccx/api/businessProcess/v1/" + tenantName
	staffing   = "/ccx/api/staffing/v7/" + tenantName

	submitAction = "d9e4223e446c11de98360015c5e6daf6"
)

// object is a decoded JSON object.
type object = map[string]any

// bench is a served tenant and a client with a token.
type bench struct {
	*testing.T
	tenant *sandbox.Tenant
	url    string
	token  string
	people map[string]sandbox.Worker
}

func setup(t *testing.T, cfg sandbox.Config) *bench {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC) }
	}
	tenant, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	b := &bench{T: t, tenant: tenant, url: server.URL, people: map[string]sandbox.Worker{}}
	for _, w := range tenant.People() {
		b.people[w.Name] = w
	}
	b.token = b.login(tenant.Credentials())
	return b
}

// login exchanges a refresh token for an access token.
func (b *bench) login(c sandbox.Credentials) string {
	b.Helper()
	status, out := b.exchange(c)
	token, isText := out["access_token"].(string)
	if status != http.StatusOK || !isText {
		b.Fatalf("login: %d %v", status, out)
	}
	return token
}

func (b *bench) exchange(c sandbox.Credentials) (int, object) {
	b.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.RefreshToken}}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.url+"/ccx/oauth2/"+c.Tenant+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	req.SetBasicAuth(c.ClientID, c.ClientSecret)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	return decode(b.T, res)
}

func decode(t *testing.T, res *http.Response) (int, object) {
	t.Helper()
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("answer %d is no object: %s", res.StatusCode, raw)
	}
	return res.StatusCode, out
}

// send sends one request without retries.
func (b *bench) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	b.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	kind := "application/json"
	if method == http.MethodPost && strings.HasPrefix(path, absence) { // the format of v5
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		if err := errors.Join(w.WriteField("jsonData", string(raw)), w.Close()); err != nil {
			b.Fatal(err)
		}
		raw, kind = form.Bytes(), w.FormDataContentType()
	}
	req, err := http.NewRequestWithContext(ctx, method, b.url+path, bytes.NewReader(raw))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	req.Header.Set("Content-Type", kind)
	return http.DefaultClient.Do(req)
}

func (b *bench) call(method, path string, body any) (int, object) {
	b.Helper()
	res, err := b.send(b.Context(), method, path, body)
	if err != nil {
		b.Fatal(err)
	}
	return decode(b.T, res)
}

func (b *bench) get(path string) object {
	b.Helper()
	status, out := b.call(http.MethodGet, path, nil)
	if status != http.StatusOK {
		b.Fatalf("GET %s: %d %v", path, status, out)
	}
	return out
}

// dig returns the value at a path of keys and indexes.
func dig(v any, path ...any) any {
	for _, step := range path {
		switch at := step.(type) {
		case string:
			m, isObject := v.(object)
			if !isObject {
				return nil
			}
			v = m[at]
		case int:
			list, isList := v.([]any)
			if !isList || at >= len(list) {
				return nil
			}
			v = list[at]
		}
	}
	return v
}

func names(page object) []string {
	var out []string
	list, _ := page["data"].([]any)
	for _, item := range list {
		out = append(out, fmt.Sprint(dig(item, "descriptor")))
	}
	return out
}

func TestTheSameSeedGivesTheSameCompany(t *testing.T) {
	t.Parallel()
	people := func(seed uint64) []sandbox.Worker {
		tenant, err := sandbox.New(sandbox.Config{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return tenant.People()
	}
	if diff := cmp.Diff(people(7), people(7)); diff != "" {
		t.Errorf("two tenants of one seed differ:\n%s", diff)
	}
	if cmp.Equal(people(7), people(8)) {
		t.Error("two seeds gave the same people")
	}
	if first, second := people(7), people(8); first[48].ID != second[48].ID || second[48].Name != first[48].Name || first[48].Name != "Ana Souza" {
		t.Errorf("featured people depend on the seed: %v, %v", first[48], second[48])
	}
}

func TestTheCompanyHasEveryKindOfPerson(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	people := b.tenant.People()
	count := map[string]int{}
	byName := map[string]int{}
	for _, w := range people {
		byName[w.Name]++
		for kind, is := range map[string]bool{
			"contingent": w.Contingent, "terminated": w.Terminated, "more jobs": w.MoreJobs, "no manager": w.ManagerID == "",
		} {
			if is {
				count[kind]++
			}
		}
	}
	namesakes := 0
	for _, n := range byName {
		if n > 1 {
			namesakes++
		}
	}
	if len(people) != 300 || count["no manager"] != 1 || namesakes < 5 {
		t.Errorf("%d people, %d heads, %d shared names", len(people), count["no manager"], namesakes)
	}
	for _, kind := range []string{"contingent", "terminated", "more jobs"} {
		if count[kind] == 0 {
			t.Errorf("nobody is %s", kind)
		}
	}
}

func TestSearchIsAnyWordWithoutCaseOrAccents(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	found := names(b.get(common + "/workers?limit=100&search=" + url.QueryEscape("ana SOUZA")))
	want := map[string]bool{"Ana Souza": true, "Ana Ribeiro": true, "Ana Costa": true}
	for _, name := range found {
		delete(want, name)
		if !strings.HasPrefix(name, "Ana") && !strings.Contains(name, "Souza") {
			t.Errorf("%q has neither word", name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	if got := names(b.get(staffing + "/workers?search=21048")); !cmp.Equal(got, []string{"Ana Souza"}) {
		t.Errorf("by worker number: %v", got)
	}
}

func TestPagesCoverAListOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	manager := b.people["Helena Duarte"]
	first := b.get(common + "/workers/" + manager.ID + "/directReports")
	second := b.get(common + "/workers/" + manager.ID + "/directReports?offset=20")
	total, _ := first["total"].(float64)
	all := append(names(first), names(second)...)
	if len(names(first)) != 20 || len(all) != int(total) || total <= 20 {
		t.Errorf("pages of %d and %d, total %v", len(names(first)), len(names(second)), total)
	}
	if status, _ := b.call(http.MethodGet, common+"/workers?limit=-1", nil); status != http.StatusBadRequest {
		t.Errorf("a negative limit gave %d", status)
	}
	if got := len(names(b.get(common + "/workers?limit=500"))); got != 100 {
		t.Errorf("a page of 500 had %d", got)
	}
}

func TestRefreshTokensRotate(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{StringExpiry: true})
	c := b.tenant.Credentials()
	status, first := b.exchange(c)
	if status != http.StatusOK || first["expires_in"] != "3600" {
		t.Fatalf("first use: %d %v", status, first)
	}
	if status, out := b.exchange(c); status != http.StatusBadRequest || out["error"] != "invalid_grant" {
		t.Errorf("a used refresh token gave %d %v", status, out)
	}
	c.RefreshToken = fmt.Sprint(first["refresh_token"])
	if status, _ := b.exchange(c); status != http.StatusOK {
		t.Errorf("the new refresh token gave %d", status)
	}
	c.ClientSecret = "wrong"
	if status, out := b.exchange(c); status != http.StatusUnauthorized || out["error"] != "invalid_client" {
		t.Errorf("a wrong secret gave %d %v", status, out)
	}
}

func TestAccessTokensExpire(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{TokenTTL: time.Minute})
	b.get(common + "/workers")
	b.tenant.AdvanceClock(2 * time.Minute)
	if status, out := b.call(http.MethodGet, common+"/workers", nil); status != http.StatusUnauthorized {
		t.Errorf("an old token gave %d %v", status, out)
	}
}

func TestAllFormsOfTheCommonPathAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	for _, base := range []string{"/ccx/api/v1/", "/ccx/api/common/v1/", "/api/v1/"} {
		got := b.get(base + tenantName + "/workers/Employee_ID=21048")
		if got["descriptor"] != "Ana Souza" {
			t.Errorf("%s: %v", base, got)
		}
	}
	if status, _ := b.call(http.MethodGet, "/ccx/api/v1/other/workers", nil); status != http.StatusNotFound {
		t.Errorf("another tenant gave %d", status)
	}
	if status, _ := b.call(http.MethodGet, "/nothing", nil); status != http.StatusNotFound {
		t.Errorf("an unknown path gave %d", status)
	}
}
